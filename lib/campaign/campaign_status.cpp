#include "campaign/campaign_status.h"

#include <fmt/format.h>

namespace signorini {

CampaignStatus status_of(const Campaign& campaign) {
  CampaignStatus status;
  std::map<std::string, std::size_t> number;
  for (const PlannedExperiment& one : campaign.experiments) {
    number[one.id] = status.experiments.size();
    status.experiments.push_back({one.id});
  }
  for (const PlannedRecording& one : read_recordings(campaign)) {
    std::error_code error;
    ++status.recordings;
    if (!std::filesystem::exists(
            campaign.folder / "recordings" / fmt::format("{}-{}.h5", one.name, campaign.size), error))
      ++status.missing_recordings;
  }
  FinishedCells finished(campaign.folder);
  finished.refresh();
  status.at_work = finished.at_work();
  status.parts = finished.parts();
  std::map<std::string, const FinishedCell*> of_key;  // the first of several
  for (const FinishedCell& one : finished.cells()) of_key.emplace(cell_key(one.experiment, one.cell), &one);

  double measured = 0.0, estimated = 0.0;
  const std::vector<PlannedCell> cells = read_cells(campaign);
  for (const PlannedCell& one : cells) {
    const auto place = number.find(one.experiment);
    if (place == number.end()) continue;
    ExperimentStatus& experiment = status.experiments[place->second];
    ++experiment.groups;
    const auto found = of_key.find(cell_key(one.experiment, one.cell));
    if (found == of_key.end()) {
      experiment.left_seconds += one.seconds;
      continue;
    }
    ++experiment.done;
    experiment.failed += found->second->tally.failed;
    experiment.done_seconds += found->second->tally.seconds;
    measured += found->second->tally.seconds;
    estimated += one.seconds;
  }
  if (measured > 0.0 && estimated > 0.0) status.ratio = measured / estimated;
  for (ExperimentStatus& one : status.experiments) {
    one.left_seconds *= status.ratio;
    status.all.groups += one.groups;
    status.all.done += one.done;
    status.all.failed += one.failed;
    status.all.done_seconds += one.done_seconds;
    status.all.left_seconds += one.left_seconds;
  }
  return status;
}

}  // namespace signorini
