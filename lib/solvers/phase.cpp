#include "solvers/phase.h"

#include <cmath>

namespace signorini {

namespace {

SolveStatus status_of(PhaseEnd end) {
  switch (end) {
    case PhaseEnd::converged:
      return SolveStatus::converged;
    case PhaseEnd::cap:
      return SolveStatus::iteration_limit;
    case PhaseEnd::time:
      return SolveStatus::time_limit;
    case PhaseEnd::diverged:
      return SolveStatus::diverged;
    case PhaseEnd::handed_on:
    case PhaseEnd::paper_rule:
    case PhaseEnd::stuck:
      break;
  }
  return SolveStatus::stalled;
}

}  // namespace

SolveReport nothing_to_solve() {
  SolveReport report;
  report.status = SolveStatus::converged;
  report.own_residual = 0.0;
  return report;
}

SolveReport finish_solve(const PhaseReport& phase, const StopTest& stop, const BestIterate& best,
                         std::span<double> r) {
  SolveReport report;
  report.iterations = phase.iterations;
  report.products = phase.products;
  report.counters = phase.counters;
  report.status = status_of(phase.end);
  double error = phase.error;
  const bool bad = phase.end == PhaseEnd::diverged;
  if (bad || (!stop.fixed() && best.has() && best.error() < error)) {
    best.restore(r);
    error = best.error();
  }
  if (std::isnan(error)) error = phase.estimate;
  report.own_residual = stop.relative(error);
  if (phase.end == PhaseEnd::stuck && stop.accurate(error)) report.status = SolveStatus::converged;
  if (bad || stop.fixed()) return report;
  if (stop.met(error)) report.status = SolveStatus::converged;
  if (phase.end == PhaseEnd::paper_rule) {
    report.message = "paper's rule";  // short enough not to allocate
    if (!stop.judging()) report.status = SolveStatus::converged;
  }
  return report;
}

}  // namespace signorini
