#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/environment.h"
#include "harness/run_record.h"
#include "harness/run_table.h"
#include "harness/solve_plan.h"
#include "record/fclib_file.h"
#include "record/trace_file.h"

/// `signorini solve` without its screen: every combination of file × step × solver × regions × threads ×
/// repetition, judged by the referee; rows, the answer and convergence curves as files.
namespace signorini {

struct SolveTally {
  std::size_t runs = 0, converged = 0, unsupported = 0, failed = 0, other = 0;
  bool all_reached = true;  ///< the tolerance, by the referee

  void count(const RunRecord& run);
  /// "4 runs: 3 converged, 1 unsupported"
  std::string text() const;
};

/// Whoever shows the runs while they are made.
class SolveObserver {
 public:
  virtual ~SolveObserver() = default;
  /// A combination is about to run; `file` counts from 0.
  virtual void on_combination(std::size_t file, const std::string& what) = 0;
  virtual void on_run(const RunRecord& run) = 0;
  /// The runs of one combination, at least one.
  virtual void on_repetitions(std::span<const RunRecord> runs) = 0;
  /// A line about a snapshot, or about what was kept.
  virtual void on_note(const std::string& text) = 0;
};

struct SolveOutputs {
  std::vector<std::string> written;
  bool answer_missing = false;  ///< one was asked for, and no run gave any
};

/// One use: `run`, then `publish`, or `keep_partial` when `run` throws.
class FileSolver {
 public:
  /// Plans and claims the outputs; reads no file but plugins.
  FileSolver(SolveRequest request, std::vector<std::string> command_line);

  const SolvePlan& plan() const { return plan_; }
  const SolveTally& tally() const { return tally_; }

  /// Throws `Cancelled` when the request's flag is raised.
  void run(SolveObserver& observer);
  /// Complete files under their own names, with their env.json.
  SolveOutputs publish();
  /// What was made so far, under names that say so (`partial_of`), and a note about each.
  void keep_partial(SolveObserver& observer);

 private:
  void solve_file(std::size_t number, SolveObserver& observer);
  void solve_combination(const RunTarget& target, const SolverVariant& variant, RegionMode mode, int threads,
                         SolveObserver& observer);
  void trace(const RunTarget& target, PreparedRun& run, const RunRecord& row);

  SolveRequest request_;
  SolvePlan plan_;
  std::vector<LockFile> locks_;
  Provenance provenance_;
  std::optional<RunTable> table_;
  std::vector<ConvergenceTrace> traces_;
  SolveTally tally_;
  std::optional<Vector> last_;  ///< of the last run that gave an answer
  RunRecord last_record_;
  std::optional<FclibFile> solution_;
};

}  // namespace signorini
