#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/campaign_groups.h"
#include "campaign/shards.h"

/// The commands of a campaign (campaign/campaign.h): `plan`, `run --plan`, `merge`, `status`.
namespace signorini {

struct Program;

struct PlanRequest {
  std::vector<std::string> experiments;  ///< names or files; "all"; none: those of the plan that is there
  std::string folder, size, unit;  ///< size and unit "": of the plan that is there, else quick and snapshot
  std::vector<std::string> costs;  ///< folders of earlier results or campaigns
  bool record = false;             ///< missing recordings are recorded now
};

struct PlanOutcome {
  Campaign campaign;
  std::vector<PlannedRecording> recordings;
  std::vector<std::string> missing;  ///< recordings that are not there
  std::vector<std::string> waiting;  ///< experiments whose groups are not known yet
  std::vector<PlannedCell> cells;
};
/// Writes the files of the plan. Parts that are there stay, and their times are costs.
PlanOutcome plan_campaign(const Program& program, const PlanRequest& request);

struct ShardRequest {
  std::string folder;
  ShardChoice shard;
  bool recordings = false;  ///< make recordings instead of runs
  bool beside = false;      ///< others may measure on this machine at the same time; no core is pinned
};
struct ShardOutcome {
  std::size_t made = 0, elsewhere = 0, rows = 0, failed = 0;
  std::string part;  ///< "" when there was nothing to do
  double seconds = 0.0;
};
ShardOutcome run_shard(const Program& program, const ShardRequest& request);

struct MergeOutcome {
  std::vector<std::filesystem::path> folders;
  std::size_t rows = 0, failed = 0, missing = 0;
  bool unlike_machines = false;
};
MergeOutcome merge_campaign(const Program& program, const std::string& folder, const MergeChoice& choice);

}  // namespace signorini
