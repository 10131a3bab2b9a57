#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "json_output.h"

/// What an experiment found, in short: a line per solver, region mode and number of threads.
namespace signorini {

struct RunSummaryLine {
  std::string solver;  ///< the experiment's label
  std::string regions;
  int threads = 1;
  std::size_t runs = 0, converged = 0, unsupported = 0;
  /// Medians over the converged runs; NaN without one.
  double iterations = 0.0, setup_seconds = 0.0, solve_seconds = 0.0;
};

/// From the rows of one protocol: "time", else "converge", else "self-stopped".
std::vector<RunSummaryLine> summarise_runs(const std::filesystem::path& runs_csv);

void print_run_summary(const std::vector<RunSummaryLine>& lines);
Json to_json(const std::vector<RunSummaryLine>& lines);

}  // namespace signorini
