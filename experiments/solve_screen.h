#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/solve_files.h"
#include "json_output.h"
#include "terminal.h"

namespace signorini {

/// Runs on the screen: one line for every combination as it comes, times are medians over its repetitions.
class SolveTable {
 public:
  /// Columns as wide as the names need.
  SolveTable(const std::vector<std::string>& files, const std::vector<SolverVariant>& variants, bool verbose);

  void show(std::span<const RunRecord> repetitions);

 private:
  TextTable table_;
  bool verbose_;
  bool header_shown_ = false;
};

/// The table with progress below it, or the list of rows for --json.
class SolveScreen : public SolveObserver {
 public:
  SolveScreen(const std::vector<std::string>& files, const std::vector<SolverVariant>& variants, bool json,
              bool verbose);

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
