#pragma once

#include <limits>

#include "krylov/krylov_system.h"

/// A Krylov method for a system that may change between its steps.
///
///     restart()   at the start and after a change of the system: new directions from the present residual
///     step()      one step; moves y and ρ
///     turn()      the next direction, where nothing has changed since the step
namespace signorini {

struct KrylovStep {
  double alpha = 0.0;   ///< length along the direction; contacts change their states only where α > 0
  bool mended = false;  ///< a breakdown was mended: the directions are lost, restart
  bool stuck = false;   ///< no step changes anything
};

class KrylovMethod {
 public:
  virtual ~KrylovMethod() = default;
  virtual void resize(const KrylovSystem& s) = 0;
  /// Before the first `restart` of a solve. `full`: with the indefinite block preconditioner, where the
  /// method can use it; else with the diagonal one.
  virtual void begin(bool full) = 0;
  virtual void restart(KrylovSystem& s) = 0;
  virtual KrylovStep step(KrylovSystem& s) = 0;
  /// False where the residual is not 0 but cannot fall any more: the active rows are inconsistent.
  virtual bool turn(KrylovSystem& s) = 0;
  /// max |velocity part of P⁻¹ρ|, m/s.
  virtual double preconditioned_norm(KrylovSystem& s) = 0;
  /// ‖(K P⁻¹ρ)_v‖² + dt² ‖(K P⁻¹ρ)_c‖² after a step: 0 where ρ is the least that the rows allow. Infinite where the
  /// method has no such product.
  virtual double squared_gradient(KrylovSystem& /*s*/, double /*dt*/) {
    return std::numeric_limits<double>::infinity();
  }

  /// The block preconditioner is in use.
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
