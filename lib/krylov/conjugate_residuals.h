#pragma once

#include <vector>

#include "krylov/krylov_method.h"

/// Preconditioned conjugate residuals on K y = d, symmetric and indefinite (Verschoor and Jalba 2019,
/// Algorithm 1, lines 9–17), with z = P⁻¹ρ, q = P⁻¹ K p and p = z at first:
///
///     α = z·Kz / Kp·q,   y += α p,   ρ −= α Kp,   z −= α q,   β = z·Kz / (z·Kz)_old,   p ← z + β p
///
/// One product with K per step. With positive definite P the iterates minimise √(ρ·P⁻¹ρ) over the Krylov
/// space.
///
/// Departures (docs/theory.md): where z·Kz or Kp·q nearly vanishes, one step along P⁻¹ K P⁻¹ρ that minimises
/// the residual restarts the recurrence (C38); after three such steps the diagonal preconditioner replaces
/// the block one (T09).
namespace signorini {

class ConjugateResiduals final : public KrylovMethod {
 public:
  /// `guarded`: mend breakdowns; false: divide by what vanishes, as printed.
  explicit ConjugateResiduals(bool guarded = true) : guarded_(guarded) {}
  void resize(const KrylovSystem& s) override;
  void begin(bool full) override;
  /// z = P⁻¹ρ, p = z.
  void restart(KrylovSystem& s) override;
  KrylovStep step(KrylovSystem& s) override;
  /// The next conjugate direction.
  bool turn(KrylovSystem& s) override;
  double preconditioned_norm(KrylovSystem& s) override;
  /// The product is that of the next `turn`.
  double squared_gradient(KrylovSystem& s, double dt) override;

 private:
  /// y += α p and what moves with it.
  void advance(KrylovSystem& s, double alpha);
  bool broken() const;
  /// The step along P⁻¹ K P⁻¹ ρ (diagonal P) that minimises ‖ρ‖ in the metric of P. False where nothing
  /// moves.
  bool minimising_step(KrylovSystem& s);

  bool guarded_;
  bool may_fall_back_ = false;
  bool has_image_ = false;  ///< Kz_.K and Kz_.H are K z of the present z
  SaddleVector z_, p_, q_, PKz_;
  SaddleImage Kz_, Kp_;
  double zKz_ = 0.0, zz_ = 0.0, KzKz_ = 0.0;  ///< inner products of the present vectors
  double Kpq_ = 0.0, KpKp_ = 0.0, qq_ = 0.0;
  double reference_ = 0.0;  ///< ‖Kz‖² at the last restart
};

}  // namespace signorini
