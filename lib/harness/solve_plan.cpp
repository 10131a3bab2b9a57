#include "harness/solve_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/number_rule.h"
#include "base/options.h"
#include "base/text.h"
#include "harness/name_patterns.h"
#include "harness/run_table.h"
#include "solvers/plugin/plugin_library.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

void apply_settings(const std::vector<std::string>& settings, std::vector<SolverVariant>& variants) {
  std::vector<std::string> names;
  for (const SolverVariant& variant : variants) names.push_back(variant.name);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::size_t dot = setting.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals || dot == 0) {
      throw_usage("--set {}: must look like SOLVER.option=value, e.g. --set pgs.law=pyramid", setting);
    }
    const std::string name = setting.substr(0, dot);
    const auto variant = std::find_if(variants.begin(), variants.end(),
                                      [&name](const SolverVariant& v) { return v.name == name; });
    if (variant == variants.end()) {
      throw_usage("--set {}: solver '{}' is not among those asked for{}", setting, name,
                  suggestion(name, names));
    }
    const std::string value = setting.substr(equals + 1);
    const auto [given, fresh] = variant->options.emplace(setting.substr(dot + 1, equals - dot - 1), value);
    if (!fresh) {
      throw_usage("--set: {} is given twice ({}, {}); give it once", setting.substr(0, equals), given->second,
                  value);
    }
  }
}

/// A step without leading zeros: "120.2" for "000120.2".
std::string bare(const std::string& step) {
  const std::size_t first = step.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  return (step[first] == '.' ? "0" : "") + step.substr(first);
}

}  // namespace

SolvePlan plan_solves(const SolveRequest& request) {
  SolvePlan plan;
  for (const std::string& file : request.plugins) load_solver_plugin(file);
  for (const std::string& name :
       choose_names(list_entries(request.solvers, "--solver"), "--solver", solver_names()))
    plan.variants.push_back({name, name, {}});
  apply_settings(request.settings, plan.variants);
  for (const SolverVariant& variant : plan.variants) make_solver(variant.name, variant.options);
  for (const std::string& mode : list_entries(request.regions, "--regions"))
    plan.modes.push_back(parse_enum<RegionMode>(mode, "--regions"));
  for (const std::string& text : list_entries(request.threads, "--threads"))
    plan.threads.push_back(static_cast<int>(
        parse_integer_option("--threads", text, {.least = 1, .most = 1024, .example = "2"})));
  plan.matrix = parse_enum<MatrixReading>(request.matrix, "--matrix");
  plan.limits = {request.tolerance, request.max_iterations,
                 request.time_limit > 0.0 ? request.time_limit : std::numeric_limits<double>::infinity(),
                 request.cancelled};
  if (!request.solution.empty() && (plan.variants.size() > 1 || request.files.size() > 1)) {
    throw_usage("--solution {}: holds one answer; ask for one file and one solver", request.solution);
  }
  return plan;
}

std::vector<std::string> list_entries(const std::vector<std::string>& given, std::string_view option) {
  std::vector<std::string> entries;
  for (const std::string& text : given) {
    for (const std::string& entry : split(text, ',')) {
      if (trim(entry).empty()) throw_usage("{} {}: has an empty entry", option, text);
      entries.emplace_back(trim(entry));
    }
  }
  return entries;
}

std::vector<std::string> choose_steps(const ProblemFile& file, const std::vector<std::string>& wanted) {
  const std::vector<std::string>& held = file.steps();
  const std::vector<std::string> entries = list_entries(wanted, "--step");
  if (entries.empty()) return held;
  std::vector<std::string> chosen;
  for (const std::string& step : entries) {
    const auto found =
        std::find_if(held.begin(), held.end(), [&](const std::string& s) { return bare(s) == bare(step); });
    if (found == held.end()) {
      throw_usage("--step {}: {} has no step '{}'; {}", step, file.path().string(), step,
                  held.empty()
                      ? std::string("it holds no steps")
                      : fmt::format("it holds {} from {} to {}", held.size(), held.front(), held.back()));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

OutputPlan outputs_of(const SolveRequest& request) {
  OutputPlan plan;
  plan.inputs.assign(request.files.begin(), request.files.end());
  plan.inputs.insert(plan.inputs.end(), request.plugins.begin(), request.plugins.end());
  if (request.replace) plan.existing = ExistingOutput::replace;
  const auto add = [&](const char* option, const std::string& path, bool in_parts) {
    if (path.empty()) return;
    PlannedOutput output{option, path, {provenance_of(path)}};
    if (in_parts) output.beside.push_back(partial_of(path));
    if (path == request.csv) output.beside.push_back(schema_of(path));
    plan.outputs.push_back(std::move(output));
  };
  add("--csv", request.csv, true);
  add("--solution", request.solution, false);
  add("--trace", request.trace, true);
  return plan;
}

std::filesystem::path provenance_of(const std::filesystem::path& output) {
  return output.string() + ".env.json";
}

std::filesystem::path partial_of(const std::filesystem::path& output) { return output.string() + ".partial"; }

}  // namespace signorini
