#include "harness/outdated_rows.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/input_file.h"
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

void remove_rows(const PresentCode& present, const fs::path& table, RunMonitor& monitor) {
  std::error_code error;
  if (!fs::exists(table, error)) return;
  RunTableContent content = read_run_table_content(table);
  const auto removed =
      std::erase_if(content.records, [&](const RunRecord& row) { return present.outdates(row); });
  if (removed == 0) return;
  const fs::path before = fs::path(table).replace_extension(".outdated.csv");
  write_text_file(before, read_input_file(table, "table"));
  std::string text = run_record_header() + "\n";
  for (const RunRecord& record : content.records) text += run_record_row(record) + "\n";
  write_text_file(table, text);
  monitor.message(
      fmt::format("  {}: {} rows are of other code of a solver and are made again ({} keeps them)",
                  table.filename().string(), removed, before.filename().string()));
}

/// The file first, then its parts: a kill leaves too many curves, which the next resume takes out.
void remove_curves(const PresentCode& present, const fs::path& file) {
  std::vector<ConvergenceTrace> curves = TraceStore::read(file);
  if (std::erase_if(curves, [&](const ConvergenceTrace& curve) { return present.outdates(curve); }) == 0)
    return;
  write_traces(file, curves);
  std::error_code error;
  fs::remove_all(file.string() + ".parts", error);
}

}  // namespace

void remove_outdated_rows(const Experiment& experiment, const fs::path& folder, RunMonitor& monitor) {
  const PresentCode present(experiment);
  if (present.empty()) return;
  remove_curves(present, folder / "trace.h5");
  remove_rows(present, folder / "runs.csv", monitor);
}

}  // namespace signorini
