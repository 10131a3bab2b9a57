#pragma once

#include <limits>
#include <vector>

#include "record/recording_file.h"
#include "scene/stepper.h"

namespace signorini {

/// What the progress line, the CSV file and the recording know of a step.
struct StepStatistics {
  long long step = 0;
  long long steps = 0;  ///< planned
  double time = 0.0;    ///< s, end of the step
  int frames = 0;       ///< recorded of this step
  /// Of the step's last contact problem: contacts connected through shared mass points, through whole bodies.
  int regions = 0, islands = 0;
  StepReport report;
  /// Whether surfaces pass through each other at the end of the step: 1 or 0; NaN where this was not tested
  /// (steps that are not recorded, but for the last one).
  double intersects = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> probes;  ///< what the scene's probes measured at the end of the step
  double recording_seconds =
      0.0;  ///< counting regions, probes, building and writing frames: no part of the step
};

/// What recordings up to program version 0.1.0 of schema 2 call the column `deepest_point`.
inline constexpr const char* kOldDeepestPoint = "penetration";

/// The columns of `/statistics`, without rows and without those of the scene's probes, which follow: the same
/// for every stepper, equal for equal runs.
StepTable statistics_table();
/// The columns that only FILE.steps.csv has besides: seconds by the clock.
StepTable clocks_table();
std::vector<double> statistics_row(const StepStatistics& step);
std::vector<double> clocks_row(const StepStatistics& step);

}  // namespace signorini
