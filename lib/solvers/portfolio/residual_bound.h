#pragma once

#include <span>
#include <vector>

#include "solvers/primal_system.h"

/// An upper bound of the referee's residual of impulses r without a factor of M.
///
/// Let D be the node blocks on the diagonal of M, [a, b] an interval that holds the eigenvalues of D⁻¹M
/// (PrimalSystem::spectrum), W_D = HᵀD⁻¹H. Then W_D / b ⪯ W ⪯ W_D / a.
///
/// 1. v = M⁻¹(f + H r) by conjugate gradients, and u = Hᵀv + w. With the defect ρ = f + H r − M v the error of u_k is at
///    most
///
///        δ_k = √(tr W_D,kk / a) · √(ρᵀD⁻¹ρ / a)
///
/// 2. The true 1/ρ_N = W_NN and 1/ρ_T = λ_max(W_TT) are not known, but lie in [s₋, s₊] and [λ₋, λ₊], those of W_D over b and
///    over a. Over these ranges, at u,
///
///        |e_N| ≤ max |min(s r_N, u_N)| at s₋ and s₊
///        ‖e_T‖ = ‖u_T‖                           where ‖r_T‖ + ‖u_T‖/λ₋ ≤ μ p_N for all s: the contact sticks
///        ‖e_T‖ ≤ 2 λ₊ d + λ₊ ‖x − P(x − u_T/λ₊)‖ + c λ₊ μ |min(s₋ r_N, u_N)|/s₋        else
///
///    where P projects to the disc (box) of radius μ r_N, x = P(r_T), d = ‖r_T − x‖, c = 1 (disc) or √2 (box). For λ ‖x − P(x
///    − u/λ)‖ does not fall with λ (x ∈ the set, Calamai and Moré 1987), P is nonexpansive, and its radius moves by μ |p_N −
///    r_N| ≤ μ |e_N(s)|/s, which does not grow with s.
/// 3. An error δ of u moves e by at most δ (2 + c λ₊ μ / s₋).
///
/// Rounding is left to the margin of StopTest, and modes that hold less than a millionth of f are not seen.
namespace signorini {

class ResidualBound {
 public:
  /// False where nothing is known of the eigenvalues. `system`: of Judge::own and Origin::free; must outlive the use.
  bool prepare(PrimalSystem& system, const Vector& f, TaskArena* arena);
  /// Of r in m/s. v (size()): a guess in, M⁻¹(f + H r) out; u follows `target` (m/s), the residual that is hoped for. At most
  /// `limit` iterations.
  double measure(std::span<const double> r, std::span<double> v, double target, int limit, TaskArena* arena);
  /// Of the last `measure`.
  int products() const { return products_; }
  /// U = max|q| is at least this, m/s.
  double least_scale() const { return least_scale_; }
  /// Of D⁻¹ M.
  double condition() const { return spectrum_.high / spectrum_.low; }

 private:
  PrimalSystem* system_ = nullptr;
  SpectrumBounds spectrum_;
  Vector force_;               ///< f, size()
  std::vector<double> b_, u_;  ///< f + H r; Hᵀ v + w
  std::vector<double> reach_;  ///< m: √(tr W_D,kk / a)
  double farthest_ = 0.0;      ///< the largest of them
  double sharpest_ = 0.0;      ///< the largest of them times the factor of point 3
  double least_scale_ = 0.0;
  int products_ = 0;
};

struct InverseMassRange {
  InverseMass least, most;
};

/// Points 2 and 3 for one contact, m/s.
double bound_contact_error(FrictionLaw law, const InverseMassRange& range, double mu, const double* r,
                           const double* u, double slack);

}  // namespace signorini
