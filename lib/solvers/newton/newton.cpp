#include "solvers/newton/newton.h"

#include <utility>

namespace signorini {

void NewtonOptions::validate() const {
  if (!(regularisation >= 0.0 && regularisation <= 1.0))
    throw_usage("solver 'newton': regularisation = {} must be in [0, 1]", regularisation);
  if (patience < 1) throw_usage("solver 'newton': patience = {} must be at least 1", patience);
}

void Newton::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  newton_.prepare(system_);
}

Iteration Newton::start(std::span<double> r, const StopTest& stop) {
  newton_.start(begin(r, stop), options_.regularisation);
  products_ = newton_.products();
  return tell_start(newton_.error());
}

Iteration Newton::iterate(std::span<double> r) {
  const bool stepped = newton_.step();
  counters_.factorisations = system_.factorisations();
  counters_.guards = newton_.guards();
  if (!stepped) {
    Iteration end;
    end.moved = false;
    return end;
  }
  system_.to_impulses(newton_.iterate(), r);
  products_ = newton_.products();
  count_step();
  return tell(newton_.error());
}

LoopEnd Newton::settle(std::span<double> /*r*/) {
  return out_of_patience(newton_.error(), 0.9, options_.patience);
}

}  // namespace signorini
