#pragma once

#include <filesystem>

#include "base/run_monitor.h"
#include "harness/experiment.h"

/// Rows of solvers from outside of the tree name their code (`plugin=FILE:DIGEST`, the last of the options). When the code
/// has changed a resume makes their runs again; the rows and curves of the code before would stand beside the new ones
/// under the same label.
namespace signorini {

/// Takes rows and curves out of `folder` that differ from a variant of the experiment in its code alone. runs.outdated.csv
/// keeps the table as it was. Nothing happens to rows of solvers that the experiment does not have.
void remove_outdated_rows(const Experiment& experiment, const std::filesystem::path& folder,
                          RunMonitor& monitor);

}  // namespace signorini
