#pragma once

#include <string>
#include <vector>

#include "contact/contact_problem.h"
#include "harness/bench_timer.h"
#include "regions/incremental_partition.h"

/// Regions followed over the consecutive steps of a recording, against building them anew in every step
/// (Lazarevych 2010, section 3: temporal coherence).
///
///     update:   IncrementalPartition::update from the step before to this one
///     rebuild:  partition_elements of this step alone, its elements numbered 0, 1, … as they are met, so
///               that its tables are as small as they can be
///
/// Both start from the same lists: the elements of every contact. What finds them is not timed.
namespace signorini {

/// One row of follow.csv: a step of a recording that follows the one before it.
struct FollowRow {
  std::string file, step;
  RegionMode mode = RegionMode::points;
  Index contacts = 0, regions = 0, largest_region = 0;
  Churn churn;
  bool same = false;            ///< the updated labels are those of the rebuild
  double update_seconds = 0.0;  ///< median over the repetitions
  double rebuild_seconds = 0.0;
};
std::string follow_header();
std::string follow_line(const FollowRow& row);

class RegionFollower {
 public:
  RegionFollower(RegionMode mode, const TimerOptions& timer)
      : timer_(timer), regions_(mode, false), trial_(mode, false) {}

  /// The first problem of a sequence: nothing to compare with yet. Throws `UsageError` for a problem without
  /// `features` and `node_numbers`.
  void start(const ContactProblem& problem);
  /// The problem of the next step. Steps without contacts are problems too.
  FollowRow next(const ContactProblem& problem);

 private:
  TimerOptions timer_;
  IncrementalPartition regions_;
  IncrementalPartition trial_;  ///< kept for its memory, which an update in use has too
};

/// The step of a frame: "000120.2" → 120.
long long step_of_frame(const std::string& id);
/// Of the frames of a recording, in their order, the last solve of every step.
std::vector<std::string> last_solves(const std::vector<std::string>& frames);

}  // namespace signorini
