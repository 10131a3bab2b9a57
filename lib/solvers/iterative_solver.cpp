#include "solvers/iterative_solver.h"

namespace signorini {

namespace {

SolveStatus status_of(LoopEnd end) {
  switch (end) {
    case LoopEnd::converged:
      return SolveStatus::converged;
    case LoopEnd::cap:
      return SolveStatus::iteration_limit;
    case LoopEnd::time:
      return SolveStatus::time_limit;
    case LoopEnd::diverged:
      return SolveStatus::diverged;
    case LoopEnd::none:
    case LoopEnd::paper_rule:
    case LoopEnd::stuck:
      break;
  }
  return SolveStatus::stalled;
}

/// Iterations after which a run that measures nothing keeps an iterate, so that it has something finite to return.
bool is_power_of_two(int k) { return (k & (k - 1)) == 0; }

}  // namespace

struct IterativeSolver::Loop {
  std::span<double> r;
  const StopTest& stop;
  IterationObserver* observer;
  Iteration last{};
  LoopEnd end = LoopEnd::cap;
  int iterations = 0;
  std::array<int, SolverTraits::kMostPhases> by_phase{};
};

SolveReport IterativeSolver::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  if (r.empty()) {
    SolveReport report;
    report.status = SolveStatus::converged;
    report.own_residual = 0.0;
    return report;
  }
  const StopTest stop(rule, velocity_scale());
  make_finite(r);
  best_.forget();
  tolerance_ = stop.tolerance();
  restart_schedule();
  if (observer != nullptr) observer->on_iteration(0, r, "");
  Loop loop{r, stop, observer};
  run(loop);
  return finish(loop);
}

void IterativeSolver::restart_schedule() { schedule_ = MeasureSchedule(tolerance_, estimates_tell()); }

void IterativeSolver::run(Loop& loop) {
  const std::span<double> r = loop.r;
  const StopTest& stop = loop.stop;
  loop.last = start(r, stop);
  if (stop.judging() && std::isnan(loop.last.error)) loop.last.error = measure(r, loop.last.estimate);
  best_.offer(r, loop.last.error);
  if (ends_by_residual() && stop.met(loop.last.error)) {
    loop.end = LoopEnd::converged;
    return;
  }
  while (loop.iterations < stop.max_iterations()) {
    if (stop.out_of_time()) {
      loop.end = LoopEnd::time;
      return;
    }
    loop.last = iterate(r);
    if (!loop.last.moved) {
      loop.end = LoopEnd::stuck;
      return;
    }
    if (!loop.last.finite()) {
      loop.end = LoopEnd::diverged;
      return;
    }
    ++loop.iterations;
    ++loop.by_phase[phase()];
    if (loop.observer != nullptr) {
      IterationProgress told = progress();
      told.counters = counters();
      loop.observer->on_progress(loop.iterations, told);
      loop.observer->on_iteration(loop.iterations, r, traits().phases[phase()]);
    }
    if (!judge(loop)) return;
    const LoopEnd end = settle(r);
    if (end == LoopEnd::none) continue;
    loop.end = end;
    return;
  }
}

/// Keeps the iterate where it may be the best; false where it ends the solve.
bool IterativeSolver::judge(Loop& loop) {
  Iteration& last = loop.last;
  if (!loop.stop.judging()) {
    if (!std::isnan(last.error) || is_power_of_two(loop.iterations)) best_.offer(loop.r, last.quality());
    return true;
  }
  if (!ends_by_residual()) {
    if (!std::isnan(last.error)) best_.offer(loop.r, last.error);
    return true;
  }
  const bool known = !std::isnan(last.error);
  if (!known && !schedule_.due(last.estimate) && !last.exhausted && !last.ripe) return true;
  if (!known) last.error = measure(loop.r, last.estimate);
  best_.offer(loop.r, last.error);
  if (loop.stop.met(last.error)) {
    loop.end = LoopEnd::converged;
    return false;
  }
  if (last.exhausted) {
    loop.end = LoopEnd::stuck;
    return false;
  }
  if (!known) schedule_.missed(last.error);
  return true;
}

/// Takes the best of all measured iterates where that is better than the last one, and names the outcome. A run
/// of a fixed number of iterations keeps the last iterate as it is. A paper's rule that fired above the asked
/// residual is reported as `stalled`: only the exact error can claim `converged`. After `diverged`, r is the best
/// finite iterate.
SolveReport IterativeSolver::finish(Loop& loop) {
  const StopTest& stop = loop.stop;
  const bool diverged = loop.end == LoopEnd::diverged;
  const bool measuring = stop.judging() || (loop.end == LoopEnd::stuck && stop.fixed());
  double error = loop.last.error;
  if (!diverged && measuring && std::isnan(error)) {
    error = measure(loop.r, loop.last.estimate);
    best_.offer(loop.r, error);
  }
  SolveReport report;
  report.status = status_of(loop.end);
  report.iterations = loop.iterations;
  report.phase_iterations = loop.by_phase;
  report.products = products();
  report.counters = counters();
  if (diverged || (keeps_best() && !stop.takes_last() && best_.has() && best_.error() < error)) {
    best_.restore(loop.r);
    error = best_.error();
  }
  if (std::isnan(error)) error = loop.last.estimate;
  report.own_residual = stop.relative(error);
  if (loop.end == LoopEnd::stuck && error <= stop.asked()) report.status = SolveStatus::converged;
  if (diverged || stop.fixed()) return report;
  if (stop.met(error)) report.status = SolveStatus::converged;
  if (loop.end == LoopEnd::paper_rule) {
    report.message = paper_rule();
    if (!stop.judging()) report.status = SolveStatus::converged;
  }
  return report;
}

}  // namespace signorini
