#include "collision/candidate_pairs.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "collision/surface_scene.h"

namespace signorini::candidate_pairs_test {
namespace {

using Pairs = std::vector<std::array<Index, 2>>;

struct AllPairs {
  Pairs vertex_face, edge_edge;
  bool operator==(const AllPairs&) const = default;
};

/// Ascending; edges by number. A pair that is listed twice stays twice.
AllPairs listed(const CandidatePairs& candidates) {
  const auto gather = [](std::span<const PairRuns> parts, bool ordered) {
    Pairs pairs;
    for (const PairRuns& runs : parts) {
      std::size_t i = 0;
      for (std::size_t run = 0; run < runs.feature.size(); ++run) {
        for (; std::cmp_less(i, runs.end[run]); ++i) {
          Index a = runs.feature[run], b = runs.partner[i];
          if (ordered && a > b) std::swap(a, b);
          pairs.push_back({a, b});
        }
      }
      EXPECT_EQ(i, runs.partner.size());
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  };
  return {gather(candidates.vertex_face(), false), gather(candidates.edge_edge(), true)};
}

AllPairs brute_force(const SurfaceModel& model, std::span<const FloatBox> vertex) {
  TaskArena arena(1);
  std::vector<FloatBox> face(model.triangles.size()), edge(model.edges.size());
  unite_boxes(arena, model, vertex, face, edge);
  AllPairs pairs;
  test::for_all_pairs(model, [&](const PairKey& key, Index a, Index b) {
    const std::size_t i = a, j = b;
    if (key.kind == PairKind::vertex_face && overlap(vertex[i], face[j])) pairs.vertex_face.push_back({a, b});
    if (key.kind == PairKind::edge_edge && overlap(edge[i], edge[j])) pairs.edge_edge.push_back({a, b});
  });
  return pairs;
}

std::vector<FloatBox> boxes_around(const std::vector<Vector3>& x, double margin) {
  std::vector<FloatBox> boxes;
  for (const Vector3& p : x)
    boxes.push_back(float_box(p - Vector3::Constant(margin), p + Vector3::Constant(margin)));
  return boxes;
}

class Candidates : public testing::TestWithParam<BroadPhase> {};

TEST_P(Candidates, AreThePairsOfTheDoubleLoopEachOnce) {
  TaskArena arena(2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    auto scene = test::mixed_scene(seed, seed % 2 == 0 ? 0.4 : 2.0);
    CandidatePairs candidates(scene.model, GetParam());
    Rng rng(seed + 100);
    for (int step = 0; step < 4; ++step) {
      const auto boxes = boxes_around(scene.x, rng.uniform(0.0, 0.05));
      candidates.find(arena, boxes);
      const AllPairs expected = brute_force(scene.model, boxes);
      ASSERT_FALSE(expected.vertex_face.empty());
      ASSERT_FALSE(expected.edge_edge.empty());
      ASSERT_EQ(listed(candidates), expected);
      test::shake(scene.x, rng, step == 2 ? 1.0 : 0.05);
    }
  }
}

TEST_P(Candidates, FollowVerticesThatLeaveTheirBoxes) {
  TaskArena arena(2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    auto scene = test::mixed_scene(seed, 0.4);
    CandidatePairs candidates(scene.model, GetParam());
    Rng rng(seed + 200);
    auto boxes = boxes_around(scene.x, 0.01);
    candidates.find(arena, boxes);
    EXPECT_EQ(candidates.extend(arena, boxes), 0U);
    // First one vertex after the other (asked for alone), then all of them (searched again).
    for (std::size_t round = 0; round < 6; ++round) {
      auto x = scene.x;
      std::size_t leaving = 0;
      for (std::size_t v = 0; v < x.size(); ++v) {
        if (round < 5 && (v + 7 * round) % 40 != 0) continue;
        x[v] += Vector3(0.3, 0, 0) + test::random_point(rng, 0.2);
        ++leaving;
      }
      const auto later = boxes_around(x, 0.005);
      // A box that has grown before may hold its vertex by chance.
      EXPECT_LE(candidates.extend(arena, later), leaving);
      EXPECT_EQ(candidates.extend(arena, later), 0U);
      for (std::size_t v = 0; v < x.size(); ++v) boxes[v].extend(later[v]);
      // Boxes may have grown more than asked for, so at least these, each once, and none that does not
      // overlap.
      const AllPairs found = listed(candidates), least = brute_force(scene.model, boxes);
      ASSERT_TRUE(std::ranges::includes(found.vertex_face, least.vertex_face)) << seed << ' ' << round;
      ASSERT_TRUE(std::ranges::includes(found.edge_edge, least.edge_edge)) << seed << ' ' << round;
      const AllPairs exact = brute_force(scene.model, candidates.vertex_boxes());
      ASSERT_EQ(found, exact) << seed << ' ' << round;
    }
  }
}

TEST_P(Candidates, ListsDoNotDependOnTheNumberOfThreads) {
  const auto scene = test::ring_pile(12, 3);
  const auto boxes = boxes_around(scene.x, 0.005);
  const auto lists = [&](int threads) {
    TaskArena arena(threads);
    CandidatePairs candidates(scene.model, GetParam());
    candidates.find(arena, boxes);
    auto moved = boxes;
    for (std::size_t v = 0; v < moved.size(); v += 50) moved[v].lane[4] += 0.05F;
    candidates.extend(arena, moved);
    std::vector<std::vector<Index>> all;
    for (const auto& parts : {candidates.vertex_face(), candidates.edge_edge()}) {
      for (const PairRuns& runs : parts) {
        for (const auto& list : {runs.feature, runs.end, runs.partner}) all.push_back(list);
      }
    }
    return all;
  };
  const auto one = lists(1);
  for (const int threads : {2, 4, 8}) EXPECT_EQ(lists(threads), one) << threads;
}

TEST_P(Candidates, NothingOfNothing) {
  TaskArena arena(1);
  const SurfaceModel empty;
  CandidatePairs candidates(empty, GetParam());
  candidates.find(arena, {});
  EXPECT_EQ(listed(candidates), AllPairs{});
  EXPECT_EQ(candidates.extend(arena, {}), 0U);
}

TEST_P(Candidates, LargeTrianglesBesideSmallOnes) {
  test::SurfaceScene scene;
  scene.add(test::sheet(1, 1000.0), false, false);
  scene.add(test::moved(test::sheet(2, 300.0), {0, 0, 0.5}));
  scene.add(test::moved(test::box({0.02, 0.02, 0.02}, 3), {1.0, 2.0, 0.01}));
  scene.add(test::moved(test::box({0.02, 0.02, 0.02}, 3), {1.015, 2.0, 0.01}), true, false);
  TaskArena arena(2);
  CandidatePairs candidates(scene.model, GetParam());
  for (const double margin : {0.0, 0.002, 1.0, 500.0}) {
    const auto boxes = boxes_around(scene.x, margin);
    candidates.find(arena, boxes);
    ASSERT_EQ(listed(candidates), brute_force(scene.model, boxes)) << margin;
  }
}

INSTANTIATE_TEST_SUITE_P(BroadPhases, Candidates, testing::Values(BroadPhase::bvh, BroadPhase::hash),
                         [](const auto& test) { return std::string(enum_name(test.param)); });

}  // namespace
}  // namespace signorini::candidate_pairs_test
