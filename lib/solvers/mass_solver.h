#pragma once

#include <string>

#include "solvers/iterative_solver.h"
#include "solvers/primal_system.h"

/// The base of solvers on velocities, which need M and H (primal_system.h). The exact error is the referee's
/// through a factor of M, or with `judge = own` the error of the velocity at hand.
namespace signorini {

class MassSolver : public IterativeSolver {
 public:
  std::string unsupported_reason(const ContactProblem& problem) const override {
    return PrimalSystem::refusal(problem);
  }
  void use_arena(TaskArena* arena) override { arena_ = arena; }

 protected:
  double velocity_scale() override { return system_.scale; }
  double measure(std::span<const double> r, double estimate) override {
    if (!system_.exact()) return estimate;
    ++counters_.triangular_solves;
    return system_.exact_error(r, arena_);
  }
  const SolveCounters& counters() override { return counters_; }
  long long products() override { return counters_.mass_products; }

  PrimalSystem system_;
  SolveCounters counters_;  ///< of the present solve
  TaskArena* arena_ = nullptr;
};

}  // namespace signorini
