#include "file_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/printable.h"
#include "scene/step_statistics.h"

namespace signorini {
namespace {

std::string range_text(const ValueRange& range, const char* format = "{:.0f}") {
  if (range.empty()) return "–";
  const std::string low = fmt::format(fmt::runtime(format), range.low);
  const std::string high = fmt::format(fmt::runtime(format), range.high);
  return low == high ? low : low + "–" + high;
}

std::string file_name(const FileSummary& file) {
  return std::filesystem::path(file.path).filename().string();
}

Json least(const ValueRange& range) { return range.empty() ? Json() : Json(range.low); }
Json most(const ValueRange& range) { return range.empty() ? Json() : Json(range.high); }

/// {"v_minus": {"unit": "m/s", "steps": 64}, …}: how many snapshots hold each.
Json starts_json(std::span<const SnapshotSummary> steps) {
  const StartCounts held = count_starts(steps);
  Json all = Json::object();
  for (std::size_t i = 0; i < held.size(); ++i)
    all[kStartQuantities[i].field] = {{"unit", kStartQuantities[i].unit}, {"steps", held[i]}};
  return all;
}

Json to_json(const SnapshotSummary& s) {
  return {{"step", s.step},
          {"kind", s.kind},
          {"spacedim", s.spacedim},
          {"contacts", s.contacts},
          {"dofs", s.dofs},
          {"regions", s.regions},
          {"largest_region", s.largest_region},
          {"regions_exact", s.points_exact},
          {"islands", s.islands},
          {"largest_island", s.largest_island},
          {"mu_min", least(s.mu)},
          {"mu_max", most(s.mu)},
          {"diagonal_ratio", s.diagonal_ratio},
          {"redundant", s.redundant},
          {"asymmetry", s.asymmetry},
          {"note", s.note}};
}

Json to_json(const StepTable& table) {
  Json columns = Json::object();
  for (const ColumnSummary& column : summarise_columns(table)) {
    columns[column.name] = {
        {"unit", column.unit},        {"least", least(column.range)},
        {"most", most(column.range)}, {"mean", column.range.empty() ? Json() : Json(column.mean())},
        {"first", column.first},      {"last", column.last}};
  }
  return {{"rows", table.rows.size()}, {"columns", columns}};
}

using Columns = std::vector<TextTable::Column>;

/// `before`, what `range_cells` says, `after`.
Columns with_ranges(Columns before, const Columns& after) {
  for (const char* title :
       {"contacts", "dofs", "regions", "largest", "islands", "largest", "μ", "diagonal", "asymmetry", "3m>n"})
    before.push_back({title, Align::right});
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

TextTable::Row range_cells(std::span<const SnapshotSummary> steps) {
  const SnapshotRanges all = ranges_of(steps);
  return {range_text(all.contacts),
          range_text(all.dofs),
          range_text(all.regions) + (all.points_exact ? "" : "~"),
          range_text(all.largest_region),
          range_text(all.islands),
          range_text(all.largest_island),
          range_text(all.mu, "{:.3g}"),
          range_text(all.diagonal_ratio, "{:.3g}"),
          range_text(all.asymmetry, "{:.2g}"),
          all.redundant ? "yes" : "no"};
}

bool is_planar(const FileSummary& file) { return !file.steps.empty() && file.steps.front().spacedim == 2; }

/// "dual", "dual, 2D"
std::string kind_text(const FileSummary& file) {
  if (file.steps.empty()) return "–";
  return file.steps.front().kind + (is_planar(file) ? ", 2D" : "");
}

TextTable::Row file_row(const FileSummary& file) {
  TextTable::Row row{file_name(file), kind_text(file), fmt::format("{}", file.steps.size())};
  for (TextTable::Cell& cell : range_cells(file.steps)) row.push_back(std::move(cell));
  row.emplace_back(bytes_text(static_cast<double>(file.bytes)));
  return row;
}

/// What the simulation of a recording went through; "–" for what its table does not have.
TextTable::Row simulation_row(const FileSummary& file, const StepTable& table) {
  const std::vector<ColumnSummary> columns = summarise_columns(table);
  const auto find = [&columns](std::string_view name) {
    return std::find_if(columns.begin(), columns.end(),
                        [name](const ColumnSummary& column) { return column.name == name; });
  };
  const auto show = [&](const char* name, auto&& text) -> std::string {
    const auto found = find(name);
    return found == columns.end() || found->range.empty() ? "–" : text(*found);
  };
  const auto highest = [](const ColumnSummary& c) { return fmt::format("{:.4g}", c.range.high); };
  const auto sum = [](const ColumnSummary& c) { return fmt::format("{:.0f}", c.sum); };
  double before = 0.0, after = 0.0;
  for (const char* kind : {"kinetic_energy", "elastic_energy", "potential_energy"}) {
    if (const auto found = find(kind); found != columns.end()) {
      before += found->first;
      after += found->last;
    }
  }
  return {file_name(file),
          fmt::format("{}", table.rows.size()),
          show("time", [](const ColumnSummary& c) { return seconds_text(c.last); }),
          show("contacts", highest),
          show("regions", highest),
          show("islands", highest),
          show("solves", sum),
          show("iterations", sum),
          show("detection_rounds", highest),
          show("halvings", highest),
          show("unresolved", sum),
          show("residual", [](const ColumnSummary& c) { return error_text(c.range.high); }),
          show(find("deepest_point") != columns.end() ? "deepest_point" : kOldDeepestPoint,
               [](const ColumnSummary& c) { return fmt::format("{:.3g} m", c.range.high); }),
          fmt::format("{:.4g} → {:.4g} J", before, after)};
}

}  // namespace

Json to_json(const FileSummary& file) {
  Json steps = Json::array();
  for (const SnapshotSummary& s : file.steps) steps.push_back(to_json(s));
  return {{"file", file.path},
          {"title", file.title},
          {"bytes", file.bytes},
          {"steps", steps},
          {"starts", starts_json(file.steps)},
          {"statistics", file.statistics ? to_json(*file.statistics) : Json()}};
}

std::string snapshots_text(const FileSummary& file) {
  TextTable table(with_ranges({{"step"}}, {}));
  for (const SnapshotSummary& s : file.steps) {
    TextTable::Row row = range_cells({&s, 1});
    row.insert(row.begin(), s.step);
    table.add(std::move(row));
  }
  return fmt::format("{}  {}{}\n{}\n", painted(printable(file.path), Colour::bold), printable(file.title),
                     is_planar(file) ? "  2D" : "", table.text());
}

std::string notes_text(const FileSummary& file) {
  std::string text;
  for (const NoteCount& found : count_notes(file.steps)) {
    text += file_name(file) + ": " + found.note;
    text += file.steps.size() > 1 ? fmt::format(" ({} of {} steps)\n", found.steps, file.steps.size()) : "\n";
  }
  return text;
}

std::string starts_text(const FileSummary& file) {
  const StartCounts held = count_starts(file.steps);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const StartQuantity& quantity = kStartQuantities[i];
    if (held[i] == 0) continue;
    std::string part(quantity.words);
    if (quantity.unit != "1") part += fmt::format(" [{}]", quantity.unit);
    if (held[i] < file.steps.size()) part += fmt::format(" ({} of {} steps)", held[i], file.steps.size());
    parts.push_back(std::move(part));
  }
  return parts.empty() ? "" : fmt::format("{}: starts: {}\n", file_name(file), fmt::join(parts, ", "));
}

FileTables::FileTables()
    : files_(with_ranges({{"file"}, {"kind"}, {"steps", Align::right}}, {{"size", Align::right}})),
      simulations_({{"simulation"},
                    {"steps", Align::right},
                    {"time", Align::right},
                    {"contacts ≤", Align::right},
                    {"regions ≤", Align::right},
                    {"islands ≤", Align::right},
                    {"solves", Align::right},
                    {"iterations", Align::right},
                    {"rounds ≤", Align::right},
                    {"halvings ≤", Align::right},
                    {"unresolved", Align::right},
                    {"residual ≤", Align::right},
                    {"deepest point ≤", Align::right},
                    {"energy"}}) {}

void FileTables::add(const FileSummary& file) {
  files_.add(file_row(file));
  if (file.statistics) simulations_.add(simulation_row(file, *file.statistics));
}

std::string FileTables::text() const {
  if (files_.empty()) return {};
  return files_.text() + (simulations_.empty() ? "" : "\n" + simulations_.text());
}

}  // namespace signorini
