#include "campaign/campaign.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <sstream>

#include "base/check.h"
#include "base/csv_text.h"
#include "base/input_file.h"
#include "base/text.h"
#include "harness/run_table.h"
#include "harness/strict_table.h"
#include "harness/text_file.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlan = "plan.toml";

std::string csv_line(std::initializer_list<std::string> fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + csv_field(field);
  return line + "\n";
}

/// The rows of a table of these columns; each goes to `take`, whose errors get file and line.
void read_table(const fs::path& path, const std::string& header,
                const std::function<void(const CsvLine&)>& take) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw_input("{}: no such file; 'signorini plan' makes it", path.string());
  const std::vector<CsvLine> lines = parse_csv(text_or_nothing(path));
  const auto columns = static_cast<std::size_t>(std::ranges::count(header, ',')) + 1;
  if (lines.empty() || fmt::format("{}\n", fmt::join(lines[0], ",")) != header)
    throw_input("{}: line 1: not the columns of this version; 'signorini plan' makes it again",
                path.string());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    try {
      if (lines[i].size() != columns) throw_usage("{} columns instead of {}", lines[i].size(), columns);
      take(lines[i]);
    } catch (const UsageError& wrong) {
      throw_input("{}: line {}: {}", path.string(), i + 1, wrong.what());
    }
  }
}

const std::string kRecordingsHeader = "recording,scene,seconds,basis\n";
const std::string kCellsHeader = fmt::format("{},regions,threads,seconds,basis\n", kCellColumns);

double read_seconds(const std::string& text) {
  const double seconds = parse_double(text, "seconds");
  if (!std::isfinite(seconds) || seconds < 0.0) throw_usage("seconds: {} is no length of time", text);
  return seconds;
}

}  // namespace

std::string cell_fields(const std::string& experiment, const RunCell& cell) {
  std::string line = csv_line({experiment, cell.file, cell.step, fmt::format("{}", cell.contacts),
                               cell.solver, cell.label, cell.options, exact_text(cell.tolerance)});
  line.pop_back();  // its line feed
  return line;
}

RunCell parse_cell_fields(std::span<const std::string> fields) {
  return {fields[1],
          fields[2],
          static_cast<int>(parse_integer(fields[3], "contacts")),
          fields[4],
          fields[6],
          fields[5],
          parse_double(fields[7], "tolerance")};
}

std::string cell_key(const std::string& experiment, const RunCell& cell) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", experiment, cell.file, cell.step, cell.solver,
                     cell.options, exact_text(cell.tolerance));
}

bool is_campaign(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kPlan, error);
}

void write_campaign(const Campaign& campaign) {
  toml::array experiments;
  for (const PlannedExperiment& one : campaign.experiments)
    experiments.push_back(toml::table{{"id", one.id}, {"config", one.config}});
  const toml::table table{{"size", campaign.size},
                          {"program", campaign.program},
                          {"unit", std::string(enum_name(campaign.unit))},
                          {"threads", campaign.threads},
                          {"experiments", experiments}};
  std::ostringstream text;
  text.exceptions(std::ios::badbit);  // a lack of memory would only cut the text
  text << "# A campaign of signorini: see 'signorini plan --help'.\n" << table << "\n";
  write_text_file(campaign.folder / kPlan, text.str());
}

Campaign read_campaign(const fs::path& folder) {
  const fs::path path = folder / kPlan;
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw_input("{}: no campaign, {} is not there; 'signorini plan ID... -o {}' makes one", folder.string(),
                kPlan, folder.string());
  try {
    const toml::table table = toml::parse(read_input_file(path, "plan", kMostConfigBytes), path.string());
    StrictTable strict(table, path.string(), "");
    Campaign campaign;
    campaign.folder = folder;
    std::string unit;
    if (!strict.read("size", campaign.size)) strict.missing("size");
    if (!strict.read("program", campaign.program)) strict.missing("program");
    if (!strict.read("unit", unit)) strict.missing("unit");
    campaign.unit = parse_enum<ShardUnit>(unit, strict.place(*table.get("unit"), "unit"));
    if (!strict.read("threads", campaign.threads)) strict.missing("threads");
    require_positive(strict, "threads", campaign.threads);
    const toml::node* list = strict.find("experiments");
    if (list == nullptr) strict.missing("experiments");
    if (list->as_array() == nullptr) strict.fail(*list, "experiments", "must be a list of tables");
    for (const toml::node& node : *list->as_array()) {
      if (node.as_table() == nullptr) strict.fail(node, "experiments", "must be a list of tables");
      StrictTable one(*node.as_table(), path.string(), "experiments.");
      PlannedExperiment experiment;
      if (!one.read("id", experiment.id)) one.missing("id");
      if (!one.read("config", experiment.config)) one.missing("config");
      one.finish();
      campaign.experiments.push_back(std::move(experiment));
    }
    strict.finish();
    return campaign;
  } catch (const toml::parse_error& wrong) {
    throw_input("{}:{}: {}", path.string(), wrong.source().begin.line, wrong.description());
  } catch (const UsageError& wrong) {
    throw_input("{}", wrong.what());
  }
}

void write_recordings(const Campaign& campaign, std::span<const PlannedRecording> recordings) {
  std::string text = kRecordingsHeader;
  for (const PlannedRecording& one : recordings)
    text += csv_line(
        {one.name, one.scene, fmt::format("{:.3g}", one.seconds), std::string(enum_name(one.basis))});
  write_text_file(campaign.folder / "recordings.csv", text);
}

std::vector<PlannedRecording> read_recordings(const Campaign& campaign) {
  std::vector<PlannedRecording> recordings;
  read_table(campaign.folder / "recordings.csv", kRecordingsHeader, [&](const CsvLine& line) {
    recordings.push_back({line[0], line[1], read_seconds(line[2]), parse_enum<CostBasis>(line[3], "basis")});
  });
  return recordings;
}

void write_cells(const Campaign& campaign, std::span<const PlannedCell> cells) {
  std::string text = kCellsHeader;
  for (const PlannedCell& one : cells)
    text += fmt::format("{},{}", cell_fields(one.experiment, one.cell),
                        csv_line({one.regions, one.threads, fmt::format("{:.3g}", one.seconds),
                                  std::string(enum_name(one.basis))}));
  write_text_file(campaign.folder / "cells.csv", text);
}

std::vector<PlannedCell> read_cells(const Campaign& campaign) {
  std::vector<PlannedCell> cells;
  read_table(campaign.folder / "cells.csv", kCellsHeader, [&](const CsvLine& line) {
    PlannedCell one;
    one.experiment = line[0];
    one.cell = parse_cell_fields(line);
    one.regions = line[8];
    one.threads = line[9];
    one.seconds = read_seconds(line[10]);
    one.basis = parse_enum<CostBasis>(line[11], "basis");
    cells.push_back(std::move(one));
  });
  return cells;
}

}  // namespace signorini
