#include "harness/run_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/options.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

bool stops_itself(const Experiment& experiment) { return experiment.time || experiment.self_stopped; }

RunLimits limits_of(const Experiment& experiment, double tolerance, const CancelFlag* cancelled) {
  return {tolerance, experiment.max_iterations, experiment.time_limit, cancelled};
}

/// The key of a row.
RunRecord key_row(const Experiment& experiment, const std::string& file, const std::string& step,
                  const SolverVariant& variant, double tolerance) {
  RunRecord row;
  row.experiment = experiment.id;
  row.file = file;
  row.step = step;
  row.solver = variant.name;
  row.options = make_solver(variant.name, variant.options)->options();
  row.tolerance = tolerance;
  return row;
}

/// The group while it is made. What is timed together stays prepared until the end.
class GroupRun {
 public:
  GroupRun(const Experiment& experiment, const RunTarget& target, const SolverVariant& variant,
           double tolerance, const CancelFlag* cancelled, const RunKeeper& keeper)
      : experiment_(experiment),
        target_(target),
        variant_(variant),
        threads_(experiment.threads_of(variant)),
        limits_(limits_of(experiment, tolerance, cancelled)),
        tracing_(limits_),
        keeper_(keeper),
        key_(key_row(experiment, target.facts.file, target.facts.step, variant, tolerance)) {
    tracing_.time_limit *= 10.0;  // a traced run also waits for the referee
    prepared_.reserve(experiment.regions.size() * threads_.size());
    traced_.reserve(experiment.regions.size());
  }

  RunGroup run() {
    for (const RegionMode mode : experiment_.regions) run_mode(mode);
    if (is_timed()) {
      const std::vector<RunRecord> times =
          time_runs(target_, timed_, limits_, {experiment_.repetitions, experiment_.minimum_time});
      group_.rows.insert(group_.rows.end(), times.begin(), times.end());
    }
    return std::move(group_);
  }

 private:
  bool is_timed() const { return experiment_.time && !variant_.self_stopped; }
  bool is_traced() const { return experiment_.converge && !variant_.self_stopped; }

  bool has(std::string_view protocol, RegionMode mode, int threads) {
    key_.protocol = protocol;
    key_.region_mode = enum_name(mode);
    key_.threads = threads;
    return keeper_.has(key_);
  }

  /// The next row of the group.
  void add(RunRecord row, std::optional<ConvergenceTrace> curve, bool final) {
    const bool has_curve = curve.has_value();
    if (has_curve) group_.curves.push_back(std::move(*curve));
    group_.rows.push_back(std::move(row));
    keeping_ = keeping_ && final;
    if (keeping_) keeper_.keep(group_.rows.back(), has_curve ? &group_.curves.back() : nullptr);
  }

  /// What a region mode still lacks.
  struct Missing {
    std::vector<bool> self_stopped;  ///< for each number of threads
    bool traced = false;             ///< the traced run, for its row or for timings
    bool any() const { return traced || std::ranges::find(self_stopped, true) != self_stopped.end(); }
  };
  Missing missing(RegionMode mode) {
    Missing out;
    for (const int threads : threads_) {
      const bool there = stops_itself(experiment_) && has("self-stopped", mode, threads);
      if (there) ++group_.rows_there;
      out.self_stopped.push_back(stops_itself(experiment_) && !there);
    }
    const bool there = is_traced() && !is_timed() && has("converge", mode, threads_.front());
    if (there) {
      ++group_.rows_there;
      ++group_.curves_there;
    }
    out.traced = is_timed() || (is_traced() && !there);
    return out;
  }

