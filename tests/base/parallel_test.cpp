#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace signorini {
namespace {

TEST(TaskArena, RunsEveryTaskOnceForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 4, 8}) {
    TaskArena arena(threads);
    EXPECT_EQ(arena.threads(), threads);
    std::vector<std::atomic<int>> count(1000);
    arena.for_each_task(count.size(), [&](std::size_t i) { ++count[i]; });
    for (const auto& c : count) EXPECT_EQ(c.load(), 1);
  }
}

TEST(TaskArena, SumHasTheSameBitsForAnyNumberOfThreads) {
  Rng rng(7);
  std::vector<double> x(100000);
  for (double& value : x) value = rng.normal();
  std::vector<double> sums;
  for (const int threads : {1, 2, 4, 8}) {
    TaskArena arena(threads);
    sums.push_back(arena.deterministic_sum(x.size(), 1024, [&](std::size_t begin, std::size_t end) {
      double sum = 0.0;
      for (std::size_t i = begin; i < end; ++i) sum += x[i];
      return sum;
    }));
  }
  for (const double sum : sums) EXPECT_EQ(std::memcmp(&sum, &sums[0], sizeof sum), 0);
}

TEST(TaskArena, RethrowsWhatATaskThrows) {
  TaskArena arena(2);
  EXPECT_THROW(arena.for_each_task(10, [](std::size_t i) { if (i == 3) throw InputError("three"); }), InputError);
}

TEST(TaskArena, RefusesZeroThreads) { EXPECT_THROW(TaskArena(0), UsageError); }

TEST(Rng, StreamsAreReproducibleAndDiffer) {
  Rng a(1, 0);
  Rng b(1, 0);
  Rng c(1, 1);
  const auto first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

}  // namespace
}  // namespace signorini
