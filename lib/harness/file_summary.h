#pragma once

#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/run_monitor.h"
#include "contact/contact_problem.h"
#include "record/problem_file.h"
#include "record/recording_file.h"

/// What a recording, an FCLib file or an npz problem holds, before anything is solved.
namespace signorini {

/// Smallest and largest of some numbers; NaN changes nothing.
struct ValueRange {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double x) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  void add(const ValueRange& other) {
    if (other.empty()) return;
    add(other.low);
    add(other.high);
  }
  bool empty() const { return low > high; }
};

/// Where a solver may start, of what a snapshot may hold (contact/contact_problem.h).
struct StartQuantity {
  std::string_view field, words, unit;  ///< unit "1": a state
};
inline constexpr std::array<StartQuantity, 4> kStartQuantities{{{"warm_start", "impulses", "N s"},
                                                                {"v_minus", "velocities", "m/s"},
                                                                {"start_states", "contact states", "1"},
                                                                {"start_bounds", "friction bounds", "N s"}}};
/// One entry per quantity.
using StartCounts = std::array<std::size_t, kStartQuantities.size()>;

struct SnapshotSummary {
  std::string step;
  std::string kind;  ///< "dual" (no M), "explicit", "implicit", "primal" (of unknown origin)
  Index spacedim = 3;
  Index contacts = 0, dofs = 0;  ///< dofs of the bodies
  Index regions = 0, islands = 0, largest_region = 0, largest_island = 0;
  bool points_exact = false;  ///< splitting by mass points drops nothing
  ValueRange mu;
  double diagonal_ratio = 1.0;  ///< largest over smallest diagonal entry of M, or of W where there is no M
  bool redundant = false;       ///< more contact directions than dofs: W is singular
  double asymmetry = 0.0;       ///< of M, or of W where there is no M (linalg/asymmetry.h)
  std::string note;             ///< contact/matrix_note.h
  StartCounts starts{};         ///< 1 where the quantity is held
};
SnapshotSummary summarise_snapshot(const ContactProblem& problem, const std::string& step);

struct FileSummary {
  std::string path, title;
  std::uintmax_t bytes = 0;
  std::vector<SnapshotSummary> steps;
  std::optional<StepTable> statistics;  ///< of a recording that ran to its end
};
struct SummaryOptions {
  MatrixReading matrix = MatrixReading::symmetric;
  RunMonitor* monitor = nullptr;
};
FileSummary summarise_file(const std::string& path, const SummaryOptions& options = {});

/// The ranges of some snapshots' numbers.
struct SnapshotRanges {
  ValueRange contacts, dofs, regions, largest_region, islands, largest_island, mu, diagonal_ratio, asymmetry;
  bool points_exact = true, redundant = false;  ///< all of them; any of them
};
SnapshotRanges ranges_of(std::span<const SnapshotSummary> steps);

struct NoteCount {
  std::string note;
  std::size_t steps = 0;
};
/// The notes of some snapshots, each once, in alphabetical order.
std::vector<NoteCount> count_notes(std::span<const SnapshotSummary> steps);

/// The snapshots that hold each quantity.
StartCounts count_starts(std::span<const SnapshotSummary> steps);

/// A column of the statistics, over the steps that have a number.
struct ColumnSummary {
  std::string name, unit;
  ValueRange range;
  double sum = 0.0;
  std::size_t values = 0;
  double first = 0.0, last = 0.0;  ///< of the first and the last step, also when NaN

  double mean() const { return sum / static_cast<double>(values); }
};
/// In the order of the table.
std::vector<ColumnSummary> summarise_columns(const StepTable& table);

}  // namespace signorini
