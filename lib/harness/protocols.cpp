#include "harness/protocols.h"

#include <fmt/format.h>

#include <utility>

#include "base/available_cpus.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/heap_bytes.h"
#include "base/reason.h"
#include "contact/matrix_note.h"
#include "harness/run_outcome.h"
#include "harness/weighed_solve.h"

namespace signorini {
namespace {

/// Regions that W couples meet the tolerance one by one and not together: only the referee can tell.
void judge_coupled_regions(RunRecord& record, const RunTarget& target, const RegionSolver& solver) {
  if (!solver.solves_apart() || record.status != SolveStatus::converged) return;
  if (!misses_by_coupling(record.errors, record.tolerance, target, solver)) return;
  record.status = SolveStatus::stalled;
  set_message(
      record, target,
      fmt::format("every region converged, but the regions are coupled: residual {:.3g} by the referee",
                  record.errors.residual));
}

}  // namespace

bool meets(double residual, double tolerance) { return residual <= 1.01 * tolerance; }

Referee make_referee(const ContactProblem& problem, const std::string& where) {
  try {
    return Referee(problem, partition_regions(problem, RegionMode::islands).label);
  } catch (const InputError& error) {
    throw_input("{}: {}", where, error.what());
  }
}

RunTarget make_target(const ContactProblem& problem, const Referee& referee, std::string experiment,
                      std::string file, std::string step) {
  RunTarget target;
  target.problem = &problem;
  target.referee = &referee;
  target.facts.experiment = std::move(experiment);
  target.facts.file = std::move(file);
  target.facts.step = std::move(step);
  target.facts.contacts = problem.contacts();
  target.facts.dofs = problem.own_dofs();
  target.note = target.facts.message = matrix_note(problem);
  return target;
}

PreparedRun prepare_run(const RunTarget& target, const SolverVariant& variant, RegionMode mode, int threads) {
  RunRecord record = target.facts;
  record.solver = variant.name;
  record.label = variant.label;
  record.region_mode = enum_name(mode);
  record.threads = threads;
  return prepare_run(target, make_region_solver(variant.name, variant.options, {mode, threads}),
                     std::move(record));
}

PreparedRun prepare_run(const RunTarget& target, std::unique_ptr<RegionSolver> solver, RunRecord record) {
  PreparedRun run{std::move(solver), std::move(record)};
  run.record.solver = run.solver->name();
  run.record.options = run.solver->options();
  run.record.law = enum_name(run.solver->common().law);
  run.record.regions = target.problem->contacts() > 0 ? 1 : 0;
  run.record.largest_region = target.problem->contacts();
  try {
    std::string reason = thread_refusal(run.record.threads);
    if (reason.empty()) reason = run.solver->unsupported_reason(*target.problem);
    if (!reason.empty()) {
      fail(run.record, target, SolveStatus::unsupported, reason);
    } else {
      const long long held = heap_bytes();
      const Stopwatch watch;
      run.solver->prepare(*target.problem);
      run.record.setup_seconds = watch.seconds();
      if (held >= 0) run.record.solver_bytes = heap_bytes() - held;
      run.record.regions = run.solver->partition().regions();
      run.record.largest_region = run.solver->partition().largest();
      run.record.speedup_8 = run.solver->work_and_span(8).speedup();
      run.record.speedup_64 = run.solver->work_and_span(64).speedup();
      run.record.speedup_256 = run.solver->work_and_span(256).speedup();
      return run;
    }
  } catch (const UsageError& error) {
    fail(run.record, target, SolveStatus::unsupported, error.what());
  } catch (const std::exception& error) {
    fail(run.record, target, SolveStatus::failed, reason_of(error));
  }
  run.solver.reset();
  return run;
}

Vector start_values(const Solver& solver, const ContactProblem& problem) {
  const Index size = 3 * problem.contacts();
  if (solver.common().warm_start && problem.warm_start.size() == size) return problem.warm_start;
  return Vector::Zero(size);
}

bool is_answer(const SolveOutcome& outcome) {
  const SolveStatus status = outcome.record.status;
  return status != SolveStatus::unsupported && status != SolveStatus::failed && outcome.r.allFinite();
}

SolveOutcome solve_self_stopped(const RunTarget& target, PreparedRun& run, const RunLimits& limits,
                                IterationObserver* observer) {
  SolveOutcome out{run.record, Vector::Zero(3 * target.problem->contacts())};
  out.record.protocol = "self-stopped";
  out.record.tolerance = limits.tolerance;
  if (!run.solver) return out;
  run.solver->limit_iterations({});
  out.r = start_values(*run.solver, *target.problem);
  try {
    const WeighedSolve solve = solve_weighed(run, span_of(out.r), stop_rule(limits), observer);
    out.record.solve_seconds = solve.seconds;
    out.record.solver_bytes = run.record.solver_bytes;
    fill_use(out.record, solve.use);
    fill_report(out.record, target, *run.solver, solve.report);
    out.record.errors = target.referee->measure(span_of(std::as_const(out.r)), run.solver->common().spec());
    judge_coupled_regions(out.record, target, *run.solver);
  } catch (const std::exception& error) {
    fail(out.record, target, SolveStatus::failed, reason_of(error));
  }
  if (is_cancelled(limits.cancelled)) throw Cancelled();
  return out;
}

}  // namespace signorini
