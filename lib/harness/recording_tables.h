#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/run_monitor.h"
#include "harness/experiment.h"
#include "harness/recording_provider.h"

/// What an experiment keeps of its recordings besides their problems: CSV tables that the report reads. No problem is
/// decoded, but for `matrices` and the regions that are followed.
namespace signorini {

struct RecordedScene {
  std::string label;  ///< the `file` column
  std::filesystem::path path;
  std::string scene;
  OptionMap set;  ///< keys of the scene file that the experiment changed
};

/// recordings.csv: file, kind, key, value: the scene of every recording (`recording`), what it sets (`setting`), and the values of the facts
/// of its scene (`fact`); of each `status` too: steps that were taken, whether a step that could not be
/// solved ended it (failed, 0 or 1), and then the message.
/// With `matrices` also `matrix`: rows, stored_per_row, entries_per_row (those that are not 0), bytes
/// (compressed rows) and jacobi_condition (linalg/jacobi_condition.h) of the M with most rows among its
/// problems.
std::string recordings_table(const std::vector<RecordedScene>& recorded, const RecordingProvider& provider,
                             bool matrices, const RunMonitor& monitor);
/// series.csv: file, time and the columns of the statistics that `series` asks for. Throws `UsageError` for a
/// column that a recording does not have.
std::string series_table(const Experiment& experiment, const std::vector<RecordedScene>& recorded);
/// The clock columns of the FILE.steps.csv beside a recording, by step, as text with a comma before each; empty where
/// the file is absent or of another shape.
std::map<long long, std::string> read_clocks(const std::filesystem::path& recording,
                                             const std::vector<std::string>& clocks);
/// steps.csv: file and every column of the statistics of every recording, then the clocks of its
/// FILE.steps.csv where that lies beside it. A cell without a value is empty.
std::string steps_table(const std::vector<RecordedScene>& recorded, const RecordingProvider& provider);

/// follow.csv: a row for every step of every recording that follows the one before it, in every mode of
/// `follow` (harness/follow_regions.h). Islands of explicit steps are their mass-point regions, so they are
/// left out there. A step that left no frame (no contacts, or not recorded) interrupts the sequence.
std::string follow_table(const Experiment& experiment, const std::vector<RecordedScene>& recorded,
                         RunMonitor& monitor);

}  // namespace signorini
