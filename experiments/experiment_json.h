#pragma once

#include <string>
#include <vector>

#include "harness/experiment_run.h"
#include "json_output.h"
#include "run_summary.h"

namespace signorini {

/// An experiment that was run: id, folder, counts of its rows, seconds, and the summary table.
Json to_json(const std::string& id, const ExperimentResult& result,
             const std::vector<RunSummaryLine>& summary);

}  // namespace signorini
