#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "harness/experiment.h"

namespace signorini {

/// What a group of runs took. s
///
/// A campaign tells the whole time. Rows of results tell one set-up and one solve of every run; self-stopped runs are repeated
/// (`repeat_in_turns` in harness/repetitions.h), and the row holds one of them. Writing the rows comes on top.
struct GroupTime {
  double once = 0.0;
  std::vector<double> repeated = {};  ///< of one repetition of each run
};

/// What groups of runs will cost, from what was measured before. Wall-clock seconds of one process:
///
///   measured   the time that the same group took, the median where there are several
///   solver     contacts times the geometric mean of the seconds per contact of this solver's groups
///   counts     contacts times number of runs times a constant: 0.3 ms, or what the measured groups say
///
/// No estimate exceeds what the time limit of the experiment allows. Estimates decide who does what, never a result.
/// Rows do not tell what reading a snapshot and judging iterates takes: costs learned from results are a little low.
class CostModel {
 public:
  /// A folder of results (OUT/<id>/runs.csv) or a campaign (its parts), whichever it is. Unreadable tables are left out.
  void learn(const std::filesystem::path& folder);
  void learn(const std::string& experiment, const RunCell& cell, const GroupTime& time);
  /// Fills `seconds` and `basis`.
  void estimate(const Experiment& experiment, PlannedCell& cell) const;
  bool empty() const { return times_of_.empty(); }

 private:
  struct Rate {
    double sum_of_logs = 0.0;
    int groups = 0;
    void add(double seconds, int contacts);
    double mean() const;  ///< s per contact
  };
  std::map<std::string, std::vector<GroupTime>> times_of_;  ///< by `cell_key`
  std::map<std::string, Rate> by_solver_;
  Rate all_;
};

/// Runs in a group of the experiment's solver of this label.
int runs_in_group(const Experiment& experiment, const std::string& label);

}  // namespace signorini
