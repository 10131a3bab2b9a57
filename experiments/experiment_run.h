#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/experiment.h"
#include "result_folder.h"
#include "scene/scene.h"

/// Runs an experiment: records its scenes where recordings are missing, then every solver variant on every
/// chosen snapshot in every region mode and number of threads, by the protocols of harness/protocols.h.
///
///     OUT/recordings/<scene>-<size>.h5      shared by all experiments
///     OUT/<id>/config.toml                  the experiment, headed by what the rows depend on
///     OUT/<id>/runs.csv                     a row per run, on disk as soon as its group is done
///     OUT/<id>/problems/<name>.hdf5         the problems that the experiment brings along
///     OUT/<id>/regions.csv                  how many regions of which size the snapshots have
///     OUT/<id>/recordings.csv               settings of the recordings, values of the facts of their scenes
///     OUT/<id>/series.csv                   columns of their statistics over time, where [series] asks
///     OUT/<id>/steps.csv                    all of their statistics and clocks, where a claim or figure asks
///     OUT/<id>/follow.csv                   regions followed over their steps, where [follow] asks
///     OUT/<id>/trace.h5                     convergence curves (trace.h5.parts while running)
///     OUT/<id>/env.json                     provenance
///     OUT/<id>/replaced, OUT/<id>.lock      see result_folder.h
///
/// A group is one solver variant on one snapshot in all region modes and threads: its timings are
/// interleaved, so it is the unit that a kill can lose and that a resume makes again.
namespace signorini {

struct Program;

struct ExperimentRequest {
  std::filesystem::path config;
  SceneSize size = SceneSize::quick;
  std::filesystem::path output = "results/out";
  bool resume = false;  ///< keep rows of the same program, configuration and recordings
  bool force = false;   ///< replace results and recordings that are there
  int threads = 1;      ///< for recording
};

struct ExperimentResult {
  std::filesystem::path folder;
  std::size_t rows = 0, resumed = 0, failed = 0;
  double seconds = 0.0;
};

/// The folder is let go at the end. A recording that another process is making right now is waited for.
ExperimentResult run_experiment(const Program& program, const ExperimentRequest& request,
                                ResultFolder folder);

}  // namespace signorini
