#pragma once

#include <algorithm>
#include <cmath>

#include "base/roots.h"

/// The scalars of MINRES (Paige and Saunders 1975): Givens rotations of the tridiagonal matrix of the
/// preconditioned Lanczos process
///
///     v_k = P⁻¹ t_k / β_k,   t_{k+1} = K v_k − (α_k/β_k) t_k − (β_k/β_{k−1}) t_{k−1},
///     α_k = v_k·K v_k,       β_{k+1} = √(t_{k+1}·P⁻¹ t_{k+1})
///
/// With an indefinite P the entry above the diagonal in column k + 1 is ±β_{k+1} (minimal_residuals.h).
///
/// They give the directions w_k = (v_k − δ w_{k−1} − ε w_{k−2})/γ and the steps y_k = y_{k−1} + φ w_k.
namespace signorini {

class LanczosRotation {
 public:
  struct Step {
    double delta, epsilon, gamma, phi;
  };

  /// β_1 = √(ρ·P⁻¹ρ).
  void begin(double beta) {
    *this = {};
    beta_ = phi_ = beta;
  }
  double beta() const { return beta_; }
  /// β_k/β_{k−1}; 0 in the first step.
  double back() const { return first_ ? 0.0 : beta_ / beta_before_; }
  /// From α_k, β_{k+1} and the sign of the entry above the diagonal in the next column. Where γ = 0 the Krylov space
  /// is exhausted, and nothing is changed.
  Step turn(double alpha, double beta, double sign_above = 1.0) {
    const double gamma_bar = sine_ * delta_ - cosine_ * alpha;
    Step step{cosine_ * delta_ + sine_ * alpha, epsilon_, hypotenuse(gamma_bar, beta), 0.0};
    if (!(step.gamma > 0.0)) return step;
    epsilon_ = sine_ * sign_above * beta;
    delta_ = -cosine_ * sign_above * beta;
    cosine_ = gamma_bar / step.gamma;
    sine_ = beta / step.gamma;
    step.phi = cosine_ * phi_;
    phi_ *= sine_;
    beta_before_ = beta_;
    beta_ = beta;
    first_ = false;
    largest_ = std::max({largest_, std::abs(alpha), beta});
    return step;
  }
  /// β is rounding, relative to the largest entry of the matrix: the Krylov space is exhausted.
  bool exhausted() const { return beta_ <= kExhausted * largest_; }
  /// The residual of the recurrences is 0.
  bool finished() const { return !(sine_ > 0.0); }

 private:
  static constexpr double kExhausted = 1e-15;
  double beta_ = 0.0, beta_before_ = 0.0;
  double cosine_ = -1.0, sine_ = 0.0, delta_ = 0.0, epsilon_ = 0.0, phi_ = 0.0;
  double largest_ = 0.0;  ///< entry of the tridiagonal matrix so far
  bool first_ = true;
};

}  // namespace signorini
