#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/run_record.h"
#include "json_output.h"

/// What a comparison found, a line per variant: the table at the end of `signorini compare`.
namespace signorini {

struct ComparisonLine {
  std::string variant;  ///< label; with region mode and threads where the runs differ in them
  std::size_t snapshots = 0, solved = 0;
  std::size_t fastest = 0;  ///< snapshots on which it took the least time, set-up included
  double iterations = 0.0;  ///< median over those that it solved; NaN without one
  double times_best = 0.0;  ///< median of its time over that of the fastest, over those that it solved
  std::string not_solved;   ///< "2 time_limit, 1 stalled"
};

struct Comparison {
  std::size_t snapshots = 0, solved_by_none = 0;
  std::vector<ComparisonLine> lines;  ///< most solved first, then most often the fastest
};

/// From the rows of protocol time, of self-stopped where there are none, repetitions by their median.
Comparison compare_runs(std::span<const RunRecord> rows);

/// Lines of at most 80 columns.
void print_comparison(const Comparison& comparison);
Json to_json(const Comparison& comparison);

}  // namespace signorini
