#pragma once

#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/protocols.h"
#include "harness/repetitions.h"
#include "harness/run_table.h"
#include "harness/trace_store.h"

namespace signorini {

/// One solver variant on one snapshot in all region modes and threads. Its timings are interleaved, so it is the unit
/// that a kill can lose and that a resume makes again.
struct RunGroup {
  std::vector<RunRecord> rows;
  std::vector<ConvergenceTrace> curves;
};

/// Self-stopped runs are made once. Throws `Cancelled` when `cancelled` is raised; the group leaves nothing then.
RunGroup run_group(const Experiment& experiment, const RunTarget& target, const SolverVariant& variant,
                   double tolerance, const CancelFlag* cancelled);

/// The self-stopped runs of a group that was made with the same arguments, for `repeat_in_turns`. All have to outlive them.
std::vector<RepeatedRun> self_stopped_runs(const Experiment& experiment, const RunTarget& target,
                                           const SolverVariant& variant, double tolerance,
                                           const CancelFlag* cancelled, RunGroup& group);

/// Whether rows and curves of a group are on disk: of repeated timings the first, of everything else all, for a row that could
/// not be read may have stood anywhere. Curves are written before rows.
bool group_is_done(const Experiment& experiment, const RunTable& table, const TraceStore& traces,
                   const std::string& file, const std::string& step, const SolverVariant& variant,
                   double tolerance);

}  // namespace signorini
