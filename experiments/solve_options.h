#pragma once

#include <CLI/App.hpp>

#include "harness/solve_plan.h"

namespace signorini {

/// What `solve` and `compare` have other defaults of, as their help states it; the values stand in the request.
struct SolveDefaults {
  const char *solvers, *time_limit, *repetitions;
};

/// FILE, --solver, --plugin, --set, --regions, --threads, --tolerance, --max-iterations, --time-limit, --repetitions:
/// which runs are made.
void add_solve_options(CLI::App& command, SolveRequest& request, const SolveDefaults& defaults);

/// An option that may be repeated and takes comma lists (`list_entries`).
CLI::Option* add_list(CLI::App& command, const char* names, std::vector<std::string>& values,
                      const char* help, const char* type);

}  // namespace signorini
