#pragma once

#include <cstddef>
#include <filesystem>

#include "base/run_monitor.h"
#include "harness/experiment_request.h"
#include "harness/recording_provider.h"
#include "harness/result_folder.h"
#include "harness/run_groups.h"

/// Runs an experiment: every solver variant on every chosen snapshot in every region mode and number of threads, by the
/// protocols of harness/protocols.h. Scenes are recorded by a provider.
///
///     OUT/<id>/run.toml                     what the rows depend on, then the experiment's file
///     OUT/<id>/runs.csv                     a row per run, on disk as soon as it is final
///     OUT/<id>/problems/<name>.hdf5         the problems that the experiment brings along
///     OUT/<id>/regions.csv                  how many regions of which size the snapshots have; there at the end
///     OUT/<id>/recordings.csv               settings of the recordings, values of the facts of their scenes
///     OUT/<id>/series.csv                   columns of their statistics over time, where `series` asks
///     OUT/<id>/steps.csv                    all of their statistics and clocks, where `steps` asks
///     OUT/<id>/accuracy.csv                 how far they are from the finest, where `accuracy` asks
///     OUT/<id>/follow.csv                   regions followed over their steps, where `follow` asks
///     OUT/<id>/trace.h5                     convergence curves (trace.h5.parts while running)
///     OUT/<id>/env.json                     provenance
///     OUT/<id>/replaced, OUT/<id>.lock      see harness/result_folder.h
///
/// A kill loses the run at work and rows that are not final yet (harness/run_group.h): short runs of the last ten seconds, which
/// are repeated in turns, and the timings of a group. A snapshot is decoded once for all of its groups, and not at all when none
/// is missing. With `groups` others may have a say in which are made, and where their rows come from.
namespace signorini {

struct ExperimentResult {
  std::filesystem::path folder;
  std::size_t rows = 0, resumed = 0, failed = 0;
  std::size_t unreadable = 0;  ///< files and snapshots left out (`ExperimentRequest::skip_unreadable`)
  double seconds = 0.0;
};

/// The folder is let go at the end. Throws `Cancelled` when the monitor asks to end: rows that are final stay.
ExperimentResult run_experiment(const ExperimentRequest& request, ResultFolder folder,
                                RecordingProvider& provider, RunMonitor& monitor,
                                RunGroups* groups = nullptr);

}  // namespace signorini
