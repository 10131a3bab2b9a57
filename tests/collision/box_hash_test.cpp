#include "collision/box_hash.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"

namespace signorini::box_hash_test {
namespace {

std::vector<FloatBox> random_boxes(Rng& rng, std::size_t count, double spread, double size) {
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

class BoxHashCells : public testing::TestWithParam<double> {};

TEST_P(BoxHashCells, QueriesEqualTheDoubleLoopEachMemberOnce) {
  Rng rng(1);
  auto boxes = random_boxes(rng, 2000, 1.0, 0.1);
  for (const double size : {0.003, 0.5, 4.0, 300.0, 1e6}) {  // sizes side by side
    const auto more = random_boxes(rng, 40, 1.0, size);
    boxes.insert(boxes.end(), more.begin(), more.end());
  }
  const auto far = random_boxes(rng, 5, 1e14, 0.1);  // more cells away than a cell number holds
  boxes.insert(boxes.end(), far.begin(), far.end());
  std::vector<Index> members;
  for (Index i = 0; i < count(boxes); ++i) {
    if (i % 5 != 2) members.push_back(i);
  }
  BoxHash hash;
  hash.build(boxes, members, GetParam());
  EXPECT_EQ(hash.size(), members.size());
  for (std::size_t q = 0; q < boxes.size(); q += 3) {
    for (const int lowest : {0, hash.level(boxes[q])}) {
      std::vector<Index> found, expected;
      hash.for_overlapping(boxes[q], lowest, [&](Index m, int level) {
        EXPECT_EQ(level, hash.level(boxes[m]));
        found.push_back(m);
      });
      std::sort(found.begin(), found.end());
      for (const Index m : members) {
        const FloatBox& box = boxes[m];
        if (hash.level(box) >= lowest && overlap(box, boxes[q])) expected.push_back(m);
      }
      ASSERT_EQ(found, expected) << q << ' ' << lowest;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Cells, BoxHashCells, testing::Values(1e-9, 0.004, 0.05, 0.3, 10.0));

TEST(BoxHash, LevelsFollowTheLongestSide) {
  BoxHash hash;
  hash.build({}, {}, 0.5);
  EXPECT_EQ(hash.highest_level(), -1);
  const auto level = [&](double side) {
    FloatBox box;
    for (int d = 0; d < 3; ++d) {
      box.lane[d] = 0.0F;
      box.lane[d + 4] = d == 1 ? static_cast<float>(side) : 0.0F;
    }
    return hash.level(box);
  };
  EXPECT_EQ(level(0.0), 0);
  EXPECT_EQ(level(0.5), 0);
  EXPECT_EQ(level(0.5001), 1);
  EXPECT_EQ(level(1.0), 1);
  EXPECT_EQ(level(1.0001), 2);
  EXPECT_EQ(level(64.0), 7);
  EXPECT_EQ(level(1e30), BoxHash::kLevels - 1);
  hash.for_overlapping(float_box(Vector3::Zero(), Vector3::Ones()), 0, [](Index, int) { FAIL(); });
}

}  // namespace
}  // namespace signorini::box_hash_test
