#pragma once

#include <vector>

#include "solvers/krylov_method.h"

/// Preconditioned conjugate residuals on B y = d, symmetric and indefinite (Verschoor and Jalba 2019,
/// Algorithm 1), as steps of a KrylovMethod: p C⁻¹-conjugate directions of B, q = C⁻¹ B p,
///
///     α = z·Bz / Bp·q,   y += α p,   ρ −= α Bp,   z −= α q,   β = z·Bz / (z·Bz)_old,   p ← z + β p
///
/// One product with M per step. Where z·Bz or Bp·q vanishes, one minimising step along C⁻¹ B C⁻¹ ρ with Diag
/// restarts the recurrence; after three such events Diag replaces Full (docs/theory.md, C38 and T09).
namespace signorini {

class ConjugateDirections final : public KrylovMethod {
 public:
  /// `guarded`: mend breakdowns; `full_from_start`: Diag may replace Full.
  ConjugateDirections(bool guarded, bool full_from_start)
      : guarded_(guarded), may_fall_back_(full_from_start) {}
  void resize(const SaddleSystem& s) override;
  /// z = C⁻¹ρ, p = z.
  void restart(SaddleSystem& s) override;
  KrylovStep step(SaddleSystem& s) override;
  /// The next conjugate direction.
  bool turn(SaddleSystem& s) override;
  double preconditioned_norm(SaddleSystem& s) override;

 private:
  /// y += α p and what moves with it.
  void advance(SaddleSystem& s, double alpha);
  bool broken() const;
  /// The step along C⁻¹ B C⁻¹ ρ (Diag) that minimises ‖ρ‖ in the metric of Diag. False where nothing
  /// moves.
  bool minimising_step(SaddleSystem& s);

  bool guarded_, may_fall_back_;
  SaddleVector z, Bz, p, Bp, q, CBz;
  std::vector<double> Hz, Hp;              ///< 3m: Hᵀ z_v, Hᵀ p_v of every contact
  double zBz = 0.0, zz = 0.0, BzBz = 0.0;  ///< inner products of the present vectors
  double Bpq = 0.0, BpBp = 0.0, qq = 0.0;
  double reference = 0.0;  ///< ‖Bz‖² at the last restart
};

}  // namespace signorini
