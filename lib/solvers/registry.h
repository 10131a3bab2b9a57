#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/solver.h"

/// All solver variants, as one constexpr table in registry.cpp. A new solver is one file pair and one line
/// there.
namespace signorini {

struct SolverEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper, section, equation
  SolverTraits traits;
  std::unique_ptr<Solver> (*create)(const OptionMap& options);
  std::vector<OptionDescription> (*describe)();
};

std::span<const SolverEntry> solver_registry();

/// Throws `UsageError` for an unknown name or option, with the nearest name, and for a retired option
/// (retired_options.h), with what to write instead.
/// With law = pyramid and frame = aligned the solver is wrapped so that it sees the turned problem.
std::unique_ptr<Solver> make_solver(std::string_view name, const OptionMap& options = {});

}  // namespace signorini
