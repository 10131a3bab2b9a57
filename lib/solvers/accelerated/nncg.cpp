#include "solvers/accelerated/nncg.h"

#include <cmath>

namespace signorini {

void NncgOptions::validate() const {
  if (!(restart_above >= 0.0 && std::isfinite(restart_above)))
    throw_usage("solver 'nncg': restart_above = {} must be a number of at least 0", restart_above);
}

void Nncg::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_sweeps(std::move(problem), std::move(mu), law, TangentChoice::automatic, options_.order);
  sweeps_.prepare(data_, plan_);
}

void Nncg::prepare_bodies(const ContactProblem& problem) {
  set_body_sweeps(problem, options_.common.law, TangentChoice::automatic, options_.order);
  sweeps_.prepare(data_, plan_);
}

Iteration Nncg::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  sweeps_.start(options_.form, options_.restart_above);
  return {};
}

Iteration Nncg::iterate(std::span<double> r) {
  const SweepStep step = sweeps_.step(r, arena_);
  counters_.restarts = sweeps_.restarts();
  counters_.guards = sweeps_.guards();
  return swept_in_order(step.correction);
}

}  // namespace signorini
