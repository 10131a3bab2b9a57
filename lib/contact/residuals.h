#pragma once

#include <limits>
#include <memory>
#include <span>

#include "contact/contact_problem.h"
#include "contact/friction_law.h"

/// The referee: the one place that measures how wrong an answer is. No solver's own number is ever plotted or
/// tested.
///
/// u is computed from r through M exactly (v = M⁻¹(H r + f) by a direct solve) or through W for a dual-only
/// problem, then
///
///   residual   Alart–Curnier, law-aware, in velocity units, relative to U = max|q|:
///                ρ_N = 1/W_NN, ρ_T = 1/λ_max(W_TT) from the true diagonal blocks of W,
///                p_N = max(0, r_N − ρ_N u_N),  e_N = (r_N − p_N)/ρ_N,
///                e_T = (r_T − P(r_T − ρ_T u_T; μ p_N))/ρ_T,   P = disc (cone) or clamp (pyramid),
///                residual = max_k √(e_N² + ‖e_T‖²) / U.
///
/// A contact whose W block vanishes (both sides fixed) counts with its violated u_N only.
///
/// Beside them the error of Verschoor and Jalba 2019, eq. 24 and Fig. 13, by class of constraint, in metres.
/// φ(x, y) = x + y − √(x² + y²); multipliers are scaled by S = n·D⁻¹n, the contact's entry of
/// diag(Hᵀ D⁻¹ H) with D the node blocks on the diagonal of M (W_NN where there is no M):
///
///     normal    every contact     dt |φ(S r_N, u_N)|
///     static    ‖z‖ ≤ μ p_N       dt ‖u_T‖                                z = r_T − ρ_T u_T
///     kinetic   ‖z‖ > μ p_N       dt |φ(S (μ r_N − ‖r_T‖), ‖u_T‖)|        and r_N > 0 or p_N > 0 for both
///
/// with the cone; with the pyramid every tangential component is a constraint of its own. The classes are the
/// pieces of the projection P above, not the states of a solver. The direction of sliding is in none of them.
namespace signorini {

/// Every field is NaN until the referee has measured it: an answer that nobody measured has no errors.
struct Residuals {
  static constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();
  double residual = kUnmeasured;  ///< the gate; unit-free
  double natural_map =
      kUnmeasured;  ///< cone only: max_k ‖r − P_K(r − ρ û)‖/ρ / U, ρ = min(ρ_N, ρ_T); unit-free; NaN for pyramid
  double siconos_error =
      kUnmeasured;  ///< cone only: √Σ‖r − P_K(r − û)‖² / max(‖q‖, ‖r‖, ‖u‖), Siconos 4.x; NaN for pyramid
  double fischer_burmeister = kUnmeasured;  ///< m/s
  double penetration = kUnmeasured;         ///< m: max(0, −dt u_N); NaN when dt is unknown
  double cone_violation = kUnmeasured;      ///< max(0, ‖r_T‖ − μ r_N) / max r_N
  double dissipation_angle =
      kUnmeasured;  ///< degrees: largest angle between −r_T and u_T where ‖u_T‖ > 1e-4 U and r_T ≠ 0
  double equation =
      kUnmeasured;  ///< ‖D⁻¹(M v − H r − f)‖∞ / U of a returned v, D = diag M; NaN when none was returned
  double fb_normal = kUnmeasured;   ///< m, largest of its class; NaN when dt is unknown
  double fb_static = kUnmeasured;   ///< m; 0 when no contact sticks
  double fb_kinetic = kUnmeasured;  ///< m; 0 when no contact slides
  /// As `residual`, each contact relative to max|q| of its own island: a small island beside a fast one is seen. Unit-free;
  /// NaN when the islands are unknown.
  double island_residual = kUnmeasured;
};

class Referee {
 public:
  /// Factors M (or keeps W) and computes the diagonal blocks of W. Not thread safe; one referee per thread.
  /// `islands`: of every contact, 0, 1, … (`RegionPartition::label`), for `island_residual`; or empty.
  explicit Referee(const ContactProblem& problem, std::span<const Index> islands = {});
  ~Referee();
  Referee(Referee&&) noexcept;
  Referee& operator=(Referee&&) noexcept;

  /// U = max|q| in m/s (1 if q vanishes: contact/velocity_scale.h).
  double velocity_scale() const;
  const Vector& q() const;
  /// 3m×3 stacked true diagonal blocks of W.
  const Matrix& diagonal_blocks() const;
  /// u = W r + q, through M where there is one.
  Vector relative_velocity(std::span<const double> r) const;
  /// v = M⁻¹(H r + f); empty for a dual-only problem.
  Vector velocity(std::span<const double> r) const;

  /// Everything of `Residuals`. `v`: what a primal solver returned, or empty.
  /// A non-finite r gives residual = +∞ and NaN elsewhere; it never throws.
  Residuals measure(std::span<const double> r, LawSpec law, std::span<const double> v = {}) const;
  /// The per-contact part of `residual` (m values, already divided by U); its maximum is `residual`.
  void contact_errors(std::span<const double> r, LawSpec law, std::span<double> errors) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
