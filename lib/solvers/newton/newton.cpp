#include "solvers/newton/newton.h"

#include <algorithm>
#include <utility>

namespace signorini {

void NewtonOptions::validate() const {
  if (!(regularisation >= 0.0 && regularisation <= 1.0))
    throw_usage("solver 'newton': regularisation = {} must be in [0, 1]", regularisation);
  if (patience < 1) throw_usage("solver 'newton': patience = {} must be at least 1", patience);
}

void Newton::prepare_island(ReducedProblem problem, Vector mu) {
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu),
                                  options_.common.law, natural_tangent_step(options_.common.law)));
  system_.prepare(data_);
  newton_.prepare(system_);
  x_.assign(u_.size(), 0.0);
}

Iteration Newton::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  stop_ = &stop;
  system_.begin(stop.scale());
  system_.to_unit_free(r, x_);
  newton_.start(x_, options_.regularisation);
  products_ = newton_.products();
  best_error_ = newton_.error();
  idle_ = 0;
  Iteration first;
  first.error = std::max(newton_.error(), system_.immovable());
  return first;
}

Iteration Newton::iterate(std::span<double> r) {
  Iteration iteration;
  iteration.moved = newton_.step();
  if (!iteration.moved) return iteration;
  system_.to_impulses(newton_.iterate(), r);
  products_ = newton_.products();
  ++counters_.evaluations;
  counters_.state_changes += system_.state_changes();
  counters_.guards = newton_.guards();
  iteration.error = std::max(newton_.error(), system_.immovable());
  return iteration;
}

LoopEnd Newton::settle(std::span<double> /*r*/) {
  ++idle_;
  if (newton_.error() < 0.9 * best_error_) {
    best_error_ = newton_.error();
    idle_ = 0;
  }
  return idle_ >= options_.patience && !stop_->fixed() ? LoopEnd::stuck : LoopEnd::none;
}

}  // namespace signorini
