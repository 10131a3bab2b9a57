#include "harness/recording_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/check.h"
#include "base/text.h"
#include "harness/follow_regions.h"
#include "harness/text_file.h"
#include "linalg/jacobi_condition.h"
#include "record/problem_file.h"
#include "record/recording_failure.h"
#include "record/recording_file.h"

namespace signorini {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(',', begin);
    cells.push_back(line.substr(begin, end - begin));
    if (end == std::string::npos) return cells;
    begin = end + 1;
  }
}

/// RFC 4180.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

/// Rows of kind `matrix` of a recording's largest M; nothing where it holds no problem.
std::string matrix_rows(const RecordedScene& source, const RunMonitor& monitor) {
  const ProblemFile file(source.path);
  SparseRows largest;
  for (const std::string& step : file.steps()) {
    monitor.stop_when_cancelled();
    ContactProblem problem = file.read(step);
    if (problem.M.rows() > largest.rows()) largest = std::move(problem.M);
  }
  if (largest.rows() == 0) return "";
  const double rows = static_cast<double>(largest.rows());
  const double stored = static_cast<double>(largest.nonZeros());
  double entries = 0.0;
  for (Eigen::Index i = 0; i < largest.outerSize(); ++i) {
    for (SparseRows::InnerIterator entry(largest, i); entry; ++entry) {
      if (entry.value() != 0.0) entries += 1.0;
    }
  }
  const double bytes = stored * static_cast<double>(sizeof(double) + sizeof(SparseRows::StorageIndex)) +
                       (rows + 1.0) * static_cast<double>(sizeof(SparseRows::StorageIndex));
  std::string text;
  const auto add = [&](std::string_view key, double value) {
    text += fmt::format("{},matrix,{},{}\n", source.label, key, exact_text(value));
  };
  add("rows", rows);
  add("stored_per_row", stored / rows);
  add("entries_per_row", entries / rows);
  add("bytes", bytes);
  add("jacobi_condition", jacobi_spectrum(largest).condition());
  return text;
}

}  // namespace

std::map<long long, std::string> read_clocks(const std::filesystem::path& recording,
                                             const std::vector<std::string>& clocks) {
  std::map<long long, std::string> found;
  const std::string table = text_or_nothing(std::filesystem::path(recording).replace_extension(".steps.csv"));
  const std::vector<std::string> lines = split(table, '\n');
  if (lines.empty() || lines.front().empty()) return found;
  const std::vector<std::string> head = split(lines.front());
  if (head.size() < clocks.size() || !std::equal(clocks.rbegin(), clocks.rend(), head.rbegin())) return found;
  for (const std::string& line : std::span(lines).subspan(1)) {
    const std::vector<std::string> cells = split(line);
    if (cells.size() != head.size()) continue;
    std::string text;
    for (std::size_t c = head.size() - clocks.size(); c < head.size(); ++c) text += "," + cells[c];
    found[std::atoll(cells[0].c_str())] = text;
  }
  return found;
}

std::string recordings_table(const std::vector<RecordedScene>& recorded, const RecordingProvider& provider,
                             bool matrices, const RunMonitor& monitor) {
  std::string text = "file,kind,key,value\n";
  for (const RecordedScene& source : recorded) {
    text += fmt::format("{},recording,scene,{}\n", source.label, source.scene);
    for (const auto& [key, value] : source.set)
      text += fmt::format("{},setting,{},{}\n", source.label, key,
                          value.find_first_of(",\"") == std::string::npos ? value : quoted(value));
    const RecordingReader reader(source.path);
    const StepTable statistics = reader.statistics().value();
    const std::string failure = recording_failure(source.path);
    text += fmt::format("{0},status,failed,{1}\n{0},status,steps,{2}\n", source.label,
                        failure.empty() ? 0 : 1, statistics.rows.size());
    if (!failure.empty()) text += fmt::format("{},status,message,{}\n", source.label, quoted(failure));
    if (matrices) text += matrix_rows(source, monitor);
    for (const auto& [name, value] : provider.facts(reader.header(), statistics, source.path))
      text += fmt::format("{},fact,{},{}\n", source.label, name, exact_text(value));
  }
  return text;
}

