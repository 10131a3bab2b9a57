#include "solvers/newton/prox_newton.h"

#include <algorithm>
#include <utility>

namespace signorini {

void ProxNewtonOptions::validate() const {
  if (!(shift > 0.0 && shift <= 100.0))
    throw_usage("solver 'prox-newton': shift = {} must be in (0, 100]", shift);
  if (patience < 1) throw_usage("solver 'prox-newton': patience = {} must be at least 1", patience);
}

void ProxNewton::prepare_island(ReducedProblem problem, Vector mu) {
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu),
                                  options_.common.law, natural_tangent_step(options_.common.law)));
  system_.prepare(data_);
  proximal_.prepare(system_);
  x_.assign(u_.size(), 0.0);
}

Iteration ProxNewton::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  stop_ = &stop;
  system_.begin(stop.scale());
  system_.to_unit_free(r, x_);
  proximal_.start(x_, options_.shift);
  products_ = proximal_.products();
  best_error_ = proximal_.error();
  idle_ = 0;
  Iteration first;
  first.error = std::max(proximal_.error(), system_.immovable());
  return first;
}

Iteration ProxNewton::iterate(std::span<double> r) {
  proximal_.step();
  system_.to_impulses(proximal_.iterate(), r);
  products_ = proximal_.products();
  ++counters_.evaluations;
  counters_.state_changes += system_.state_changes();
  counters_.guards = proximal_.guards();
  counters_.relinearisations = proximal_.outer_steps();
  Iteration iteration;
  iteration.error = std::max(proximal_.error(), system_.immovable());
  return iteration;
}

LoopEnd ProxNewton::settle(std::span<double> /*r*/) {
  ++idle_;
  if (proximal_.error() < 0.99 * best_error_) {
    best_error_ = proximal_.error();
    idle_ = 0;
  }
  return idle_ >= options_.patience && !stop_->fixed() ? LoopEnd::stuck : LoopEnd::none;
}

}  // namespace signorini
