#pragma once

#include <array>
#include <vector>

#include "krylov/krylov_method.h"
#include "krylov/lanczos_rotation.h"

/// MINRES (Paige and Saunders 1975; Verschoor and Jalba 2019, section 7) on K y = d, symmetric and
/// indefinite, with the positive definite diagonal preconditioner P.
///
/// The preconditioned Lanczos process and Givens rotations of its tridiagonal matrix (lanczos_rotation.h)
/// give iterates that minimise √(ρ·P⁻¹ρ) over the Krylov space: those of conjugate residuals in exact
/// arithmetic, without the division by z·Kz that may vanish (docs/theory.md, C38), at the price of more
/// vectors. One product with K per step.
namespace signorini {

class MinimalResiduals final : public KrylovMethod {
 public:
  void resize(const KrylovSystem& s) override;
  void begin(bool full) override;
  void restart(KrylovSystem& s) override;
  KrylovStep step(KrylovSystem& s) override;
  bool turn(KrylovSystem& s) override;
  double preconditioned_norm(KrylovSystem& s) override;

 private:
  struct Direction {
    SaddleVector w;
    SaddleImage Kw;
  };

  SaddleVector t_, t_before_, next_, v_;
  SaddleImage Kv_;
  std::array<Direction, 3> direction_;  ///< w_k, w_{k−1}, w_{k−2} in turn
  std::size_t newest_ = 0;
  LanczosRotation rotation_;
};

}  // namespace signorini
