#include <gtest/gtest.h>

#include "collision/contact_finder.h"
#include "collision/surface_scene.h"

#define SIGNORINI_DEFINE_ALLOCATION_COUNTER
#include "solvers/allocation_counter.h"

namespace signorini::detection_allocation_test {
namespace {

class DetectionAllocation : public testing::TestWithParam<BroadPhase> {};

TEST_P(DetectionAllocation, NoneOnceTheBuffersHaveTheirSize) {
  const test::SurfaceScene scene = test::ring_pile(8, 1, 6);
  std::vector<Vector3> still(scene.x.size(), Vector3::Zero()), few = scene.x, all = scene.x;
  Rng rng(2);
  test::shake(all, rng, 0.02);
  for (std::size_t v = 0; v < few.size(); v += 100) few[v] = all[v];
  TaskArena arena(1);
  ContactFinder finder(scene.model, {.tolerance = 2e-3, .broad_phase = GetParam()});
  std::vector<SurfaceContact> near, crossing;
  const auto detect = [&] {
    finder.update_candidates(arena, scene.x, still, 1e-3);
    finder.proximity(arena, scene.x, near);
    finder.crossings(arena, scene.x, few, {}, crossing);  // some vertices leave their boxes
    finder.crossings(arena, scene.x, all, {}, crossing);  // most of them
  };
  ASSERT_GT(test::allocations_during(detect), 0);
  ASSERT_FALSE(near.empty());
  ASSERT_FALSE(crossing.empty());
  detect();
  EXPECT_EQ(test::allocations_during(detect), 0);
}
INSTANTIATE_TEST_SUITE_P(BroadPhases, DetectionAllocation, testing::Values(BroadPhase::bvh, BroadPhase::hash),
                         [](const auto& test) { return std::string(enum_name(test.param)); });

}  // namespace
}  // namespace signorini::detection_allocation_test
