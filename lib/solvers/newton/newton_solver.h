#pragma once

#include <span>
#include <vector>

#include "solvers/delassus_solver.h"
#include "solvers/newton/newton_system.h"

/// What `newton`, `prox-newton` and `ipm` share: u = W r + q (3m) in the unit-free variables of newton_system.h, and
/// what they tell the loop. Their exact error is known at every iterate.
namespace signorini {

class NewtonSolver : public DelassusSolver {
 protected:
  /// For `prepare_island`.
  void set_problem(ReducedProblem problem, Vector mu, FrictionLaw law);
  /// At the start of a solve; returns r without units, 3m.
  std::span<const double> begin(std::span<const double> r, const StopTest& stop);
  /// Of an iterate with this exact error over the contacts that something moves, m/s; of the start.
  Iteration tell(double error) const;
  Iteration tell_start(double error);
  /// After a step along a direction of `system_`.
  void count_step();
  /// `stuck` where the best error has not fallen to `gain` of itself in `patience` calls, one per iteration.
  LoopEnd out_of_patience(double error, double gain, int patience);

  NewtonSystem system_;
  const StopTest* stop_ = nullptr;  ///< of this solve

 private:
  std::vector<double> x_;  ///< 3m: the start, unit-free
  double least_error_ = 0.0;
  int waited_ = 0;
};

}  // namespace signorini
