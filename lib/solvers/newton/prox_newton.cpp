#include "solvers/newton/prox_newton.h"

#include <utility>

namespace signorini {

void ProxNewtonOptions::validate() const {
  if (!(shift > 0.0 && shift <= 100.0))
    throw_usage("solver 'prox-newton': shift = {} must be in (0, 100]", shift);
  if (patience < 1) throw_usage("solver 'prox-newton': patience = {} must be at least 1", patience);
}

void ProxNewton::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  proximal_.prepare(system_);
}

Iteration ProxNewton::start(std::span<double> r, const StopTest& stop) {
  proximal_.start(begin(r, stop), options_.shift);
  products_ = proximal_.products();
  return tell_start(proximal_.error());
}

Iteration ProxNewton::iterate(std::span<double> r) {
  proximal_.step();
  system_.to_impulses(proximal_.iterate(), r);
  products_ = proximal_.products();
  count_step();
  counters_.guards = proximal_.guards();
  counters_.relinearisations = proximal_.outer_steps();
  return tell(proximal_.error());
}

LoopEnd ProxNewton::settle(std::span<double> /*r*/) {
  return out_of_patience(proximal_.error(), 0.99, options_.patience);
}

}  // namespace signorini
