#include "solvers/accelerated/anderson.h"

#include <utility>

namespace signorini {

void AndersonOptions::validate() const {
  if (window < 0 || window > AndersonHistory::kMostColumns)
    throw_usage("solver 'anderson': window = {} must be in [0, {}]", window, AndersonHistory::kMostColumns);
}

void Anderson::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_sweeps(std::move(problem), std::move(mu), law, TangentChoice::automatic, options_.order);
  sweeps_.prepare(data_, plan_, options_.window);
}

void Anderson::prepare_bodies(const ContactProblem& problem) {
  set_body_sweeps(problem, options_.common.law, TangentChoice::automatic, options_.order);
  sweeps_.prepare(data_, plan_, options_.window);
}

Iteration Anderson::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  sweeps_.start(options_.guard == AndersonGuard::growth);
  return {};
}

Iteration Anderson::iterate(std::span<double> r) {
  const SweepStep step = sweeps_.step(r, arena_);
  counters_.restarts = sweeps_.restarts();
  counters_.guards = sweeps_.guards();
  return swept_in_order(step.correction);
}

}  // namespace signorini
