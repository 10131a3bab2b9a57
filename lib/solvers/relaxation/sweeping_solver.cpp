#include "solvers/relaxation/sweeping_solver.h"

#include <utility>

#include "base/check.h"

namespace signorini {
namespace {

/// Shows iterates in the problem's own order.
class PlacedObserver : public IterationObserver {
 public:
  PlacedObserver(IterationObserver& target, const SweepPlan& plan, std::span<double> shown)
      : target_(target), plan_(plan), shown_(shown) {}

  void on_iteration(int iteration, std::span<const double> r, std::string_view phase) override {
    from_places(plan_, r, shown_);
    target_.on_iteration(iteration, shown_, phase);
  }
  void on_progress(int iteration, const IterationProgress& progress) override {
    target_.on_progress(iteration, progress);
  }

 private:
  IterationObserver& target_;
  const SweepPlan& plan_;
  std::span<double> shown_;
};

}  // namespace

std::string SweepingSolver::unsupported_reason(const ContactProblem& problem) const {
  if (!takes_body_rows(problem, matrix())) return DelassusSolver::unsupported_reason(problem);
  const std::string refusal = body_rows_refusal(problem);
  return refusal.empty() ? "" : "matrix = bodies " + refusal;
}

void SweepingSolver::prepare(const ContactProblem& problem) {
  if (!takes_body_rows(problem, matrix())) return DelassusSolver::prepare(problem);
  const std::string reason = unsupported_reason(problem);
  if (!reason.empty()) throw_usage("solver '{}': {}", name(), reason);
  prepare_bodies(problem);
}

void SweepingSolver::set_sweeps(ReducedProblem problem, Vector mu, FrictionLaw law, TangentChoice tangent,
                                SweepOrder order) {
  plan_ = plan_sweeps(problem.W, order);
  problem = in_order(std::move(problem), plan_, arena_);
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), in_order(std::move(mu), plan_),
                                  law, tangent));
  start_sweeps();
}

void SweepingSolver::set_body_sweeps(const ContactProblem& problem, FrictionLaw law, TangentChoice tangent,
                                     SweepOrder order) {
  SIGNORINI_CHECK(body_rows_refusal(problem).empty());
  BodyRows bodies = make_body_rows(problem);
  plan_ = plan_sweeps(bodies, order);
  if (!plan_.contact.empty()) bodies = in_order(std::move(bodies), plan_.contact, arena_);
  set_data(make_gauss_seidel_data(std::move(bodies), in_order(problem.mu, plan_), law, tangent));
  start_sweeps();
}

void SweepingSolver::start_sweeps() {
  sweep_.prepare(data_, plan_);
  placed_.assign(3 * plan_.contact.size(), 0.0);
  shown_.assign(placed_.size(), 0.0);
}

SolveReport SweepingSolver::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  if (plan_.contact.empty()) return IterativeSolver::solve(r, rule, observer);
  SIGNORINI_CHECK(r.size() == placed_.size());
  to_places(plan_, r, placed_);
  SolveReport report;
  if (observer == nullptr) {
    report = IterativeSolver::solve(placed_, rule, nullptr);
  } else {
    PlacedObserver placed(*observer, plan_, shown_);
    report = IterativeSolver::solve(placed_, rule, &placed);
  }
  from_places(plan_, placed_, r);
  return report;
}

}  // namespace signorini
