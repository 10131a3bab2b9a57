#include "collision/bvh.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"

namespace signorini::bvh_test {
namespace {

std::vector<FloatBox> random_boxes(std::uint64_t seed, std::size_t count, double spread, double size) {
  Rng rng(seed);
  std::vector<FloatBox> boxes(count);
  for (FloatBox& box : boxes) {
    Vector3 low, high;
    for (Index d = 0; d < 3; ++d) {
      low[d] = rng.uniform(-spread, spread);
      high[d] = low[d] + rng.uniform(0.0, size);
    }
    box = float_box(low, high);
  }
  return boxes;
}

std::vector<Index> overlapping(std::span<const FloatBox> boxes, std::span<const Index> members,
                               const FloatBox& box) {
  std::vector<Index> result;
  for (const Index m : members) {
    if (overlap(boxes[m], box)) result.push_back(m);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Index> all(std::size_t count) {
  std::vector<Index> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(FloatBoxes, HoldTheirDoubles) {
  Rng rng(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = (rng.uniform() - 0.5) * std::pow(10.0, rng.uniform(-50.0, 30.0));
    const float low = rounded_down(x), high = rounded_up(x);
    ASSERT_LE(low, x);
    ASSERT_GE(high, x);
    // Two units in the last place of a float, or the smallest normal numbers.
    ASSERT_LE(static_cast<double>(high) - low, 4.0 * (std::abs(x) * 0x1p-23 + 0x1p-126));
  }
  EXPECT_LE(rounded_down(0.0), 0.0F);
  EXPECT_GE(rounded_up(0.0), 0.0F);
}

TEST(FloatBoxes, OverlapWhenTheyTouchAndContainThemselves) {
  const FloatBox one = float_box({0, 0, 0}, {1, 1, 1});
  FloatBox beside = one;
  beside.lane[0] = one.high(0);
  beside.lane[4] = 2.0F;
  EXPECT_TRUE(overlap(one, beside));
  beside.lane[0] = std::nextafter(one.high(0), 3.0F);
  EXPECT_FALSE(overlap(one, beside));
  EXPECT_TRUE(contains(one, one));
  EXPECT_FALSE(contains(one, beside));
  EXPECT_FALSE(overlap(FloatBox{}, one));
  EXPECT_TRUE(contains(one, FloatBox{}));
  EXPECT_EQ(FloatBox{}.half_area(), 0.0);
}

class BvhSizes : public testing::TestWithParam<std::size_t> {};

TEST_P(BvhSizes, QueriesEqualTheDoubleLoopAfterBuildingAndAfterRefitting) {
  TaskArena arena(2);
  const auto boxes = random_boxes(1, GetParam(), 1.0, 0.3);
  const auto moved = random_boxes(2, GetParam(), 2.0, 0.2);
  const auto probes = random_boxes(3, 50, 1.5, 0.5);
  std::vector<Index> members;
  for (std::size_t i = 0; i < GetParam(); ++i) {
    if (i % 3 != 1) members.push_back(static_cast<Index>(i));
  }
  Bvh tree;
  std::vector<Index> found;
  tree.build(arena, boxes, members);
  EXPECT_EQ(tree.size(), members.size());
  EXPECT_EQ(tree.degradation(), 1.0);
  for (const FloatBox& probe : probes) {
    found.clear();
    tree.for_overlapping(probe, [&](Index m) { found.push_back(m); });
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, overlapping(boxes, members, probe));
  }
  tree.refit(arena, moved);
  for (const FloatBox& probe : probes) {
    found.clear();
    tree.for_overlapping(probe, [&](Index m) { found.push_back(m); });
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, overlapping(moved, members, probe));
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, BvhSizes, testing::Values(0, 1, 2, 8, 9, 17, 100, 777, 5000));

TEST(Bvh, LeavesFromANumberOnAreVisitedInOrder) {
  TaskArena arena(1);
  const auto boxes = random_boxes(4, 300, 1.0, 0.3);
  Bvh tree;
  tree.build(arena, boxes, all(boxes.size()));
  const FloatBox everything = float_box(Vector3::Constant(-9), Vector3::Constant(9));
  for (Index first = 0; first < tree.leaves(); ++first) {
    std::vector<Index> seen, expected(tree.leaves() - first);
    std::iota(expected.begin(), expected.end(), first);
    tree.for_leaves(everything, first, [&](Index leaf) { seen.push_back(leaf); });
    ASSERT_EQ(seen, expected);
  }
}

TEST(Bvh, TheSameTreeForEveryNumberOfThreads) {
  // Coordinates on a coarse grid: many equal centres, whose order must not depend on anything but numbers.
  Rng rng(5);
  std::vector<FloatBox> boxes(3000);
  for (FloatBox& box : boxes) {
    const Vector3 low(static_cast<double>(rng.below(4)), static_cast<double>(rng.below(4)), 0.0);
    box = float_box(low, low + Vector3::Ones());
  }
  Bvh reference;
  TaskArena one(1);
  reference.build(one, boxes, all(boxes.size()));
  for (const int threads : {2, 4, 8}) {
    TaskArena arena(threads);
    Bvh tree;
    tree.build(arena, boxes, all(boxes.size()));
    ASSERT_EQ(tree.leaves(), reference.leaves());
    for (Index leaf = 0; leaf < tree.leaves(); ++leaf)
      ASSERT_TRUE(std::ranges::equal(tree.members(leaf), reference.members(leaf))) << leaf;
  }
}

TEST(Bvh, NoticesThatItsShapeNoLongerFits) {
  TaskArena arena(1);
  auto boxes = random_boxes(6, 2000, 1.0, 0.02);
  Bvh tree;
  tree.build(arena, boxes, all(boxes.size()));
  for (FloatBox& box : boxes) {  // everything moves together
    for (float& lane : box.lane) lane += 0.25F;
  }
  tree.refit(arena, boxes);
  EXPECT_NEAR(tree.degradation(), 1.0, 1e-3);  // floats: 2⁻²⁴ of 2 over boxes of 0.01, some 1e-5
  tree.refit(arena, random_boxes(7, 2000, 1.0, 0.02));  // everything is mixed
  EXPECT_GT(tree.degradation(), 3.0);
}

}  // namespace
}  // namespace signorini::bvh_test
