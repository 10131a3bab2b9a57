#include "solvers/work_and_span.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

#include "base/check.h"

namespace signorini {

double list_schedule(std::span<const double> pieces, int cores) {
  SIGNORINI_CHECK(cores >= 1);
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;  // of the cores in use
  double end = 0.0;
  for (const double piece : pieces) {
    double begin = 0.0;
    if (free_at.size() == static_cast<std::size_t>(cores)) {
      begin = free_at.top();
      free_at.pop();
    }
    free_at.push(begin + piece);
    end = std::max(end, begin + piece);
  }
  return end;
}

void add_stage(std::span<const double> pieces, int cores, double barrier, WorkAndSpan& sum) {
  if (pieces.empty()) return;
  sum.work += std::accumulate(pieces.begin(), pieces.end(), 0.0);
  sum.span += *std::ranges::max_element(pieces);
  sum.time += list_schedule(pieces, cores) + (cores > 1 && pieces.size() > 1 ? barrier : 0.0);
}

}  // namespace signorini
