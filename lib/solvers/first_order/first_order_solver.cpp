#include "solvers/first_order/first_order_solver.h"

#include <cmath>
#include <utility>
#include <vector>

namespace signorini {

void FirstOrderSolver::set_problem(ReducedProblem problem, Vector mu, FrictionLaw law) {
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  TangentStep::scalar));
  std::vector<InverseMass> inverse_mass;
  inverse_mass.reserve(data_.diagonal.size());
  for (const Matrix3& W_kk : data_.diagonal) inverse_mass.push_back(inverse_mass_of(W_kk));
  cones_.prepare(law, data_.mu, std::move(inverse_mass));
  largest_curvature_ = cones_.largest_curvature(data_.W);
}

void FirstOrderSolver::begin(const StopTest& stop, LawForm form) {
  reset_counters();
  judged_ = !stop.fixed();
  has_own_rule_ = form == LawForm::associated && judged_;
  enough_ = stop.tolerance();
  standstill_.start(stop.scale());
}

void FirstOrderSolver::evaluate(std::span<const double> r, std::span<double> u) {
  multiply(arena_, data_.W, r, u);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += data_.q[static_cast<Eigen::Index>(i)];
  ++products_;
}

Iteration FirstOrderSolver::tell(std::span<const double> r, std::span<const double> u, double correction) {
  correction_ = correction;
  Iteration iteration;
  iteration.merit = correction;
  if (judged_) iteration.error = cones_.error(r, u);
  if (judged_ && !std::isfinite(iteration.error)) return {};  // diverged
  iteration.exhausted = standstill_.reached(correction);
  return iteration;
}

Iteration FirstOrderSolver::tell_start(std::span<const double> r, std::span<const double> u) const {
  Iteration first;
  if (judged_) first.error = cones_.error(r, u);
  return first;
}

LoopEnd FirstOrderSolver::settle(std::span<double> /*r*/) {
  return has_own_rule_ && correction_ <= enough_ ? LoopEnd::paper_rule : LoopEnd::none;
}

}  // namespace signorini
