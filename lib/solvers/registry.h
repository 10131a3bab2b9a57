#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/solver.h"

/// All solvers: the table in registry.cpp, and those of the plugins that were loaded (plugin/plugin_library.h). A
/// new solver of the tree is one file pair, its line in CMakeLists.txt, and its header and entry in registry.cpp.
namespace signorini {

struct SolverEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper, section, equation
  SolverTraits traits;
  std::function<std::unique_ptr<Solver>(const OptionMap& options)> create;
  std::function<std::vector<OptionDescription>()> describe;
};

/// Valid until the next `add_solver`.
std::span<const SolverEntry> solver_registry();
/// Of all of them, in that order.
std::vector<std::string> solver_names();
/// Null: there is none of that name.
const SolverEntry* find_solver(std::string_view name);
/// Before anything is solved, from one thread; the texts of the entry stay until the program ends. Its name is new.
void add_solver(SolverEntry entry);
/// Takes out what `add_solver` added; solvers that it made stay good. Before anything is solved, from one thread.
void remove_solver(std::string_view name);

/// Throws `UsageError` for an unknown name or option, with the nearest name, and for a retired option
/// (retired_options.h), with what to write instead.
/// With law = pyramid and frame = aligned or rotated the solver is wrapped so that it sees the turned problem.
std::unique_ptr<Solver> make_solver(std::string_view name, const OptionMap& options = {});

}  // namespace signorini
