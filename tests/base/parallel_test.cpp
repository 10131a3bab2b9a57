#include "base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace signorini::parallel_test {
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

TEST(TaskArena, RunsEveryChunkOnceWhereverTheWorkIs) {
  for (const int threads : {1, 2, 3, 8, 40}) {  // 40: more than have a part of their own
    TaskArena arena(threads);
    for (const std::size_t n : {0U, 1U, 7U, 64U, 1000U}) {
      for (const std::size_t heavy : {0U, 1U}) {  // all the work at the start, or at the end
        std::vector<std::atomic<int>> count(n);
        std::atomic<int> largest{0};
        arena.for_chunks(n, 8, [&](std::size_t begin, std::size_t end) {
          EXPECT_EQ(begin % 8, 0U);
          EXPECT_EQ(end, std::min(n, begin + 8));
          const bool work = heavy == 0 ? begin < n / 4 : begin >= n / 4 * 3;
          for (int spin = 0; work && spin < 10000; ++spin) largest.fetch_add(1);
          for (std::size_t i = begin; i < end; ++i) ++count[i];
        });
        for (const auto& c : count) ASSERT_EQ(c.load(), 1) << threads << " threads, " << n;
      }
    }
  }
}

TEST(TaskArena, ChunksWithinChunksRunOnceToo) {
  TaskArena arena(2);
  std::vector<std::atomic<int>> count(1600);
  arena.for_chunks(40, 1, [&](std::size_t outer, std::size_t) {
    arena.for_chunks(40, 3, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++count[40 * outer + i];
    });
  });
  for (const auto& c : count) EXPECT_EQ(c.load(), 1);
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

TEST(TaskArena, KnowsHowManyThreadsSharedALoop) {
  const auto nothing = [](std::size_t) {};
  const auto no_range = [](std::size_t, std::size_t) {};
  TaskArena arena(4);
  EXPECT_EQ(arena.busiest(), 1);
  arena.for_each_task(1, nothing);
  arena.for_chunks(8, 8, no_range);
  EXPECT_EQ(arena.busiest(), 1) << "a task, a chunk: one thread";
  arena.for_chunks(9, 8, no_range);
  EXPECT_EQ(arena.busiest(), 2);
  arena.for_each_task(3, nothing);
  EXPECT_EQ(arena.busiest(), 3);
  arena.for_each_task(2, nothing);
  EXPECT_EQ(arena.busiest(), 3) << "the most so far";
  arena.forget_busiest();
  EXPECT_EQ(arena.busiest(), 1);
  arena.for_each_task(100, nothing);
  EXPECT_EQ(arena.busiest(), 4);
  arena.forget_busiest();
  EXPECT_EQ(arena.deterministic_sum(16, 8, [](std::size_t, std::size_t) { return 1.0; }), 2.0);
  EXPECT_EQ(arena.busiest(), 2);
}

TEST(TaskArena, StaysOnTheCallingThreadForATimeIfToldTo) {
  TaskArena arena(4);
  const auto me = std::this_thread::get_id();
  const auto mine = [&] { return std::this_thread::get_id() == me; };
  std::atomic<int> tasks{0}, numbers{0}, elsewhere{0};
  const auto all_loops = [&] {
    arena.for_each_task(100, [&](std::size_t) { tasks += 1, elsewhere += mine() ? 0 : 1; });
    arena.for_chunks(100, 3, [&](std::size_t begin, std::size_t end) {
      numbers += static_cast<int>(end - begin), elsewhere += mine() ? 0 : 1;
    });
    return arena.deterministic_sum(1000, 7, [&](std::size_t begin, std::size_t end) {
      elsewhere += mine() ? 0 : 1;
      double sum = 0.0;
      for (std::size_t i = begin; i < end; ++i) sum += 1.0 / static_cast<double>(i + 1);
      return sum;
    });
  };
  arena.begin_alone(1000.0);
  const double sum = all_loops();
  EXPECT_EQ(tasks, 100);
  EXPECT_EQ(numbers, 100);
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(arena.busiest(), 1);
  arena.begin_alone(0.0);
  EXPECT_EQ(all_loops(), sum) << "the same bits";
  EXPECT_EQ(arena.busiest(), 4);
  arena.forget_busiest();
  arena.begin_alone(1e-3);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(all_loops(), sum);
  EXPECT_EQ(arena.busiest(), 4) << "that time is over";
}

TEST(TaskArena, RethrowsWhatATaskThrows) {
  TaskArena arena(2);
  EXPECT_THROW(arena.for_each_task(10,
                                   [](std::size_t i) {
                                     if (i == 3) throw InputError("three");
                                   }),
               InputError);
  EXPECT_THROW(arena.for_chunks(10, 1,
                                [](std::size_t i, std::size_t) {
                                  if (i == 7) throw InputError("seven");
                                }),
               InputError);
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
}  // namespace signorini::parallel_test
