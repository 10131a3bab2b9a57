#pragma once

#include <deque>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "harness/repetitions.h"
#include "harness/run_group.h"
#include "harness/run_groups.h"

namespace signorini {

/// Groups of runs on one snapshot that are made and not yet written: their self-stopped runs are first repeated in turns.
/// `experiment`, and the targets of all groups, have to outlive them.
class HeldGroups {
 public:
  struct Held {
    RunCell cell;
    RunGroup group;
  };

  HeldGroups(const Experiment& experiment, const CancelFlag* cancelled)
      : experiment_(experiment), cancelled_(cancelled) {}

  /// Makes the group (`run_group`) and holds it. Throws `Cancelled`. `keeper` may take the groups that were held before.
  void make(const RunTarget& target, const RunCell& cell, const SolverVariant& variant,
            const RunKeeper& keeper);
  /// Whether the first of them has been held for as long as a kill may lose.
  bool are_due() const;
  /// Repeats the runs of all.
  void repeat();
  bool empty() const { return groups_.empty(); }
  /// The first that was made, as its rows are now. Its runs are not repeated any more, nor those of the others.
  Held take();

 private:
  const Experiment& experiment_;
  const CancelFlag* cancelled_;
  std::deque<Held> groups_;  // rows stay where they are
  std::vector<RepeatedRun> runs_;
  Stopwatch since_;
};

}  // namespace signorini