  void run_mode(RegionMode mode) {
    const Missing missing = this->missing(mode);
    if (!missing.any()) return;
    std::optional<PreparedRun> made = prepare_run(target_, variant_, mode, threads_.front());
    // a short one has warmed caches, so that set-up times start equal
    if (is_short(made->record.setup_seconds)) made.reset();
    bool can_trace = false;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const int threads = threads_[i];
      if (!missing.traced && !missing.self_stopped[i]) {
        made.reset();
        continue;
      }
      prepared_.push_back(made ? std::move(*made) : prepare_run(target_, variant_, mode, threads));
      made.reset();
      PreparedRun& prepared = prepared_.back();
      if (is_timed() && prepared.solver) {
        double& seconds = prepared.record.setup_seconds;
        seconds = repeated_seconds(seconds, experiment_.repetitions, [&] {
          return prepare_run(target_, variant_, mode, threads).record.setup_seconds;
        });
      }
      if (missing.self_stopped[i]) solve(prepared);
      // the iterates do not depend on the number of threads: one trace serves all, the first that can run
      if (!missing.traced) {
        prepared_.pop_back();  // nothing more is asked of it: a large one holds gigabytes
        continue;
      }
      if (i == 0 || (!can_trace && prepared.solver)) {
        trace(prepared, i == 0);
        can_trace = prepared.solver != nullptr;
      }
      timed_.push_back({&prepared, &traced_.back()});
    }
    if (missing.traced && is_traced() && !can_trace) group_.curves.push_back(std::move(traced_.back().trace));
  }

  void solve(PreparedRun& prepared) {
    RunRecord row = solve_self_stopped(target_, prepared, limits_).record;
    const bool final = runs_wanted(row, experiment_.repetitions) == 1;
    add(std::move(row), {}, final);
  }

  /// Of a run that cannot be made the row has no curve yet: one with more threads may have it.
  void trace(PreparedRun& prepared, bool first) {
    TracedRun run = trace_run(target_, prepared, tracing_);
    if (is_traced()) {
      std::optional<ConvergenceTrace> curve;
      if (prepared.solver) curve = std::move(run.trace);
      add(run.record, std::move(curve), true);
    }
    if (first) traced_.emplace_back();
    traced_.back() = std::move(run);
  }

  const Experiment& experiment_;
  const RunTarget& target_;
  const SolverVariant& variant_;
  const std::vector<int>& threads_;
  RunLimits limits_, tracing_;
  const RunKeeper& keeper_;
  RunRecord key_;
  bool keeping_ = true;  ///< all rows so far are kept
  std::vector<PreparedRun> prepared_;
  std::vector<TracedRun> traced_;
  std::vector<TimedRun> timed_;
  RunGroup group_;
};

/// Whether a table holds all repetitions of the timed run whose key is `row`: a kill may leave the first of them.
bool has_all_times(const RunTable& table, RunRecord row, int repetitions) {
  row.repetition = 0;
  const std::optional<SolveStatus> first = table.status_of(row);
  if (!first) return false;
  int there = 1;
  for (row.repetition = 1; row.repetition < repetitions; ++row.repetition)
    there += table.contains(row) ? 1 : 0;
  return is_timed_whole(there, repetitions, *first);
}

}  // namespace

bool is_timed_whole(int there, int repetitions, SolveStatus first) {
  return there >= repetitions || (there == 1 && first != SolveStatus::converged);
}

RunGroup run_group(const Experiment& experiment, const RunTarget& target, const SolverVariant& variant,
                   double tolerance, const CancelFlag* cancelled, const RunKeeper& keeper) {
  return GroupRun(experiment, target, variant, tolerance, cancelled, keeper).run();
}

std::vector<RepeatedRun> self_stopped_runs(const Experiment& experiment, const RunTarget& target,
                                           const SolverVariant& variant, double tolerance,
                                           const CancelFlag* cancelled, RunGroup& group) {
  std::vector<RepeatedRun> runs;
  for (RunRecord& row : group.rows) {
    if (row.protocol != "self-stopped" || runs_wanted(row, experiment.repetitions) == 1) continue;
    const auto mode = parse_enum<RegionMode>(row.region_mode, "region_mode");
    runs.push_back(
        {&row, [=, &experiment, &target, &variant, threads = row.threads] {
           PreparedRun again = prepare_run(target, variant, mode, threads);
           return solve_self_stopped(target, again, limits_of(experiment, tolerance, cancelled)).record;
         }});
  }
  return runs;
}

ConvergenceTrace curve_key(const RunRecord& row) {
  ConvergenceTrace curve;
  curve.file = row.file;
  curve.step = row.step;
  curve.solver = row.solver;
  curve.options = row.options;
  curve.region_mode = row.region_mode;
  curve.tolerance = row.tolerance;
  return curve;
}

bool group_is_done(const Experiment& experiment, const RunTable& table, const TraceStore& traces,
                   const std::string& file, const std::string& step, const SolverVariant& variant,
                   double tolerance) {
  RunRecord row = key_row(experiment, file, step, variant, tolerance);
  const std::vector<int>& threads = experiment.threads_of(variant);
  const auto has = [&](std::string_view protocol) {
    row.protocol = protocol;
    return protocol == "time" ? has_all_times(table, row, experiment.repetitions) : table.contains(row);
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
  return std::ranges::all_of(experiment.regions, [&](RegionMode mode) {
    row.region_mode = enum_name(mode);
    return traces.contains(curve_key(row));
  });
}

}  // namespace signorini
