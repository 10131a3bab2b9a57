#include "solve_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "run_summary.h"

namespace signorini {
namespace {

Colour status_colour(SolveStatus status) {
  if (status == SolveStatus::converged) return Colour::green;
  return status == SolveStatus::unsupported ? Colour::yellow : Colour::red;
}

/// What the solver counted, without what it does not do: "    12 products with M, 3 restarts".
std::string work_text(const RunRecord& r) {
  const SolveCounters& c = r.counters;
  std::string text;
  const std::pair<long long, const char*> counted[] = {{r.products, "products with the whole of W or M"},
                                                       {c.mass_products, "products with M"},
                                                       {c.direction_products, "products with H"},
                                                       {c.contact_sweeps, "sweeps over contacts"},
                                                       {c.triangular_solves, "solves with a factor"},
                                                       {c.factorisations, "factorisations"},
                                                       {c.evaluations, "checks of all contact states"},
                                                       {c.state_changes, "changes of a contact state"},
                                                       {c.restarts, "restarts"},
                                                       {c.guards, "safeguarded steps"},
                                                       {c.relinearisations, "re-linearisations"}};
  for (const auto& [count, what] : counted) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "    " : ", ", count, what);
  }
  return text.empty() ? "    no work counted" : text;
}

TextTable table_for(const std::vector<std::string>& files, const std::vector<SolverVariant>& variants) {
  std::size_t file = 0, solver = 0;
  for (const std::string& path : files)
    file = std::max(file, text_width(std::filesystem::path(path).filename().string()));
  for (const SolverVariant& variant : variants) solver = std::max(solver, variant.label.size());
  return TextTable({{"file", Align::left, file},
                    {"step", Align::right, 6},
                    {"contacts", Align::right},
                    {"solver", Align::left, solver},
                    {"regions", Align::left, 13},
                    {"threads", Align::right},
                    {"status", Align::left, 15},
                    {"iterations", Align::right},
                    {"residual", Align::right, 8},
                    {"setup", Align::right, 7},
                    {"solve", Align::right, 7}});
}

}  // namespace

SolveTable::SolveTable(const std::vector<std::string>& files, const std::vector<SolverVariant>& variants,
                       bool verbose)
    : table_(table_for(files, variants)), verbose_(verbose) {}

void SolveTable::show(std::span<const RunRecord> repetitions) {
  if (!header_shown_) print(table_.header());
  header_shown_ = true;
  const RunRecord& r = repetitions.front();
  std::vector<double> setup, solve;
  for (const RunRecord& one : repetitions) {
    setup.push_back(one.setup_seconds);
    solve.push_back(one.solve_seconds);
  }
  const bool ran = r.status != SolveStatus::unsupported && r.status != SolveStatus::failed;
  const std::string mode =
      r.region_mode == "none" || !ran ? r.region_mode : fmt::format("{} ({})", r.region_mode, r.regions);
  TextTable::Row row{std::filesystem::path(r.file).filename().string(),
                     r.step,
                     fmt::format("{}", r.contacts),
                     r.label,
                     mode,
                     fmt::format("{}", r.threads),
                     {std::string(enum_name(r.status)), status_colour(r.status)}};
  if (ran) {
    row.insert(row.end(), {fmt::format("{}", r.iterations), error_text(r.errors.residual),
                           seconds_text(median(setup)), seconds_text(median(solve))});
  } else {
    row.emplace_back(r.message, Colour::dim);
  }
  print(table_.line(row));
  if (ran && r.status != SolveStatus::converged && !r.message.empty())
    print(painted("    " + r.message, Colour::dim) + "\n");
  if (verbose_ && ran) print(painted(work_text(r), Colour::dim) + "\n");
}

SolveScreen::SolveScreen(const std::vector<std::string>& files, const std::vector<SolverVariant>& variants,
                         bool json, bool verbose)
    : json_(json),
      table_(files, variants, verbose),
      progress_("solving", static_cast<long long>(files.size())) {}

void SolveScreen::on_combination(std::size_t file, const std::string& what) {
  progress_.update(static_cast<long long>(file), what);
}

void SolveScreen::on_run(const RunRecord& run) {
  if (json_) rows_.push_back(Json::parse(run_record_json(run)));
}

void SolveScreen::on_repetitions(std::span<const RunRecord> runs) {
  progress_.clear();
  if (!json_) table_.show(runs);
}

void SolveScreen::print_rows() const {
  if (json_) print_json(rows_);
}

}  // namespace signorini
