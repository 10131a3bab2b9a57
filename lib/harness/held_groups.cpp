#include "harness/held_groups.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace signorini {

void HeldGroups::make(const RunTarget& target, const RunCell& cell, const SolverVariant& variant,
                      const RunKeeper& keeper) {
  if (groups_.empty()) since_.restart();
  RunGroup made = run_group(experiment_, target, variant, cell.tolerance, cancelled_, keeper);
  groups_.push_back({cell, std::move(made)});
  std::ranges::move(
      self_stopped_runs(experiment_, target, variant, cell.tolerance, cancelled_, groups_.back().group),
      std::back_inserter(runs_));
}

bool HeldGroups::are_due() const {
  constexpr double kHeldFor = 10.0;  // s
  return !groups_.empty() && since_.seconds() > kHeldFor;
}

void HeldGroups::repeat() {
  repeat_in_turns(runs_, experiment_.repetitions);
  runs_.clear();
}

HeldGroups::Held HeldGroups::take() {
  SIGNORINI_CHECK(!groups_.empty());
  runs_.clear();
  Held first = std::move(groups_.front());
  groups_.pop_front();
  return first;
}

}  // namespace signorini
