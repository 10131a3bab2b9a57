#pragma once

#include <array>

/// Zeros of a cubic on [0, 1] that no rounding can hide.
namespace signorini {

/// f(t) = Σ_k b_k C(3, k) t^k (1 − t)^{3 − k}: the range of f lies between the smallest and largest b_k.
using BernsteinCubic = std::array<double, 4>;

double evaluate(const BernsteinCubic& f, double t);

/// An interval on which |f| ≤ τ. Of a simple zero it is a few τ / |f'| wide, of a double zero √(τ / |f''|);
/// for a cubic that vanishes it is all of [0, 1].
struct RootBand {
  double begin = 0.0, end = 0.0;  ///< in [0, 1]
  double root = 0.0;              ///< in between, |f(root)| ≤ τ
  int before = 0, after = 0;      ///< sign of f on either side; 0 where |f| ≤ τ up to t = 0, t = 1
};

/// All bands of f, ascending and disjoint; returns their number ≤ 3. Every t in [0, 1] with |f(t)| ≤ τ lies
/// in one of them (they may be wider), so that a `tolerance` τ ≥ the error of the coefficients plus
/// 16 · 2⁻⁵² max|b_k| for evaluating makes sure that each zero of the exact cubic does. The cubic is split at
/// its extrema, so that an even number of crossings is not missed; a change of sign is refined by TOMS 748
/// (Alefeld, Potra and Shi 1995; Verschoor and Jalba 2019, section 5.2, use Brent–Dekker).
int root_bands(const BernsteinCubic& f, double tolerance, std::array<RootBand, 3>& bands);

/// Real roots of c_0 + c_1 t + c_2 t² + c_3 t³ in [0, 1], ascending, double roots once; returns their number.
/// A root counts where the polynomial is below 64 · 2⁻⁵² `scale`, `scale` the size of its terms. A polynomial
/// that is below that throughout returns −1.
int cubic_roots(const std::array<double, 4>& c, double scale, std::array<double, 3>& roots);

}  // namespace signorini
