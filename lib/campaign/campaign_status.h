#pragma once

#include <map>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/campaign_parts.h"

namespace signorini {

struct ExperimentStatus {
  std::string id;
  std::size_t groups = 0, done = 0;
  int failed = 0;             ///< rows
  double done_seconds = 0.0;  ///< that the finished groups took
  double left_seconds = 0.0;  ///< estimated for the others
};

struct CampaignStatus {
  std::vector<ExperimentStatus> experiments;  ///< as the plan has them
  ExperimentStatus all;
  std::size_t recordings = 0, missing_recordings = 0;
  double ratio =
      1.0;  ///< measured over estimated, of the finished groups; estimates of the others are multiplied by it
  int at_work = 0, parts = 0;
  double left_wall_seconds() const { return all.left_seconds / (at_work > 0 ? at_work : 1); }
};

/// How far a campaign is, from its files alone.
CampaignStatus status_of(const Campaign& campaign);

}  // namespace signorini
