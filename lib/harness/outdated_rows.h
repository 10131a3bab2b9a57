#pragma once

#include <filesystem>
#include <span>

#include "base/run_monitor.h"
#include "harness/experiment.h"
#include "solvers/solver.h"

/// Rows that a resume makes again although they are there:
///
/// - Rows of solvers from outside of the tree name their code (`plugin=FILE:DIGEST`, the last of the options). When the code has
///   changed, the rows and curves of the code before would stand beside the new ones under the same label.
/// - Groups of runs (harness/run_group.h) with a row that ended in a way that the user names: a time limit is in wall-clock
///   time, and a busy machine meets it early; memory may have been short.
/// - Timings of a group that lacks some, which a kill tore off: those of one group are made together, on one machine in one state.
namespace signorini {

/// Takes rows and curves out of `folder` that differ from a variant of the experiment in its code alone, whole groups with a
/// row whose status is one of `again`, and timings of groups that lack some. runs.outdated.csv keeps the table as it was.
/// Nothing happens to rows of solvers that the experiment does not have.
void remove_outdated_rows(const Experiment& experiment, std::span<const SolveStatus> again,
                          const std::filesystem::path& folder, RunMonitor& monitor);

}  // namespace signorini
