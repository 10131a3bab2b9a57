#include "harness/outdated_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "harness/run_group.h"
#include "harness/run_record.h"
#include "harness/run_table.h"
#include "harness/trace_store.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// Options without the code that they end with; `code` is "" for solvers of the tree.
std::pair<std::string, std::string> without_code(const std::string& options) {
  constexpr std::string_view kCode = "plugin=";
  const std::size_t last = options.rfind(';');
  const std::size_t at = last == std::string::npos ? 0 : last + 1;
  if (!std::string_view(options).substr(at).starts_with(kCode)) return {options, ""};
  return {options.substr(0, at), options.substr(at + kCode.size())};
}

/// Which solvers with which options run now, and from which code.
class PresentCode {
 public:
  explicit PresentCode(const Experiment& experiment) {
    for (const SolverVariant& variant : experiment.solvers) {
      const std::string options = make_solver(variant.name, variant.options)->options();
      const auto [own, code] = without_code(options);
      if (code.empty()) continue;
      solvers_.insert({variant.name, own});
      complete_.insert({variant.name, options});
    }
  }
  bool empty() const { return solvers_.empty(); }
  /// A row or curve.
  template <class Run>
  bool outdates(const Run& run) const {
    const auto [own, code] = without_code(run.options);
    return !code.empty() && solvers_.contains({run.solver, own}) &&
           !complete_.contains({run.solver, run.options});
  }

 private:
  std::set<std::pair<std::string, std::string>> solvers_, complete_;
};

/// What row and curve of a group agree in.
template <class Run>
std::string group_of(const Run& run) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", run.file, run.step, run.solver, run.options, run.tolerance);
}

/// The groups of the experiment's solvers with a row that ended in one of the ways of `again`.
std::set<std::string> groups_that_ended(const Experiment& experiment, std::span<const SolveStatus> again,
                                        std::span<const RunRecord> rows) {
  std::set<std::pair<std::string, std::string>> asked;
  for (const SolverVariant& variant : experiment.solvers)
    asked.insert({variant.name, make_solver(variant.name, variant.options)->options()});
  std::set<std::string> groups;
  for (const RunRecord& row : rows) {
    if (std::ranges::find(again, row.status) != again.end() && asked.contains({row.solver, row.options}))
      groups.insert(group_of(row));
  }
  return groups;
}

/// Groups of the experiment's solvers with some of their timings only: a kill tore off the others.
std::set<std::string> groups_torn_off(const Experiment& experiment, std::span<const RunRecord> rows) {
  struct Timed {
    int repetitions = 0;
    SolveStatus first = SolveStatus::converged;
  };
  std::map<std::string, std::map<std::pair<std::string, int>, Timed>> timed;  // runs of each group
  std::map<std::string, std::size_t> wanted;                                  // their number
  for (const RunRecord& row : rows) {
    const auto variant = std::ranges::find(experiment.solvers, row.label, &SolverVariant::label);
    if (row.protocol != "time" || variant == experiment.solvers.end()) continue;
    Timed& one = timed[group_of(row)][{row.region_mode, row.threads}];
    ++one.repetitions;
    if (row.repetition == 0) one.first = row.status;
    wanted[group_of(row)] = experiment.regions.size() * experiment.threads_of(*variant).size();
  }
  std::set<std::string> groups;
  for (const auto& [group, runs] : timed) {
    const bool whole =
        runs.size() >= wanted[group] && std::ranges::all_of(runs, [&](const auto& run) {
          return is_timed_whole(run.second.repetitions, experiment.repetitions, run.second.first);
        });
    if (!whole) groups.insert(group);
  }
  return groups;
}

/// Curves in a file first, then in its parts: a kill leaves too many, which the next resume takes out.
template <class Outdates>
void remove_curves(const fs::path& file, Outdates outdates) {
  std::vector<ConvergenceTrace> curves = TraceStore::read(file);
  if (std::erase_if(curves, outdates) == 0) return;
  write_traces(file, curves);
  std::error_code error;
  fs::remove_all(file.string() + ".parts", error);
}

std::string told(std::size_t of_other_code, std::size_t of_groups, std::size_t of_torn) {
  std::vector<std::string> parts;
  if (of_torn > 0) parts.push_back(fmt::format("{} timings of groups that lack some", of_torn));
  if (of_other_code > 0) parts.push_back(fmt::format("{} rows of other code of a solver", of_other_code));
  if (of_groups > 0) parts.push_back(fmt::format("{} rows of groups that ended as --again says", of_groups));
  return fmt::format("{}", fmt::join(parts, " and "));
}

}  // namespace

void remove_outdated_rows(const Experiment& experiment, std::span<const SolveStatus> again,
                          const fs::path& folder, RunMonitor& monitor) {
  const fs::path table = folder / "runs.csv";
  const PresentCode present(experiment);
  std::error_code error;
  if (!fs::exists(table, error)) return;
  std::vector<RunRecord> rows = read_run_table_content(table).records;
  const std::set<std::string> torn = groups_torn_off(experiment, rows);
  if (present.empty() && again.empty() && torn.empty()) return;
  const std::set<std::string> groups = groups_that_ended(experiment, again, rows);
  remove_curves(folder / "trace.h5", [&](const ConvergenceTrace& curve) {
    return present.outdates(curve) || groups.contains(group_of(curve));
  });
  const std::size_t of_other_code =
      std::erase_if(rows, [&](const RunRecord& row) { return present.outdates(row); });
  const std::size_t of_groups =
      std::erase_if(rows, [&](const RunRecord& row) { return groups.contains(group_of(row)); });
  const std::size_t of_torn = std::erase_if(
      rows, [&](const RunRecord& row) { return row.protocol == "time" && torn.contains(group_of(row)); });
  if (of_other_code + of_groups + of_torn == 0) return;
  const fs::path before = fs::path(table).replace_extension(".outdated.csv");
  write_text_file(before, read_input_file(table, "table"));
  std::string text = run_record_header() + "\n";
  for (const RunRecord& row : rows) text += run_record_row(row) + "\n";
  write_text_file(table, text);
  monitor.message(fmt::format("  {}: {} are made again ({} keeps them)", table.filename().string(),
                              told(of_other_code, of_groups, of_torn), before.filename().string()));
}

}  // namespace signorini
