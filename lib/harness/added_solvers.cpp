#include "harness/added_solvers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "harness/solve_plan.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

/// As a variant of an experiment's file is called that says no label. One that the experiment uses is not used again.
std::string label_of(const SolverVariant& variant, const Experiment& experiment) {
  std::string label = variant.name;
  for (const auto& [key, value] : variant.options) label += fmt::format(" {}={}", key, value);
  const auto is_used = [&] {
    return std::ranges::any_of(experiment.solvers,
                               [&](const SolverVariant& other) { return other.label == label; });
  };
  while (is_used()) label += " (added)";
  return label;
}

}  // namespace

void add_solvers(const std::vector<std::string>& solvers, const std::vector<std::string>& settings,
                 Experiment& experiment) {
  if (!experiment.converge && !experiment.time && !experiment.self_stopped)
    throw_usage("{}: has no protocols, its recordings are all there is: no solver can be added",
                experiment.id);
  SolveRequest asked;
  asked.solvers = solvers;
  asked.settings = settings;
  for (SolverVariant& added : plan_solves(asked).variants) {
    const std::string options = make_solver(added.name, added.options)->options();
    const bool is_there = std::ranges::any_of(experiment.solvers, [&](const SolverVariant& own) {
      return own.name == added.name && make_solver(own.name, own.options)->options() == options;
    });
    if (is_there) continue;
    added.label = label_of(added, experiment);
    experiment.solvers.push_back(std::move(added));
  }
}

}  // namespace signorini
