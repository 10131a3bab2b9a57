#include "harness/run_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

bool stops_itself(const Experiment& experiment) { return experiment.time || experiment.self_stopped; }

RunLimits limits_of(const Experiment& experiment, double tolerance, const CancelFlag* cancelled) {
  return {tolerance, experiment.max_iterations, experiment.time_limit, cancelled};
}

/// The group while it is made. What is timed together stays prepared until the end.
class GroupRun {
 public:
  GroupRun(const Experiment& experiment, const RunTarget& target, const SolverVariant& variant,
           double tolerance, const CancelFlag* cancelled)
      : experiment_(experiment),
        target_(target),
        variant_(variant),
        threads_(experiment.threads_of(variant)),
        limits_(limits_of(experiment, tolerance, cancelled)),
        tracing_(limits_) {
    tracing_.time_limit *= 10.0;  // a traced run also waits for the referee
    prepared_.reserve(experiment.regions.size() * threads_.size());
    traced_.reserve(experiment.regions.size());
  }

  RunGroup run() {
    for (const RegionMode mode : experiment_.regions) run_mode(mode);
    if (experiment_.time && !variant_.self_stopped) {
      const std::vector<RunRecord> times =
          time_runs(target_, timed_, limits_, {experiment_.repetitions, experiment_.minimum_time});
      group_.rows.insert(group_.rows.end(), times.begin(), times.end());
    }
    group_.rows.insert(group_.rows.end(), self_stopped_.begin(), self_stopped_.end());
    if (experiment_.converge && !variant_.self_stopped) {
      for (TracedRun& one : traced_) group_.curves.push_back(std::move(one.trace));
    }
    return std::move(group_);
  }

 private:
  void run_mode(RegionMode mode) {
    std::optional<PreparedRun> made = prepare_run(target_, variant_, mode, threads_.front());
    // a short one has warmed caches, so that set-up times start equal
    if (is_short(made->record.setup_seconds)) made.reset();
    bool can_trace = false;
    for (const int threads : threads_) {
      prepared_.push_back(made ? std::move(*made) : prepare_run(target_, variant_, mode, threads));
      made.reset();
      PreparedRun& prepared = prepared_.back();
      if (experiment_.time && !variant_.self_stopped && prepared.solver) {
        double& seconds = prepared.record.setup_seconds;
        seconds = repeated_seconds(seconds, experiment_.repetitions, [&] {
          return prepare_run(target_, variant_, mode, threads).record.setup_seconds;
        });
      }
      if (stops_itself(experiment_)) {
        self_stopped_.push_back(solve_self_stopped(target_, prepared, limits_).record);
      }
      // the iterates do not depend on the number of threads: one trace serves all, the first that can run
      if (variant_.self_stopped || (!experiment_.converge && !experiment_.time)) {
        prepared_.pop_back();  // nothing more is asked of it: a large one holds gigabytes
        continue;
      }
      const bool first = threads == threads_.front();
      if (first || (!can_trace && prepared.solver)) {
        TracedRun run = trace_run(target_, prepared, tracing_);
        if (experiment_.converge) group_.rows.push_back(run.record);
        can_trace = prepared.solver != nullptr;
        if (first) traced_.emplace_back();
        traced_.back() = std::move(run);
      }
      timed_.push_back({&prepared, &traced_.back()});
    }
  }

  const Experiment& experiment_;
  const RunTarget& target_;
  const SolverVariant& variant_;
  const std::vector<int>& threads_;
  RunLimits limits_, tracing_;
  std::vector<PreparedRun> prepared_;
  std::vector<TracedRun> traced_;
  std::vector<TimedRun> timed_;
  std::vector<RunRecord> self_stopped_;
  RunGroup group_;
};

}  // namespace

RunGroup run_group(const Experiment& experiment, const RunTarget& target, const SolverVariant& variant,
                   double tolerance, const CancelFlag* cancelled) {
  return GroupRun(experiment, target, variant, tolerance, cancelled).run();
}

std::vector<RepeatedRun> self_stopped_runs(const Experiment& experiment, const RunTarget& target,
                                           const SolverVariant& variant, double tolerance,
                                           const CancelFlag* cancelled, RunGroup& group) {
  std::vector<RepeatedRun> runs;
  if (!stops_itself(experiment)) return runs;
  auto row = std::ranges::find(group.rows, "self-stopped", &RunRecord::protocol);
  for (const RegionMode mode : experiment.regions) {
    for (const int threads : experiment.threads_of(variant)) {
      SIGNORINI_CHECK(row != group.rows.end());
      runs.push_back(
          {&*row++, [=, &experiment, &target, &variant] {
             PreparedRun again = prepare_run(target, variant, mode, threads);
             return solve_self_stopped(target, again, limits_of(experiment, tolerance, cancelled)).record;
           }});
    }
  }
  return runs;
}

bool group_is_done(const Experiment& experiment, const RunTable& table, const TraceStore& traces,
                   const std::string& file, const std::string& step, const SolverVariant& variant,
                   double tolerance) {
  RunRecord row;
  row.experiment = experiment.id;
  row.file = file;
  row.step = step;
  row.solver = variant.name;
  row.options = make_solver(variant.name, variant.options)->options();
  row.tolerance = tolerance;
  const std::vector<int>& threads = experiment.threads_of(variant);
  const auto has = [&](std::string_view protocol) {
    row.protocol = protocol;
    return table.contains(row);
  };
  for (const RegionMode mode : experiment.regions) {
    row.region_mode = enum_name(mode);
    for (const int count : threads) {
      row.threads = count;
      if (stops_itself(experiment) && !has("self-stopped")) return false;
      if (experiment.time && !variant.self_stopped && !has("time")) return false;
      const bool traced = experiment.converge && !variant.self_stopped && count == threads.front();
      if (traced && !has("converge")) return false;
    }
  }
  if (!experiment.converge || variant.self_stopped) return true;
  ConvergenceTrace trace;
  trace.file = file;
  trace.step = step;
  trace.solver = row.solver;
  trace.options = row.options;
  trace.tolerance = tolerance;
  return std::all_of(experiment.regions.begin(), experiment.regions.end(), [&](RegionMode mode) {
    trace.region_mode = enum_name(mode);
    return traces.contains(trace);
  });
}

}  // namespace signorini
