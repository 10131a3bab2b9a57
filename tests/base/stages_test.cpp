#include "base/stages.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace signorini::stages_test {
namespace {

TEST(Stages, AStageBeginsWhenTheOneBeforeHasEnded) {
  const std::vector<std::size_t> sizes{5, 1, 40, 1, 1, 3, 200, 2};
  for (const int threads : {1, 2, 4, 8}) {
    TaskArena arena(threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<std::size_t>> ended(sizes.size());
      std::vector<std::atomic<int>> runs(200 * sizes.size());
      std::atomic<int> early{0};
      for_each_stage(arena, sizes, [&](std::size_t stage, std::size_t i) {
        for (std::size_t before = 0; before < stage; ++before) early += ended[before] != sizes[before];
        for (std::size_t later = stage + 1; later < sizes.size(); ++later) early += ended[later] != 0;
        ++runs[200 * stage + i];
        ++ended[stage];
      });
      EXPECT_EQ(early, 0) << threads << " threads";
      for (std::size_t stage = 0; stage < sizes.size(); ++stage)
        for (std::size_t i = 0; i < 200; ++i) ASSERT_EQ(runs[200 * stage + i], i < sizes[stage] ? 1 : 0);
    }
  }
}

TEST(Stages, NoStagesAreNoWork) {
  TaskArena arena(2);
  for_each_stage(arena, {}, [](std::size_t, std::size_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace signorini::stages_test
