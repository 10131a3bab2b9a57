#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/solve_files.h"
#include "json_output.h"
#include "terminal.h"

namespace signorini {

/// Runs on the screen: a heading for every snapshot, below it one line for every combination as it comes. Times are
/// medians over its repetitions.
class SolveTable {
 public:
  /// Columns as wide as the names need. The number of threads is shown where that is not always 1.
  SolveTable(const std::vector<SolverVariant>& variants, bool many_threads, bool verbose);

  void show(std::span<const RunRecord> repetitions);

 private:
  TextTable table_;
  bool many_threads_, verbose_;
  std::string heading_;  ///< that was shown last
};

/// The table with progress below it, or the list of rows for --json.
class SolveScreen : public SolveObserver {
 public:
  SolveScreen(std::size_t files, const SolvePlan& plan, bool json, bool verbose);

  void on_combination(std::size_t file, const std::string& what) override;
  void on_run(const RunRecord& run) override;
  void on_repetitions(std::span<const RunRecord> runs) override;
  void on_note(const std::string& text) override { say(text); }

  /// Takes the progress away.
  void clear() { progress_.clear(); }
  /// With --json the rows so far; nothing without.
  void print_rows() const;

 private:
  bool json_;
  SolveTable table_;
  Progress progress_;
  Json rows_ = Json::array();
};

}  // namespace signorini
