#include "harness/file_summary.h"

#include <cmath>
#include <map>

#include "contact/matrix_note.h"
#include "linalg/asymmetry.h"
#include "regions/region_partition.h"

namespace signorini {
namespace {

const char* kind_of(const ContactProblem& problem) {
  if (!problem.has_primal()) return "dual";
  switch (problem.kind) {
    case ProblemKind::explicit_step:
      return "explicit";
    case ProblemKind::implicit_step:
      return "implicit";
    default:
      return "primal";
  }
}

void count_regions(const ContactProblem& problem, SnapshotSummary& summary) {
  summary.points_exact = is_exact(problem, RegionMode::points);
  const RegionPartition points =
      partition_regions(problem, summary.points_exact ? RegionMode::points : RegionMode::points_approx);
  const RegionPartition islands = partition_regions(problem, RegionMode::islands);
  summary.regions = points.regions();
  summary.islands = islands.regions();
  summary.largest_region = summary.contacts > 0 ? points.largest() : 0;
  summary.largest_island = summary.contacts > 0 ? islands.largest() : 0;
}

}  // namespace

SnapshotSummary summarise_snapshot(const ContactProblem& problem, const std::string& step) {
  SnapshotSummary summary;
  summary.step = step;
  summary.kind = kind_of(problem);
  summary.contacts = problem.contacts();
  summary.spacedim = problem.spacedim;
  summary.dofs = problem.own_dofs();
  count_regions(problem, summary);
  for (const double mu : problem.mu) summary.mu.add(mu);
  const SparseRows& matrix = problem.has_primal() ? problem.M : problem.W;
  summary.asymmetry = asymmetry(matrix);
  summary.note = matrix_note(problem);
  ValueRange diagonal;
  Vector entries = matrix.diagonal();
  if (problem.has_primal()) entries.conservativeResize(summary.dofs);
  for (const double entry : entries) diagonal.add(entry);
  if (!diagonal.empty() && diagonal.low > 0.0) summary.diagonal_ratio = diagonal.high / diagonal.low;
  summary.redundant = problem.has_primal() && summary.spacedim * summary.contacts > summary.dofs;
  summary.starts = {problem.warm_start.size() > 0, problem.v_minus.size() > 0, !problem.start_states.empty(),
                    problem.start_bounds.size() > 0};
  return summary;
}

FileSummary summarise_file(const std::string& path, const SummaryOptions& options) {
  const ProblemFile file(path, options.matrix);
  FileSummary summary;
  summary.path = path;
  summary.title = file.title();
  summary.bytes = std::filesystem::file_size(path);
  MonitoredProgress progress(options.monitor, "reading " + path, static_cast<long long>(file.steps().size()));
  for (const std::string& step : file.steps()) {
    progress.stop_when_cancelled();
    summary.steps.push_back(summarise_snapshot(file.read(step), step));
    progress.update(static_cast<long long>(summary.steps.size()), "step " + step);
  }
  if (file.kind() == ProblemFileKind::recording)
    summary.statistics = RecordingReader(path, RecordingReader::Parts::checked).statistics();
  return summary;
}

SnapshotRanges ranges_of(std::span<const SnapshotSummary> steps) {
  SnapshotRanges all;
  for (const SnapshotSummary& s : steps) {
    all.contacts.add(s.contacts);
    all.dofs.add(s.dofs);
    all.regions.add(s.regions);
    all.largest_region.add(s.largest_region);
    all.islands.add(s.islands);
    all.largest_island.add(s.largest_island);
    all.mu.add(s.mu);
    all.diagonal_ratio.add(s.diagonal_ratio);
    all.asymmetry.add(s.asymmetry);
    all.points_exact = all.points_exact && s.points_exact;
    all.redundant = all.redundant || s.redundant;
  }
  return all;
}

std::vector<NoteCount> count_notes(std::span<const SnapshotSummary> steps) {
  std::map<std::string, std::size_t> found;
  for (const SnapshotSummary& s : steps) {
    if (!s.note.empty()) ++found[s.note];
  }
  std::vector<NoteCount> notes;
  for (const auto& [note, count] : found) notes.push_back({note, count});
  return notes;
}

StartCounts count_starts(std::span<const SnapshotSummary> steps) {
  StartCounts held{};
  for (const SnapshotSummary& s : steps) {
    for (std::size_t i = 0; i < held.size(); ++i) held[i] += s.starts[i];
  }
  return held;
}

std::vector<ColumnSummary> summarise_columns(const StepTable& table) {
  std::vector<ColumnSummary> all;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    ColumnSummary column;
    column.name = table.columns[c];
    column.unit = table.units[c];
    for (const std::vector<double>& row : table.rows) {
      if (std::isnan(row[c])) continue;
      column.range.add(row[c]);
      column.sum += row[c];
      ++column.values;
    }
    if (!table.rows.empty()) {
      column.first = table.rows.front()[c];
      column.last = table.rows.back()[c];
    }
    all.push_back(std::move(column));
  }
  return all;
}

}  // namespace signorini
