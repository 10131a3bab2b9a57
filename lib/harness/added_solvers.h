#pragma once

#include <string>
#include <vector>

#include "harness/experiment.h"

/// Solvers that run beside those of an experiment without being part of it: its file, and what a resume compares, stay
/// the same, so that rows of the experiment and of added solvers are made in any order and by different commands.
namespace signorini {

/// `solvers`: names and patterns (harness/name_patterns.h); `settings`: SOLVER.option=value. Those that the experiment
/// has with the same options are left out. `UsageError` for names and options that do not exist and for an experiment
/// without protocols: there are no solves.
void add_solvers(const std::vector<std::string>& solvers, const std::vector<std::string>& settings,
                 Experiment& experiment);

}  // namespace signorini
