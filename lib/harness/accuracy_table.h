#pragma once

#include <string>
#include <vector>

#include "harness/experiment.h"
#include "harness/recording_provider.h"
#include "harness/recording_tables.h"

/// How far recordings of one scene are from the finest of them: [accuracy] of an experiment.
///
/// Recordings of one scene that differ in the setting `over` alone form a ladder; the one with its least value
/// is the finest, f. With x_i(t) the surface vertices of all bodies, c_b(t) the mean of those of body b, P the
/// projection on the plane of a level floor (z = const), [t1, t2] the last part of what both recorded
/// (t1 ≥ (1 − rest) t2), every row of accuracy.csv holds of a recording and f:
///
///     drift_b      ‖P (c_b(t2) − c_b(t1))‖ / (t2 − t1)        drift_mean, drift_most over the bodies   [m/s]
///     resting      number of the bodies with drift_b of f below `rest_speed`
///     creep        drift_b of these bodies                    creep_mean, creep_most                   [m/s]
///     apart        ‖x_i(t2) − x_i^f(t2)‖                      apart_mean, apart_most over the vertices [m]
///     energy_error max |E(t) − E^f(t)| over common steps, energy = |E^f| after the first step          [J]
///
/// and of the recording alone: `deepest_point` [m], the largest; `residual`, the largest; `velocity_error`
/// [m/s], the mean over the steps with contacts of the last part, of all its steps (`velocity_error_whole`)
/// and the largest (`velocity_error_most`); `iterations`, the mean over the steps with contacts; `halved` and
/// `unresolved`, numbers of such steps; `time_step`, `duration` [s]; the mean of every clock over the steps
/// with contacts. Positions are those of the frames: the times t1 and t2 are the starts of recorded steps.
/// A cell without a value is empty. Recordings that do not set `over` have no row.
namespace signorini {

/// Throws `UsageError` where `over` is no number, or set by no recording; `InputError` for frames without
/// geometry.
std::string accuracy_table(const Experiment& experiment, const std::vector<RecordedScene>& recorded,
                           const RecordingProvider& provider, const RunMonitor& monitor);

}  // namespace signorini
