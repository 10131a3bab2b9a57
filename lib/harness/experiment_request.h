#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "solvers/solver.h"

namespace signorini {

/// An experiment that is to be run.
struct ExperimentRequest {
  Experiment experiment;         ///< as `size` makes it
  std::filesystem::path config;  ///< its file
  std::string size = "quick";
  std::filesystem::path output = "results/out";  ///< OUT: holds OUT/<id>
  bool resume = false;                           ///< keep rows of the same program, experiment and inputs
  bool force = false;                            ///< replace results that are there
  std::vector<SolveStatus> again;  ///< with `resume`: groups with a row that ended so are made again
  bool skip_unreadable = false;    ///< damaged problem files and snapshots are told and left out
  bool rows_only = false;          ///< no tables of recordings and regions beside the rows
  std::optional<std::vector<std::string>>
      sessions;                           ///< of a merge: env.json of those whose rows are taken over
  std::filesystem::path test_data;        ///< where `optional_files` are looked for
  std::vector<std::string> command_line;  ///< for env.json
};

}  // namespace signorini
