#include "solvers/newton/newton_solver.h"

#include <algorithm>
#include <utility>

namespace signorini {

void NewtonSolver::set_problem(ReducedProblem problem, Vector mu, FrictionLaw law) {
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  natural_tangent_step(law)));
  system_.prepare(data_);
  x_.assign(u_.size(), 0.0);
}

std::span<const double> NewtonSolver::begin(std::span<const double> r, const StopTest& stop) {
  reset_counters();
  stop_ = &stop;
  system_.begin(stop.scale());
  system_.to_unit_free(r, x_);
  return x_;
}

Iteration NewtonSolver::tell(double error) const {
  Iteration iteration;
  iteration.error = std::max(error, system_.immovable());
  return iteration;
}

Iteration NewtonSolver::tell_start(double error) {
  least_error_ = error;
  waited_ = 0;
  return tell(error);
}

void NewtonSolver::count_step() {
  ++counters_.evaluations;
  counters_.state_changes += system_.state_changes();
  counters_.factorisations = system_.factorisations();
}

LoopEnd NewtonSolver::out_of_patience(double error, double gain, int patience) {
  ++waited_;
  if (error < gain * least_error_) {
    least_error_ = error;
    waited_ = 0;
  }
  return waited_ >= patience && !stop_->fixed() ? LoopEnd::stuck : LoopEnd::none;
}

}  // namespace signorini
