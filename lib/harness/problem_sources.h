#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/run_monitor.h"
#include "harness/experiment_request.h"
#include "harness/recording_provider.h"
#include "harness/recording_tables.h"
#include "harness/result_folder.h"

namespace signorini {

/// A problem file of an experiment and the snapshots chosen from it.
struct ProblemSource {
  std::string label;  ///< the `file` column
  std::filesystem::path path;
  std::vector<std::string> steps = {};
  std::vector<int> contacts = {};  ///< of each step
  bool made = false;               ///< brought along by the experiment: used whatever its size
};

struct ExperimentSources {
  std::vector<ProblemSource> problems;  ///< recordings, files, problems of the experiment, optional files
  std::vector<RecordedScene> recorded;  ///< the first of them
  std::string left_out;                 ///< optional files that are not there
};

/// The recordings of an experiment: of its scenes, then of its `recordings`.
std::vector<SceneVariant> wanted_recordings(const Experiment& experiment);

/// Records scenes where recordings are missing, and writes the problems that the experiment brings along as FCLib
/// files OUT/<id>/problems/<name>.hdf5: every run of theirs can be made again with `signorini solve`.
ExperimentSources collect_sources(const ExperimentRequest& request, const ResultFolder& results,
                                  RecordingProvider& provider, RunMonitor& monitor);

/// Fills `source.steps` by the experiment's amounts; no problem is decoded.
void choose_steps(const Experiment& experiment, ProblemSource& source, RunMonitor& monitor);

/// The regions of the chosen snapshots ([cut]) in the place of these, <scene>_<step>_<region>, ascending. Every one is a
/// problem file.
void cut_sources(const Experiment& experiment, const ResultFolder& results,
                 std::vector<ProblemSource>& sources, RunMonitor& monitor);

/// The chosen snapshots of a recording with fewer contacts ([[thinned]]) behind the others, <name>_<running number>.
void add_thinned_sources(const Experiment& experiment, const ResultFolder& results,
                         std::vector<ProblemSource>& sources, RunMonitor& monitor);

}  // namespace signorini
