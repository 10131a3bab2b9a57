// The protocol `time`: harness/protocols.h.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/reason.h"
#include "harness/protocols.h"
#include "harness/run_outcome.h"
#include "harness/weighed_solve.h"

namespace signorini {
namespace {

/// What was traced without reaching the tolerance; of a run that could not be prepared, why.
RunRecord censored_row(const TimedRun& member, double tolerance) {
  RunRecord record = member.run->solver ? member.traced->record : member.run->record;
  record.protocol = "time";
  record.tolerance = tolerance;
  record.threads = member.run->record.threads;
  record.setup_seconds = member.run->record.setup_seconds;
  return record;
}

/// A solve of k* iterations that is timed again and again.
struct TimedJob {
  RunRecord record;
  RegionSolver* solver;
  StopRule stop;
  Vector start, r;
  std::optional<std::string> failure;  ///< what a solve threw; the traced one did not

  TimedJob(const RunTarget& target, const TimedRun& member, const RunLimits& limits)
      : record(member.run->record),
        solver(member.run->solver.get()),
        stop(stop_rule(limits)),
        start(start_values(*solver, *target.problem)),
        r(start) {
    record.protocol = "time";
    record.tolerance = limits.tolerance;
    stop.fixed_iterations = true;
    stop.max_iterations = member.traced->record.iterations;
    solver->limit_iterations(member.traced->region_iterations);
  }

  /// One solve to warm up, to judge the answer and to know how long it takes: s.
  double warm_up(const RunTarget& target, PreparedRun& run) {
    WeighedSolve solve;
    try {
      solve = solve_weighed(run, span_of(r), stop);
    } catch (const std::exception& error) {
      failure = reason_of(error);
      return 0.0;  // nothing is timed then
    }
    record.solver_bytes = run.record.solver_bytes;
    if (is_cancelled(stop.cancelled)) return solve.seconds;
    const std::string used = fill_report(record, target, *solver, solve.report);
    record.errors = target.referee->measure(span_of(std::as_const(r)), solver->common().spec());
    judge(target, used);
    return solve.seconds;
  }

  void judge(const RunTarget& target, const std::string& used) {
    // a region's k* was found from the assembled iterate: roundings of the last bits may lift it just above
    if (record.errors.residual <= record.tolerance * (1.0 + 1e-6)) {
      record.status = SolveStatus::converged;
      set_message(record, target, used);
      return;
    }
    record.status = SolveStatus::iteration_limit;
    const std::string left =
        fmt::format("k* = {} iterations left residual {:.2e}", stop.max_iterations, record.errors.residual);
    set_message(record, target, joined(used, left));
  }

  void solve_again() {
    try {
      static_cast<void>(solver->solve(span_of(r), stop, nullptr));
    } catch (const std::exception& error) {
      failure = reason_of(error);
    }
  }

  RunRecord failed_row(const RunTarget& target) const {
    RunRecord row = record;
    fail(row, target, SolveStatus::failed, *failure);
    return row;
  }

  /// A row for every repetition, or one that says how it failed.
  void append_rows(const RunTarget& target, const std::vector<TimedRepetition>& times,
                   std::vector<RunRecord>& rows) const {
    if (failure) return rows.push_back(failed_row(target));
    for (std::size_t repetition = 0; repetition < times.size(); ++repetition) {
      rows.push_back(record);
      rows.back().repetition = static_cast<int>(repetition);
      rows.back().solve_seconds = times[repetition].seconds;
      fill_use(rows.back(), times[repetition].use);
    }
  }
};

}  // namespace

std::vector<RunRecord> time_runs(const RunTarget& target, std::span<const TimedRun> group,
                                 const RunLimits& limits, const TimerOptions& options) {
  std::vector<RunRecord> rows;
  std::vector<std::unique_ptr<TimedJob>> jobs;
  std::vector<TimedTask> tasks;
  for (const TimedRun& member : group) {
    if (!member.run->solver || !member.traced->first_iteration) {
      rows.push_back(censored_row(member, limits.tolerance));
      continue;
    }
    auto job = std::make_unique<TimedJob>(target, member, limits);
    const double seconds = job->warm_up(target, *member.run);
    if (is_cancelled(limits.cancelled)) throw Cancelled();
    if (job->failure) {
      rows.push_back(job->failed_row(target));
      continue;
    }
    TimedJob* j = job.get();
    tasks.push_back({j->record.region_mode, [j] { j->r = j->start; }, [j] { j->solve_again(); }, seconds});
    jobs.push_back(std::move(job));
  }
  const std::vector<std::vector<TimedRepetition>> times = time_interleaved(tasks, options);
  if (is_cancelled(limits.cancelled)) throw Cancelled();
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i]->append_rows(target, times[i], rows);
  return rows;
}

}  // namespace signorini
