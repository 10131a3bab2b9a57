#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/cpu_use.h"

/// Google Benchmark as the stopwatch of the protocols: repetitions of all tasks in random order, so that a
/// slow moment of the machine does not fall on one of them alone.
namespace signorini {

struct TimedTask {
  std::string name;
  std::function<void()> reset;  ///< before every call of `work`, not timed
  std::function<void()> work;
  double estimate = 0.0;  ///< s, of one call; decides how many calls a repetition averages
};

struct TimerOptions {
  int repetitions = 5;
  double minimum_time = 2e-3;  ///< s of `work` per repetition
};

struct TimedRepetition {
  double seconds = 0.0;  ///< per call
  CpuUse use;            ///< of the repetition, with its resets
};

/// [task][repetition]. An exception of a task is rethrown here.
std::vector<std::vector<TimedRepetition>> time_interleaved(std::span<const TimedTask> tasks,
                                                           const TimerOptions& options);

}  // namespace signorini
