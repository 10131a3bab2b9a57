#pragma once

#include <functional>
#include <span>

#include "harness/run_record.h"

/// How often short times are taken again, and in which order. A time of a row is a median: an interrupt, cold caches or a
/// machine that is slower for a second do not decide.
namespace signorini {

/// What is timed is repeated for as long as this. s
inline constexpr double kRepeatedFor = 0.25;
/// Three times, where these take no longer than this. s
inline constexpr double kThriceFor = 1.0;
/// Set-ups below this are made once more before the first that counts.
inline bool is_short(double seconds) { return seconds < kRepeatedFor; }
/// How often something of so many seconds is timed: `repetitions` times, or fewer, an odd number, where these would take
/// longer than kRepeatedFor, but three where these take at most kThriceFor. Else once.
int repetitions_of(double seconds, int repetitions);

/// The median of `repetitions_of` times, `first` one of them. `again` returns the next one. s
double repeated_seconds(double first, int repetitions, const std::function<double()>& again);

/// A run that was made once. `again` sets up anew and solves anew: what a solver keeps from one solve to the next does not
/// count for it.
struct RepeatedRun {
  RunRecord* row = nullptr;
  std::function<RunRecord()> again;
};
/// How many runs `repeat_in_turns` makes of one that was made: 1 where it says why it was not made, or failed.
int runs_wanted(const RunRecord& first, int repetitions);
/// Below this a run is made twice in its turn, and the second counts: the others have taken its place in the caches. s
inline constexpr double kWarmBelow = 5e-3;
/// How many runs of so many seconds `repeat_in_turns` makes or finds made, those that do not count included.
int runs_in_turns(double seconds, int repetitions);
/// Replaces every row by that of `repetitions_of` runs, itself one of them, with the median time of set-up and solve. Runs take
/// turns, one of each and then the next of each: a machine that is slower for a second then slows all of them, and not one in
/// all its repetitions.
void repeat_in_turns(std::span<const RepeatedRun> runs, int repetitions);

}  // namespace signorini
