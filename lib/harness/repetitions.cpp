#include "harness/repetitions.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/median.h"

namespace signorini {

int repetitions_of(double seconds, int repetitions) {
  if (!(seconds * repetitions > kRepeatedFor)) return repetitions;
  const int most = static_cast<int>(kRepeatedFor / seconds);
  const int least = repetitions >= 3 && 3.0 * seconds <= kThriceFor ? 3 : 1;
  return std::max(least, most % 2 == 0 ? most - 1 : most);
}

double repeated_seconds(double first, int repetitions, const std::function<double()>& again) {
  std::vector<double> seconds{first};
  const int wanted = repetitions_of(first, repetitions);
  while (std::ssize(seconds) < wanted) seconds.push_back(again());
  return median_of(std::move(seconds));
}

int runs_in_turns(double seconds, int repetitions) {
  const int counted = repetitions_of(seconds, repetitions);
  return seconds < kWarmBelow ? 2 * counted - 1 : counted;
}

int runs_wanted(const RunRecord& first, int repetitions) {
  const bool ran = first.status != SolveStatus::unsupported && first.status != SolveStatus::failed;
  return ran ? repetitions_of(first.setup_seconds + first.solve_seconds, repetitions) : 1;
}

void repeat_in_turns(std::span<const RepeatedRun> runs, int repetitions) {
  struct Made {
    std::vector<RunRecord> rows;
    int wanted = 1;
  };
  const auto seconds = [](const RunRecord& run) { return run.setup_seconds + run.solve_seconds; };
  std::vector<Made> made(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& first = *runs[i].row;
    made[i].rows.push_back(first);
    made[i].wanted = runs_wanted(first, repetitions);
  }
  for (int round = 1; round < repetitions; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (round >= made[i].wanted) continue;
      if (seconds(made[i].rows.front()) < kWarmBelow) runs[i].again();
      made[i].rows.push_back(runs[i].again());
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<RunRecord>& rows = made[i].rows;
    const auto middle = rows.begin() + std::ssize(rows) / 2;
    std::nth_element(rows.begin(), middle, rows.end(), [&](const RunRecord& one, const RunRecord& other) {
      return seconds(one) < seconds(other);
    });
    *runs[i].row = std::move(*middle);
  }
}

}  // namespace signorini
