#include "collision/broad_phase.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace signorini::broad_phase_test {
namespace {

std::vector<Aabb> random_boxes(std::uint64_t seed, std::size_t count, double spread, double size) {
  Rng rng(seed);
  std::vector<Aabb> boxes(count);
  for (Aabb& box : boxes) {
    for (Index d = 0; d < 3; ++d) {
      box.low[d] = rng.uniform(-spread, spread);
      box.high[d] = box.low[d] + rng.uniform(0.0, size);
    }
  }
  return boxes;
}

class BroadPhase : public testing::TestWithParam<double> {};

TEST_P(BroadPhase, HashAndDoubleLoopFindTheSamePairsForEveryCellSize) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto a = random_boxes(2 * seed, 150, 1.0, 0.2);
    const auto b = random_boxes(2 * seed + 1, 200, 1.0, 0.3);
    const BoxPairs expected = overlapping_pairs_brute_force(a, b);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(overlapping_pairs(a, b, GetParam()), expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Cells, BroadPhase, testing::Values(0.004, 0.05, 0.3, 10.0));

TEST(BroadPhaseLimits, TouchingBoxesOverlapAndSeparateOnesDoNot) {
  const Aabb one{Vector3(0, 0, 0), Vector3(1, 1, 1)};
  const Aabb touching{Vector3(1, 1, 1), Vector3(2, 2, 2)};
  const Aabb apart{Vector3(1.0 + 1e-12, 0, 0), Vector3(2, 1, 1)};
  const std::vector<Aabb> a{one};
  const std::vector<Aabb> b{touching, apart};
  EXPECT_EQ(overlapping_pairs(a, b, 0.25), (BoxPairs{{0, 0}}));
}

TEST(BroadPhaseLimits, EmptySetsHugeBoxesAndFarAwayBoxesAreFine) {
  const std::vector<Aabb> none;
  const std::vector<Aabb> some = random_boxes(1, 10, 1.0, 0.1);
  EXPECT_TRUE(overlapping_pairs(none, some, 0.1).empty());
  EXPECT_TRUE(overlapping_pairs(some, none, 0.1).empty());
  std::vector<Aabb> wide = some;
  wide.push_back({Vector3::Constant(-1e9), Vector3::Constant(1e9)});  // 1e30 cells
  wide.push_back({Vector3::Constant(1e300), Vector3::Constant(1e301)});
  EXPECT_EQ(overlapping_pairs(wide, some, 0.1), overlapping_pairs_brute_force(wide, some));
  EXPECT_EQ(overlapping_pairs(some, wide, 0.1), overlapping_pairs_brute_force(some, wide));
}

TEST(BroadPhaseLimits, AnEmptyBoxOverlapsNothing) {
  const std::vector<Aabb> empty(1);
  const std::vector<Aabb> one{{Vector3::Zero(), Vector3::Ones()}};
  EXPECT_TRUE(overlapping_pairs_brute_force(empty, one).empty());
  EXPECT_TRUE(overlapping_pairs(empty, one, 0.1).empty());
  EXPECT_TRUE(overlapping_pairs(one, empty, 0.1).empty());
}

TEST(BroadPhaseLimits, AHashCanBeBuiltAgain) {
  SpatialHash hash;
  std::vector<Index> found;
  hash.build(random_boxes(3, 100, 1.0, 0.1), 0.1);
  const auto boxes = random_boxes(4, 50, 1.0, 0.2);
  hash.build(boxes, 0.2);
  for (Index i = 0; i < count(boxes); ++i) {
    hash.query(boxes[i], found);
    EXPECT_TRUE(std::binary_search(found.begin(), found.end(), i));
    EXPECT_LE(found.back(), 49);
  }
}

}  // namespace
}  // namespace signorini::broad_phase_test
