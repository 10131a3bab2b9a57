#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/protocols.h"
#include "harness/repetitions.h"
#include "harness/run_table.h"
#include "harness/trace_store.h"

namespace signorini {

/// One solver variant on one snapshot in all region modes and threads. Its timings are interleaved.
struct RunGroup {
  std::vector<RunRecord> rows;
  std::vector<ConvergenceTrace> curves;
  int rows_there = 0, curves_there = 0;  ///< kept by an earlier session, and so not made
  std::string session;                   ///< env.json of the session whose rows these are; empty: of this one
};

/// Rows that are kept while their group is made, so that a kill loses the run at work and not its group. A row is kept when
/// those of its group before it are and it will not change any more.
struct RunKeeper {
  /// Whether a row of this key was kept, with its curve.
  std::function<bool(const RunRecord& row)> has;
  /// `curve` is null where the row has none.
  std::function<void(const RunRecord& row, const ConvergenceTrace* curve)> keep;
};

/// Makes what `keeper` does not have. Self-stopped runs are made once; those that are to be repeated, and all rows after them,
/// are not kept. Timings of a group are made together or not at all, and their traced runs with them. Throws `Cancelled` when
/// `cancelled` is raised; the group leaves what was kept then.
RunGroup run_group(const Experiment& experiment, const RunTarget& target, const SolverVariant& variant,
                   double tolerance, const CancelFlag* cancelled, const RunKeeper& keeper);

/// The self-stopped runs of a group that are to be repeated, for `repeat_in_turns`. Arguments as of `run_group`; all have to
/// outlive them.
std::vector<RepeatedRun> self_stopped_runs(const Experiment& experiment, const RunTarget& target,
                                           const SolverVariant& variant, double tolerance,
                                           const CancelFlag* cancelled, RunGroup& group);

/// What `TraceStore::contains` compares, of the curve of a row.
ConvergenceTrace curve_key(const RunRecord& row);

/// Whether all rows and curves of a group are on disk: one that could not be read, or that a kill tore off, may have stood
/// anywhere. Of timings that did not converge one row may be all there is. Curves are written before rows.
bool group_is_done(const Experiment& experiment, const RunTable& table, const TraceStore& traces,
                   const std::string& file, const std::string& step, const SolverVariant& variant,
                   double tolerance);

/// Whether so many rows are all timings of a run. One that did not converge may be timed once (time_runs.cpp). `first`: status
/// of its first repetition.
bool is_timed_whole(int there, int repetitions, SolveStatus first);

}  // namespace signorini
