#pragma once

#include <string>

#include "solvers/iterative_solver.h"
#include "solvers/primal_system.h"

/// The base of solvers on velocities: M v = H r + f with M and H as in primal_system.h; W is never formed.
/// The exact error is the referee's, by one solve with the factor of M; with `judge = own` it is the error of
/// the velocity at hand, and M is never factored.
namespace signorini {

class MassSolver : public IterativeSolver {
 public:
  std::string unsupported_reason(const ContactProblem& problem) const override {
    return PrimalSystem::refusal(problem);
  }
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  double largest_free_velocity() const override { return system_.largest_relative; }

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
