#pragma once

#include <span>
#include <string>
#include <vector>

#include "campaign/campaign.h"

/// Who does what: work of estimated cost, shared out among n processes that never talk to each other.
namespace signorini {

struct CostedWork {
  std::string name;
  double seconds = 0.0;
};

/// The shard, 0 … shards − 1, of each. Costliest first, each goes to a shard of least load; of those whose load is at most
/// 5 % of a fair share above the least, to the one that a hash of the two names prefers. A function of names and costs alone,
/// not of their order; where some costs change, work that fits as before stays where it was. Shards that are fuller than their
/// share come first. No load exceeds the fair share by
/// more than the costliest piece and the 5 %.
std::vector<int> assign_shards(std::span<const CostedWork> work, int shards);

/// The same for cells, of which those of a snapshot stay together or not.
std::vector<int> assign_shards(std::span<const PlannedCell> cells, int shards, ShardUnit unit);

/// "i/n", 1 ≤ i ≤ n.
struct ShardChoice {
  int shard = 0;  ///< i − 1
  int shards = 1;
};
/// Throws `UsageError`.
ShardChoice parse_shard(const std::string& text);

}  // namespace signorini