std::string series_table(const Experiment& experiment, const std::vector<RecordedScene>& recorded) {
  std::string text = "file,time," + fmt::format("{}", fmt::join(experiment.series, ",")) + "\n";
  for (const RecordedScene& source : recorded) {
    const StepTable table = RecordingReader(source.path).statistics().value();
    const auto place = [&](const std::string& column) -> std::size_t {
      const auto found = std::find(table.columns.begin(), table.columns.end(), column);
      if (found == table.columns.end())
        throw_usage("{}: the statistics of {} have no column '{}'{}", experiment.series_place, source.label,
                    column, suggestion(column, table.columns));
      return found - table.columns.begin();
    };
    std::vector<std::size_t> places{place("time")};
    for (const std::string& column : experiment.series) places.push_back(place(column));
    for (const std::vector<double>& row : table.rows) {
      text += source.label;
      for (const std::size_t p : places)
        text += std::isnan(row[p]) ? std::string(",") : fmt::format(",{:.7g}", row[p]);
      text += '\n';
    }
  }
  return text;
}

std::string follow_table(const Experiment& experiment, const std::vector<RecordedScene>& recorded,
                         RunMonitor& monitor) {
  std::string text = follow_header();
  const TimerOptions timer{experiment.repetitions, experiment.minimum_time};
  for (const RecordedScene& source : recorded) {
    const RecordingReader reader(source.path);
    const std::vector<std::string> frames = last_solves(reader.frames());
    MonitoredProgress progress(monitor, "following " + source.label, static_cast<long long>(frames.size()));
    std::vector<RegionFollower> followers;
    for (const RegionMode mode : experiment.follow) followers.emplace_back(mode, timer);
    long long before = -1;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      monitor.stop_when_cancelled();
      progress.update(static_cast<long long>(i), "step " + frames[i]);
      const ContactProblem problem = reader.read(frames[i]).problem;
      const bool consecutive = before >= 0 && step_of_frame(frames[i]) == before + 1;
      before = step_of_frame(frames[i]);
      for (std::size_t f = 0; f < followers.size(); ++f) {
        if (experiment.follow[f] == RegionMode::islands && problem.kind == ProblemKind::explicit_step)
          continue;
        if (!consecutive) {
          followers[f].start(problem);
          continue;
        }
        FollowRow row = followers[f].next(problem);
        row.file = source.label;
        row.step = frames[i];
        text += follow_line(row);
      }
    }
  }
  return text;
}

std::string steps_table(const std::vector<RecordedScene>& recorded, const RecordingProvider& provider) {
  std::vector<std::string> columns = provider.statistics_columns();
  std::vector<StepTable> tables;
  for (const RecordedScene& source : recorded) {  // probes differ from scene to scene: all of them
    tables.push_back(RecordingReader(source.path).statistics().value());
    for (const std::string& name : tables.back().columns) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  }
  const std::vector<std::string> clocks = provider.clock_columns();
  std::string text = fmt::format("file,{},{}\n", fmt::join(columns, ","), fmt::join(clocks, ","));
  const std::string no_clocks(clocks.size(), ',');
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const StepTable& table = tables[i];
    std::vector<std::size_t> places;  // of the columns in this table; its size for those that it lacks
    for (const std::string& name : columns)
      places.push_back(std::find(table.columns.begin(), table.columns.end(), name) - table.columns.begin());
    const std::map<long long, std::string> times = read_clocks(recorded[i].path, clocks);
    for (const std::vector<double>& row : table.rows) {
      text += recorded[i].label;
      for (const std::size_t p : places)
        text += p == row.size() || std::isnan(row[p]) ? std::string(",") : fmt::format(",{:.9g}", row[p]);
      const auto found = times.find(static_cast<long long>(row[0]));
      text += (found == times.end() ? no_clocks : found->second) + '\n';
    }
  }
  return text;
}

}  // namespace signorini
