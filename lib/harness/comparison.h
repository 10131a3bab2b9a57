#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/experiment_request.h"
#include "harness/solve_plan.h"

/// `signorini compare`: an experiment that a command line describes. Its run.toml is written from the command line and
/// read back as any other, so that rows, curves, provenance and resuming are those of harness/experiment_run.h, and
/// `signorini run DIR/run.toml` repeats it.
namespace signorini {

struct ComparisonRequest {
  SolveRequest solve;            ///< files, solvers, settings, regions, threads, limits, repetitions
  std::filesystem::path folder;  ///< DIR: what is otherwise OUT/<id>
  int snapshots = 10;            ///< of a file at most, evenly spread
  bool traced = true;            ///< protocols converge and time; otherwise self-stopped alone
  bool resume = false, force = false;
  std::vector<std::string> command_line;
};

/// Loads plugins; files are looked for, not read. `UsageError` for names and
/// for a folder that holds something else than results, `InputError` for a file that is not there.
ExperimentRequest comparison(const ComparisonRequest& request);

/// `UsageError` for a folder that holds other files and no results: a report would mix with them.
void refuse_other_files(const std::filesystem::path& folder);

/// The absolute path without "." and ".." and without a separator at its end.
std::filesystem::path plain_folder(const std::filesystem::path& folder);

}  // namespace signorini
