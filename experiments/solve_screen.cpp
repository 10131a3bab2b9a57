#include "solve_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/median.h"
#include "base/printable.h"

namespace signorini {
namespace {

Colour status_colour(SolveStatus status) {
  if (status == SolveStatus::converged) return Colour::green;
  return status == SolveStatus::unsupported ? Colour::yellow : Colour::red;
}

/// What the solver counted, without what it does not do: "12 products with M, 3 restarts".
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
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  return text.empty() ? "no work counted" : text;
}

TextTable table_for(const std::vector<SolverVariant>& variants, bool many_threads) {
  std::size_t solver = 0;
  for (const SolverVariant& variant : variants) solver = std::max(solver, variant.label.size());
  return TextTable({{"solver", Align::left, solver},
                    {many_threads ? "regions×threads" : "regions", Align::left, 13},
                    {"status", Align::left, 15},
                    {"iterations", Align::right},
                    {"residual", Align::right, 8},
                    {"setup", Align::right, 7},
                    {"solve", Align::right, 7}});
}

void print_below(const std::string& text, Colour colour = Colour::dim) {
  for (const std::string& line : wrapped_lines(text, text_columns() - 4))
    print(painted("    " + line, colour) + "\n");
}

/// The snapshot of a run.
std::string heading_of(const RunRecord& run) {
  const std::string file = std::filesystem::path(run.file).filename().string();
  return fmt::format("{}{}, {} contact{}", printable(file), run.step.empty() ? "" : ", step " + run.step,
                     run.contacts, run.contacts == 1 ? "" : "s");
}

}  // namespace

SolveTable::SolveTable(const std::vector<SolverVariant>& variants, bool many_threads, bool verbose)
    : table_(table_for(variants, many_threads)), many_threads_(many_threads), verbose_(verbose) {}

void SolveTable::show(std::span<const RunRecord> repetitions) {
  const RunRecord& r = repetitions.front();
  if (const std::string heading = heading_of(r); heading != heading_) {
    print((heading_.empty() ? "" : "\n") + painted(heading, Colour::bold) + "\n" + table_.header());
    heading_ = heading;
  }
  std::vector<double> setup, solve;
  for (const RunRecord& one : repetitions) {
    setup.push_back(one.setup_seconds);
    solve.push_back(one.solve_seconds);
  }
  const bool ran = r.status != SolveStatus::unsupported && r.status != SolveStatus::failed;
  std::string mode =
      r.region_mode == "none" || !ran ? r.region_mode : fmt::format("{} ({})", r.region_mode, r.regions);
  if (many_threads_) mode += fmt::format(" ×{}", r.threads);
  TextTable::Row row{r.label, mode};
  row.emplace_back(std::string(enum_name(r.status)), status_colour(r.status));
  if (ran) {
    row.insert(row.end(), {fmt::format("{}", r.iterations), error_text(r.errors.residual),
                           seconds_text(median_of(setup)), seconds_text(median_of(solve))});
  }
  print(table_.line(row));
  if ((verbose_ || r.status != SolveStatus::converged) && !r.message.empty()) print_below(r.message);
  if (verbose_ && ran) print_below(work_text(r));
}

SolveScreen::SolveScreen(std::size_t files, const SolvePlan& plan, bool json, bool verbose)
    : json_(json),
      table_(plan.variants, std::ranges::any_of(plan.threads, [](int threads) { return threads != 1; }),
             verbose),
      progress_("solving", static_cast<long long>(files)) {}

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
