#pragma once

#include "solvers/saddle_system.h"

/// One Krylov method on the saddle-point system of contacts (saddle_system.h) while their states change under
/// it.
///
///     restart()   after a change of states: new vectors from the residual at hand
///     step()      moves v, λ and everything that belongs to them
///     turn()      prepares the next step where nothing has changed in between
namespace signorini {

struct KrylovStep {
  double alpha = 0.0;    ///< length along the direction; states are looked at only where α > 0
  bool restart = false;  ///< a breakdown was mended: the directions are lost
  bool stuck = false;    ///< nothing moves any more
};

class KrylovMethod {
 public:
  virtual ~KrylovMethod() = default;
  virtual void resize(const SaddleSystem& s) = 0;
  virtual void restart(SaddleSystem& s) = 0;
  virtual KrylovStep step(SaddleSystem& s) = 0;
  /// False where the residual cannot fall any more although it is not 0 (over-constrained).
  virtual bool turn(SaddleSystem& s) = 0;
  /// max |velocity part of C⁻¹ρ|, m/s.
  virtual double preconditioned_norm(SaddleSystem& s) = 0;
};

}  // namespace signorini
