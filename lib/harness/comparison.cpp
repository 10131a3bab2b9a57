#include "harness/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "harness/result_head.h"
#include "harness/strict_table.h"
#include "harness/text_file.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// Absolute paths, each file once.
std::vector<fs::path> files_of(const std::vector<std::string>& given) {
  std::vector<fs::path> files;
  for (const std::string& name : given) {
    const fs::path file = fs::absolute(name).lexically_normal();
    std::error_code error;
    if (!fs::exists(file, error)) throw_input("{}: no such file", name);
    if (!fs::is_regular_file(file, error)) throw_input("{}: not a regular file", name);
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  }
  return files;
}

template <class List, class Text>
toml::array array_of(const List& list, Text&& text) {
  toml::array values;
  for (const auto& one : list) values.push_back(text(one));
  return values;
}

toml::array solver_tables(const std::vector<SolverVariant>& variants) {
  toml::array tables;
  for (const SolverVariant& variant : variants) {
    toml::table table;
    table.insert("name", variant.name);
    for (const auto& [key, value] : variant.options) table.insert(key, value);
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string title_of(const std::vector<fs::path>& files) {
  const std::string first = files.front().filename().string();
  return files.size() == 1 ? "Comparison on " + first
                           : fmt::format("Comparison on {} and {} more", first, files.size() - 1);
}

/// The run.toml. Limits, amounts and names are those of an experiment's file.
std::string text_of(const ComparisonRequest& request, const SolvePlan& plan,
                    const std::vector<fs::path>& files) {
  const SolveRequest& asked = request.solve;
  toml::table root;
  root.insert("artefact", title_of(files));
  root.insert("files", array_of(files, [](const fs::path& file) { return file.string(); }));
  root.insert("protocols", request.traced ? toml::array{"converge", "time"} : toml::array{"self-stopped"});
  root.insert("regions", array_of(plan.modes, [](RegionMode mode) { return std::string(enum_name(mode)); }));
  root.insert("threads", array_of(plan.threads, [](int n) { return n; }));
  root.insert("tolerances", toml::array{asked.tolerance});
  root.insert("max_steps", request.snapshots);
  root.insert("repetitions", asked.repetitions);
  root.insert("max_iterations", asked.max_iterations);
  root.insert("time_limit", asked.time_limit);
  root.insert("solvers", solver_tables(plan.variants));
  std::ostringstream text;
  text.exceptions(std::ios::badbit);  // a lack of memory would only cut the text
  text << root << "\n";
  return text.str();
}

}  // namespace

void refuse_other_files(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || fs::is_empty(folder, error)) return;
  const ResultHead head = ResultHead::of(text_or_nothing(folder / "run.toml"));
  if (head.program.empty() && !fs::exists(folder / "runs.csv", error))
    throw_usage("{}: holds other files and no results; give a new folder", folder.string());
}

fs::path plain_folder(const fs::path& folder) {
  const fs::path plain = fs::absolute(folder).lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

ExperimentRequest comparison(const ComparisonRequest& request) {
  const SolvePlan plan = plan_solves(request.solve);
  const std::vector<fs::path> files = files_of(request.solve.files);
  const fs::path folder = plain_folder(request.folder);
  if (!folder.has_filename()) throw_usage("{}: is no folder for results", folder.string());
  refuse_other_files(folder);
  ExperimentRequest made;
  made.config = folder / "run.toml";
  made.experiment = parse_experiment(text_of(request, plan, files), made.config, made.size);
  made.experiment.id = folder.filename().string();
  made.output = folder.parent_path();
  made.resume = request.resume;
  made.force = request.force;
  made.skip_unreadable = true;
  made.command_line = request.command_line;
  return made;
}

}  // namespace signorini
