#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/experiment_run.h"

namespace signorini {

struct Program;

/// The options that `run` and `reproduce` share.
struct SessionOptions {
  std::string size = "quick", out = "results/out";
  bool resume = false, force = false;
  std::vector<std::string> again;    ///< with `resume`: names of statuses whose runs are made again
  std::vector<std::string> solvers;  ///< of each experiment, as harness/name_patterns.h says; empty = all
};

/// Reads and checks all experiments, so that a mistake in the last one is told before the first has run. `configs`: their
/// files.
std::vector<ExperimentRequest> make_requests(const Program& program,
                                             const std::vector<std::filesystem::path>& configs,
                                             const SessionOptions& options);

/// Runs them one by one, all their result folders claimed before; `before` and `after` each.
void run_session(const Program& program, const std::vector<ExperimentRequest>& requests,
                 const std::function<void(const ExperimentRequest&)>& before,
                 const std::function<void(const ExperimentRequest&, const ExperimentResult&)>& after);

}  // namespace signorini
