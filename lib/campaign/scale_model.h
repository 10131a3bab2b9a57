#pragma once

#include <span>
#include <vector>

#include "campaign/campaign.h"

/// What a campaign would take on many machines: a simulation from the costs of its cells.
///
/// `shards` array tasks wait in line; a node that is free takes the next. A task pays `start_seconds`, then its cells one by
/// one, in the plan's order. Some nodes are slow by a factor. Nodes fail at random, exponentially distributed; the cell at work
/// is lost, and the task goes back to the head of the line for the node after `restart_seconds`, without the cells that it
/// had finished: what `signorini run --plan` does under a scheduler that requeues.
namespace signorini {

struct ScaleModel {
  int nodes = 10;
  int shards = 10;
  ShardUnit unit = ShardUnit::snapshot;
  double start_seconds = 5.0;
  double slow_share = 0.05;       ///< of the nodes
  double slow_factor = 2.0;       ///< times longer
  double failure_hours = 1000.0;  ///< mean time between failures of a node; infinity: none
  double restart_seconds = 300.0;
};

struct ScaleResult {
  double makespan = 0.0;    ///< s, from the first start to the last end
  double efficiency = 0.0;  ///< seconds of all cells over nodes times makespan
  int failures = 0;
};

/// `estimates` cells as they cost on a node that is not slow. The same seed gives the same result.
ScaleResult simulate_scale(std::span<const PlannedCell> estimates, const ScaleModel& model, unsigned seed);

/// Median over seeds 1 … `runs`; of the makespan also the value that 95 % stay below.
struct ScaleSummary {
  double makespan = 0.0, late_makespan = 0.0, efficiency = 0.0, failures = 0.0;
};
ScaleSummary summarise_scale(std::span<const PlannedCell> estimates, const ScaleModel& model, int runs);

}  // namespace signorini
