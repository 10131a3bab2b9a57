#include "scene/driving_solver.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace signorini {

std::string DrivenSolve::failure(const Solver& solver, const ContactProblem& problem,
                                 double accepted_residual) const {
  return fmt::format("solver '{}' ends as {} with residual {:.2e} on {} contacts (accepted: {:.0e})",
                     solver.name(), enum_name(report.status), report.own_residual, problem.contacts(),
                     accepted_residual);
}

DrivenSolve drive(Solver& solver, const ContactProblem& problem, Preparation preparation,
                  const StopRule& stop, double accepted_residual, long long step,
                  std::vector<double>& impulses) {
  DrivenSolve result;
  const auto attempt = [&] {
    result.report = solver.solve(impulses, stop, nullptr);
    if (is_cancelled(stop.cancelled)) throw Cancelled();
    result.iterations += result.report.iterations;
    const bool finite =
        std::all_of(impulses.begin(), impulses.end(), [](double r) { return std::isfinite(r); });
    result.accepted = finite && (result.report.status == SolveStatus::converged ||
                                 result.report.own_residual <= accepted_residual);
  };
  const Vector& start = problem.warm_start;
  impulses.assign(start.data(), start.data() + start.size());
  if (preparation == Preparation::whole) {
    solver.prepare(problem);
  } else {
    solver.update_contacts(problem);
  }
  attempt();
  if (result.report.status == SolveStatus::unsupported) {
    throw_usage("step {}: solver '{}' cannot take the problem: {}", step, solver.name(),
                result.report.message);
  }
  if (result.accepted || (preparation == Preparation::whole && start.isZero(0.0))) return result;
  std::fill(impulses.begin(), impulses.end(), 0.0);
  if (preparation == Preparation::contacts) solver.prepare(problem);
  attempt();
  result.restarted = true;
  return result;
}

}  // namespace signorini
