#include "campaign/campaign_parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>

#include "base/check.h"
#include "base/csv_text.h"
#include "base/digest.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "harness/environment.h"
#include "harness/run_table.h"
#include "harness/text_file.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

const std::string kHeader = fmt::format("{},seconds,failed,rows,curves\n", kCellColumns);
constexpr const char* kEnded = "ended";

/// Differs between processes of all machines; nothing of it shows in a result.
std::string fresh_name(const std::string& name) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::random_device random;
  return fmt::format("{}-{}-{:08x}", name, digest_text(digest_of(host.data())).substr(0, 6), random());
}

std::vector<fs::path> part_folders(const fs::path& campaign) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(campaign / "parts", error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

/// The bytes of a file from `offset` on.
std::string text_from(const fs::path& path, std::size_t offset) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const std::string text = read_input_file(path, "table of finished groups");
  return offset < text.size() ? text.substr(offset) : "";
}

/// False for a line of another shape: a full disk may leave anything.
bool parse_finished(const CsvLine& line, FinishedCell& out) {
  constexpr std::size_t kEarlier = 10, kColumns = 12;
  if ((line.size() != kColumns && line.size() != kEarlier) || line[0] == "experiment") return false;
  try {
    out.experiment = line[0];
    out.cell = parse_cell_fields(line);
    out.tally.seconds = parse_double(line[8], "seconds");
    out.tally.failed = static_cast<int>(parse_integer(line[9], "failed"));
    if (line.size() == kEarlier) return true;
    out.tally.rows = static_cast<int>(parse_integer(line[10], "rows"));
    out.tally.curves = static_cast<int>(parse_integer(line[11], "curves"));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Whether anything in the part was written within the last quarter of an hour.
bool is_fresh(const fs::path& part) {
  constexpr auto kSilence = std::chrono::minutes(15);
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  const auto fresh = [&](const fs::path& path) {
    const auto written = fs::last_write_time(path, error);
    return !error && now - written < kSilence;
  };
  if (fresh(part / "cells.csv")) return true;
  for (const auto& entry : fs::directory_iterator(part, error)) {
    if (entry.is_directory(error) && fresh(entry.path() / "env.json")) return true;
  }
  return false;
}

}  // namespace

CampaignPart::CampaignPart(const fs::path& campaign, const std::string& name) : name_(name) {
  make_output_folder(campaign / "parts");
  path_ = campaign / "parts" / fresh_name(name);
  make_output_folder(path_);
  const fs::path table = path_ / "cells.csv";
  descriptor_ = ::open(table.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
  if (descriptor_ < 0) throw_input("{}: cannot be made: {}", table.string(), std::strerror(errno));
  append_to_disk(descriptor_, kHeader, table);
}

CampaignPart::~CampaignPart() {
  try {
    end();
  } catch (const InputError&) {  // a full disk: the part then counts as at work for a while
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void CampaignPart::add(const std::string& experiment, const RunCell& cell, const GroupTally& tally) {
  const std::string line = fmt::format("{},{:.6g},{},{},{}", cell_fields(experiment, cell), tally.seconds,
                                       tally.failed, tally.rows, tally.curves);
  append_to_disk(descriptor_, line + "\n", path_ / "cells.csv");
}

void CampaignPart::end() const { write_text_file(path_ / kEnded, ""); }

void FinishedCells::refresh() {
  at_work_ = 0;
  std::error_code error;
  for (const fs::path& part : part_folders(folder_)) {
    const std::string name = part.filename().string();
    std::size_t& offset = offsets_[name];
    std::size_t whole = 0;
    for (const CsvLine& line : parse_csv(text_from(part / "cells.csv", offset), &whole)) {
      FinishedCell one;
      one.part = name;
      if (!parse_finished(line, one)) continue;
      keys_.insert(cell_key(one.experiment, one.cell));
      cells_.push_back(std::move(one));
    }
    offset += whole;
    if (!fs::exists(part / kEnded, error) && is_fresh(part)) ++at_work_;
  }
}

std::vector<FinishedCell> read_finished_cells(const fs::path& campaign) {
  FinishedCells finished(campaign);
  finished.refresh();
  return finished.cells();
}

namespace {

using Finished = std::map<std::string, std::map<std::string, GroupTally>>;  // by part and `cell_key`

Finished finished_of(const fs::path& campaign, const std::string& experiment) {
  Finished finished;
  for (const FinishedCell& one : read_finished_cells(campaign)) {
    if (one.experiment == experiment)
      finished[one.part].insert_or_assign(cell_key(experiment, one.cell), one.tally);
  }
  return finished;
}

PartOfExperiment part_of(const fs::path& part, const std::string& experiment,
                         const std::map<std::string, GroupTally>& finished) {
  PartOfExperiment one;
  one.part = part.filename().string();
  one.folder = part / experiment;
  one.head = ResultHead::of(text_or_nothing(one.folder / "run.toml"));
  one.env = text_or_nothing(one.folder / "env.json");
  one.finished = finished;
  one.machine = machine_kind(one.env);
  one.build = build_digest(one.env);
  one.rounding = rounding_kind(one.env);
  return one;
}

}  // namespace

std::vector<PartOfExperiment> parts_of(const fs::path& campaign, const std::string& experiment) {
  std::vector<PartOfExperiment> parts;
  for (const auto& [name, groups] : finished_of(campaign, experiment))
    parts.push_back(part_of(campaign / "parts" / name, experiment, groups));
  return parts;
}

std::vector<PartOfExperiment> CampaignPart::earlier(const std::string& experiment) const {
  const fs::path campaign = path_.parent_path().parent_path();
  Finished finished = finished_of(campaign, experiment);
  std::vector<PartOfExperiment> parts;
  std::error_code error;
  for (const fs::path& part : part_folders(campaign)) {
    const std::string its = part.filename().string();
    if (part == path_ || !its.starts_with(name_ + "-") || !fs::exists(part / experiment / "runs.csv", error))
      continue;
    parts.push_back(part_of(part, experiment, finished[its]));
  }
  return parts;
}

}  // namespace signorini
