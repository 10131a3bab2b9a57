#pragma once

#include "krylov/krylov_system.h"

/// One Krylov method on a system that may change under it.
///
///     restart()   at the start and after a change of the system: new vectors from the residual at hand
///     step()      moves the unknowns and everything that belongs to them
///     turn()      prepares the next step where nothing has changed in between
namespace signorini {

struct KrylovStep {
  double alpha = 0.0;   ///< length along the direction; contacts change their states only where α > 0
  bool mended = false;  ///< a breakdown was mended: the directions are lost, restart
  bool stuck = false;   ///< nothing moves any more
};

class KrylovMethod {
 public:
  virtual ~KrylovMethod() = default;
  virtual void resize(const KrylovSystem& s) = 0;
  /// `full`: the indefinite block preconditioner from now on (where the method can use it), else the diagonal one.
  virtual void begin(bool full) = 0;
  virtual void restart(KrylovSystem& s) = 0;
  virtual KrylovStep step(KrylovSystem& s) = 0;
  /// False where the residual cannot fall any more although it is not 0 (over-constrained).
  virtual bool turn(KrylovSystem& s) = 0;
  /// max |velocity part of P⁻¹ρ|, m/s.
  virtual double preconditioned_norm(KrylovSystem& s) = 0;

  /// The block preconditioner is in use, and has not been given up for the diagonal one.
  bool full() const { return full_; }
  void use_diagonal() { full_ = false; }
  long long restarts() const { return restarts_; }
  /// Breakdowns met and mended since `begin`.
  long long guards() const { return guards_; }

 protected:
  bool full_ = false;
  long long restarts_ = 0, guards_ = 0;
};

}  // namespace signorini
