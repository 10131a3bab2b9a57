#include "collision/continuous.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "base/rng.h"

namespace signorini::continuous_test {
namespace {

using Points = std::array<Vector3, 4>;

const Points kRest{Vector3::Zero(), Vector3::Zero(), Vector3::Zero(), Vector3::Zero()};

/// p over the triangle (0,0,0), (1,0,0), (0,1,0), whose outer side is +z.
Points over_triangle(const Vector3& p) { return {p, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}; }
Points only_first(const Vector3& d) { return {d, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}; }

Vector3 combination(const std::array<double, 4>& weight, const Points& x) {
  return weight[0] * x[0] + weight[1] * x[1] + weight[2] * x[2] + weight[3] * x[3];
}

TEST(VertexFaceImpact, AFallingVertexHitsAtTheTimeAndPlaceComputedByHand) {
  const auto impact = vertex_face_impact(over_triangle({0.25, 0.5, 0.3}), only_first({0, 0, -0.4}));
  ASSERT_TRUE(impact);
  EXPECT_DOUBLE_EQ(impact->time, 0.75);
  EXPECT_NEAR((impact->normal - Vector3(0, 0, 1)).norm(), 0.0, 1e-15);
  const std::array<double, 4> weight{1.0, -0.25, -0.25, -0.5};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(impact->weight[i], weight[i]);
}

TEST(VertexFaceImpact, TheNormalPointsToWhereTheVertexWas) {
  const auto impact = vertex_face_impact(over_triangle({0.25, 0.5, -0.3}), only_first({0, 0, 0.4}));
  ASSERT_TRUE(impact);
  EXPECT_NEAR((impact->normal - Vector3(0, 0, -1)).norm(), 0.0, 1e-15);
}

TEST(VertexFaceImpact, AMissBesideTheTriangleOrShortOfItIsNone) {
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.75, 0.5, 0.3}), only_first({0, 0, -0.4})));
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.25, 0.5, 0.3}), only_first({0, 0, -0.299999})));
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.25, 0.5, 0.3}), kRest));
}

TEST(VertexFaceImpact, TheIntervalIsClosedAtBothEnds) {
  const auto at_end = vertex_face_impact(over_triangle({0.25, 0.25, 0.5}), only_first({0, 0, -0.5}));
  ASSERT_TRUE(at_end);
  EXPECT_DOUBLE_EQ(at_end->time, 1.0);
  const auto at_start = vertex_face_impact(over_triangle({0.25, 0.25, 0}), only_first({0, 0, -0.5}));
  ASSERT_TRUE(at_start);
  EXPECT_EQ(at_start->time, 0.0);
  EXPECT_EQ(at_start->normal, Vector3(0, 0, 1));
}

TEST(VertexFaceImpact, InContactAtTheStartRestAndSlidingCountAndLeavingOutwardsDoesNot) {
  const Points touching = over_triangle({0.25, 0.25, 0});
  EXPECT_FALSE(vertex_face_impact(touching, only_first({0, 0, 0.5})));
  EXPECT_FALSE(vertex_face_impact(touching, only_first({0.1, 0, 1e-12})));
  for (const Vector3& d : {Vector3(0, 0, 0), Vector3(0.1, 0.2, 0), Vector3(3, 0, 0)}) {
    const auto impact = vertex_face_impact(touching, only_first(d));
    ASSERT_TRUE(impact);
    EXPECT_EQ(impact->time, 0.0);
    EXPECT_EQ(impact->normal, Vector3(0, 0, 1));
  }
  // Apart by any distance that is not rounding and leaving: none, on either side.
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.25, 0.25, 1e-12}), only_first({0, 0, 1})));
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.25, 0.25, -1e-12}), only_first({0, 0, -1})));
}

TEST(VertexFaceImpact, AVertexThatLeavesAndComesBackHitsOnItsReturn) {
  // Under the vertex the face rises to 0.6 t / (1 − 0.9 t) while the vertex rises to t: they meet at t = 4/9.
  const Points x = over_triangle({0.25, 0.25, 0});
  const Points d{Vector3(0, 0, 1), Vector3(0, 0, 0), Vector3(-0.9, 0, 1.2), Vector3(0, -0.9, 1.2)};
  const auto impact = vertex_face_impact(x, d);
  ASSERT_TRUE(impact);
  EXPECT_NEAR(impact->time, 4.0 / 9.0, 1e-13);
  const Points at{x[0] + impact->time * d[0], x[1] + impact->time * d[1], x[2] + impact->time * d[2],
                  x[3] + impact->time * d[3]};
  EXPECT_NEAR(combination(impact->weight, at).norm(), 0.0, 1e-9);
}

TEST(VertexFaceImpact, OfSeveralPassagesTheFirstInsideTheTriangleCounts) {
  // The vertex swings through the plane beside the triangle; the triangle then comes under it from below,
  // moves through and meets it again.
  const Points x = over_triangle({2.0, 0.2, 0.1});
  const auto impact = vertex_face_impact(
      x, {Vector3(-1.8, 0, -0.4), Vector3(0, 0, -0.1), Vector3(0, 0, -0.1), Vector3(0, 0, -0.1)});
  // f = 0 at t = 1/3, where the vertex is still at x = 1.4.
  EXPECT_FALSE(impact);
}

TEST(VertexFaceImpact, GrazingCounts) {
  // The vertex sinks to the plane of a rotating triangle and is left behind: z = (t − 1/2)² at the vertex.
  // Triangle (−1, ±1, 1/4), (1, 0, …): the plane through the vertex' column rises and falls linearly while
  // the column moves, f a square.
  for (const double shift : {0.0, 1e-3, 0.37}) {
    // x = t on the plane z = a(t) x + b(t) with corners moving in z only: a = 1 − … chosen so that the height
    // of the plane under the vertex (at x = t) is −(t − 1/2)² + 1/4 − shift·0: c_0 + c_1 t with slopes
    // moving. Corner heights: z(x, t) = x − x t, so under the vertex z = t − t²; its maximum 1/4 at t = 1/2.
    const Points x{Vector3(0, 0, 0.25), Vector3(-1, -1, -1), Vector3(3, -1, 3), Vector3(1, 3, 1)};
    const Points d{Vector3(1, 0, 0), Vector3(0, 0, 1), Vector3(0, 0, -3), Vector3(0, 0, -1)};
    Points moved = x;
    for (Vector3& p : moved) p += Vector3(shift, 2 * shift, 0);
    const auto impact = vertex_face_impact(moved, d);
    ASSERT_TRUE(impact) << shift;
    // A double root is as sharp as the square root of the rounding: 64 units times 500 m³ over f'' / 2 = 16.
    EXPECT_NEAR(impact->time, 0.5, 1e-6);
    EXPECT_GT(impact->normal[2], 0.0);
    // 1e-6 higher it passes clear.
    moved[0][2] += 1e-6;
    EXPECT_FALSE(vertex_face_impact(moved, d)) << shift;
  }
}

TEST(VertexFaceImpact, MotionWithinThePlaneFindsTheCrossedEdge) {
  const auto impact = vertex_face_impact(over_triangle({-0.5, 0.25, 0}), only_first({1, 0, 0}));
  ASSERT_TRUE(impact);
  EXPECT_NEAR(impact->time, 0.5, 3e-9);  // ε = 1.4e-9 m before it
  EXPECT_LE(impact->time, 0.5);
  EXPECT_NEAR(impact->weight[1], -0.75, 1e-8);
  EXPECT_EQ(impact->normal, Vector3(0, 0, 1));
  EXPECT_FALSE(vertex_face_impact(over_triangle({-0.5, 0.25, 0}), only_first({0.4999, 0, 0})));
  EXPECT_FALSE(vertex_face_impact(over_triangle({-0.5, 0.25, 0}), only_first({0, 1, 0})));
  // Through a corner, and past it.
  EXPECT_TRUE(vertex_face_impact(over_triangle({-1, 1, 0}), only_first({2, -2, 0})));
  EXPECT_FALSE(vertex_face_impact(over_triangle({-1, 1 - 1e-6, 0}), only_first({2, -2, 0})));
}

TEST(VertexFaceImpact, DegenerateTrianglesAreSegmentsAndPoints) {
  // A triangle without area: all corners on the x axis.
  const Points needle{Vector3(0.3, 0, 1), Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0.5, 0, 0)};
  const auto onto_needle = vertex_face_impact(needle, only_first({0, 0, -2}));
  ASSERT_TRUE(onto_needle);
  EXPECT_NEAR(onto_needle->time, 0.5, 1e-9);
  EXPECT_NEAR((onto_needle->normal - Vector3(0, 0, 1)).norm(), 0.0, 1e-6);
  EXPECT_FALSE(vertex_face_impact(needle, only_first({0, 0.01, -2})));
  const Points point{Vector3(0, 0, 1), Vector3(0, 0, 0), Vector3(0, 0, 0), Vector3(0, 0, 0)};
  const auto onto_point = vertex_face_impact(point, only_first({0, 0, -4}));
  ASSERT_TRUE(onto_point);
  EXPECT_NEAR(onto_point->time, 0.25, 1e-12);
  EXPECT_FALSE(vertex_face_impact(point, only_first({1e-9, 0, -4})));
  const Points all_at_once{Vector3(1, 2, 3), Vector3(1, 2, 3), Vector3(1, 2, 3), Vector3(1, 2, 3)};
  const auto coincident = vertex_face_impact(all_at_once, kRest);
  ASSERT_TRUE(coincident);
  EXPECT_EQ(coincident->time, 0.0);
  EXPECT_DOUBLE_EQ(coincident->normal.norm(), 1.0);
}

TEST(VertexFaceImpact, NumbersThatAreNoneGiveNone) {
  const double nan = std::nan("");
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.25, 0.25, nan}), only_first({0, 0, -1})));
  EXPECT_FALSE(vertex_face_impact(over_triangle({0.25, 0.25, 1}), only_first({0, nan, -1})));
}

/// Edge a along x at height h, edge b through the origin at the angle α to it.
Points crossed_edges(double h, double alpha) {
  const Vector3 b(std::cos(alpha), std::sin(alpha), 0);
  return {Vector3(-1, 0, h), Vector3(1, 0, h), -b, b};
}
Points first_edge(const Vector3& d) { return {d, d, {0, 0, 0}, {0, 0, 0}}; }

TEST(EdgeEdgeImpact, CrossedEdgesMeetAtTheTimeAndPlaceComputedByHandWhateverTheAngle) {
  for (const double degrees : {90.0, 30.0, 1.0, 0.01, -0.01, 179.99}) {
    const auto impact =
        edge_edge_impact(crossed_edges(0.3, degrees * std::numbers::pi / 180), first_edge({0, 0, -0.4}));
    ASSERT_TRUE(impact) << degrees;
    EXPECT_NEAR(impact->time, 0.75, 1e-12) << degrees;
    const double error = 1e-15 / std::sin(std::abs(degrees) * std::numbers::pi / 180);
    EXPECT_NEAR((impact->normal - Vector3(0, 0, 1)).norm(), 0.0, 10 * error) << degrees;
    const std::array<double, 4> weight{0.5, 0.5, -0.5, -0.5};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(impact->weight[i], weight[i], 10 * error) << degrees;
    const auto from_below =
        edge_edge_impact(crossed_edges(-0.3, degrees * std::numbers::pi / 180), first_edge({0, 0, 0.4}));
    ASSERT_TRUE(from_below);
    EXPECT_LT(from_below->normal[2], 0.0);
  }
}

TEST(EdgeEdgeImpact, ParallelEdgesMeetWithTheDirectionBetweenThemAsNormal) {
  for (const double shift : {0.0, 0.5, -1.9, 2.0}) {
    const auto impact = edge_edge_impact(crossed_edges(0.3, 0.0), first_edge({shift, 0, -0.4}));
    ASSERT_EQ(impact.has_value(), std::abs(shift * 0.75) <= 2.0) << shift;
    EXPECT_NEAR(impact->time, 0.75, 1e-8);
    EXPECT_LE(impact->time, 0.75);
    EXPECT_NEAR((impact->normal - Vector3(0, 0, 1)).norm(), 0.0, 1e-6);
  }
  EXPECT_FALSE(edge_edge_impact(crossed_edges(0.3, 0.0), first_edge({4, 0, -0.4})));
  EXPECT_FALSE(edge_edge_impact(crossed_edges(0.3, 0.0), first_edge({0, 1e-6, -0.4})));
}

TEST(EdgeEdgeImpact, EdgesThatMissAreNone) {
  EXPECT_FALSE(edge_edge_impact(crossed_edges(0.3, 1.0), first_edge({0, 0, -0.2})));
  EXPECT_FALSE(edge_edge_impact(crossed_edges(0.3, std::numbers::pi / 2), first_edge({2, 0, -0.4})));
  EXPECT_FALSE(edge_edge_impact(crossed_edges(0.3, 1.0), kRest));
}

TEST(EdgeEdgeImpact, EdgesInOnePlaneMeetEndOn) {
  // Edge a on the x axis left of edge b, which stands across; both in z = 0.
  const Points x{Vector3(-3, 0.2, 0), Vector3(-1, 0.2, 0), Vector3(0, -1, 0), Vector3(0, 1, 0)};
  const auto impact = edge_edge_impact(x, first_edge({2, 0, 0}));
  ASSERT_TRUE(impact);
  EXPECT_NEAR(impact->time, 0.5, 2e-9);
  EXPECT_LE(impact->time, 0.5);
  EXPECT_NEAR((impact->normal - Vector3(-1, 0, 0)).norm(), 0.0, 1e-6);  // within the plane, towards a
  const auto outside = edge_edge_impact(x, first_edge({2, 0, 0}), Vector3(0.3, 0.1, -1));
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->normal, Vector3(0, 0, -1));
  EXPECT_FALSE(edge_edge_impact(x, first_edge({0.999, 0, 0})));
  EXPECT_FALSE(edge_edge_impact(x, first_edge({2, 4.5, 0})));
  // On one line, end to end.
  const Points line{Vector3(-3, 0, 0), Vector3(-1, 0, 0), Vector3(0, 0, 0), Vector3(1, 0, 0)};
  const auto end_to_end = edge_edge_impact(line, first_edge({2, 0, 0}));
  ASSERT_TRUE(end_to_end);
  EXPECT_NEAR(end_to_end->time, 0.5, 2e-9);
  EXPECT_FALSE(edge_edge_impact(line, first_edge({0.99, 0, 0})));
}

TEST(EdgeEdgeImpact, InContactAtTheStartOnlyAMotionToTheKnownOutsideIsNone) {
  const Points touching = crossed_edges(0.0, 1.0);
  for (const Vector3& d : {Vector3(0, 0, 1), Vector3(0, 0, -1)}) {
    const auto unknown = edge_edge_impact(touching, first_edge(d));
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->time, 0.0);
    EXPECT_LT(unknown->normal.dot(d), 0.0);  // against the motion: four points do not tell the side
    EXPECT_FALSE(edge_edge_impact(touching, first_edge(d), d));
    EXPECT_TRUE(edge_edge_impact(touching, first_edge(d), -d));
  }
  EXPECT_TRUE(edge_edge_impact(touching, kRest));
  EXPECT_FALSE(edge_edge_impact(crossed_edges(1e-12, 1.0), first_edge({0, 0, 1})));
}

TEST(EdgeEdgeImpact, EdgesWithoutLengthArePoints) {
  const Points x{Vector3(0.2, 0, 1), Vector3(0.2, 0, 1), Vector3(-1, 0, 0), Vector3(1, 0, 0)};
  const auto impact = edge_edge_impact(x, first_edge({0, 0, -2}));
  ASSERT_TRUE(impact);
  EXPECT_NEAR(impact->time, 0.5, 2e-9);
  EXPECT_NEAR((impact->normal - Vector3(0, 0, 1)).norm(), 0.0, 1e-6);
  EXPECT_FALSE(edge_edge_impact(x, first_edge({0, 0.001, -2})));
}

TEST(Impact, NormalAndWeightsFitTheLinearMotion) {
  // n · Σ w x is ≥ 0 at the start, zero at the impact and falls in between.
  Rng rng(4);
  int hits = 0;
  for (int trial = 0; trial < 40'000; ++trial) {
    Points x, d;
    for (std::size_t i = 0; i < 4; ++i) {
      x[i] = Vector3(rng.uniform(), rng.uniform(), rng.uniform());
      d[i] = Vector3(rng.normal(), rng.normal(), rng.normal());
    }
    for (const auto& impact : {vertex_face_impact(x, d), edge_edge_impact(x, d)}) {
      if (!impact) continue;
      ++hits;
      Points at;
      for (std::size_t i = 0; i < 4; ++i) at[i] = x[i] + impact->time * d[i];
      EXPECT_NEAR(combination(impact->weight, at).norm(), 0.0, 2e-8);  // ε with edges up to 10 m
      EXPECT_GE(impact->normal.dot(combination(impact->weight, x)), -1e-8);
      EXPECT_LE(impact->normal.dot(combination(impact->weight, d)), 1e-8);
      EXPECT_NEAR(impact->normal.norm(), 1.0, 1e-14);
      EXPECT_NEAR(impact->weight[0] + impact->weight[1] + impact->weight[2] + impact->weight[3], 0.0, 1e-15);
    }
  }
  EXPECT_GT(hits, 2'000);
}

TEST(Proximity, AVertexAboveAFaceHasItsGapAndWeights) {
  const auto above = vertex_face_proximity(over_triangle({0.25, 0.5, 0.01}));
  ASSERT_TRUE(above);
  EXPECT_DOUBLE_EQ(above->gap, 0.01);
  EXPECT_EQ(above->normal, Vector3(0, 0, 1));
  EXPECT_DOUBLE_EQ(above->weight[2], -0.25);
  EXPECT_DOUBLE_EQ(above->weight[3], -0.5);
  const auto below = vertex_face_proximity(over_triangle({0.25, 0.5, -0.01}));
  ASSERT_TRUE(below);
  EXPECT_DOUBLE_EQ(below->gap, 0.01);
  EXPECT_EQ(below->normal, Vector3(0, 0, -1));
  const auto touching = vertex_face_proximity(over_triangle({0.25, 0.5, 0}));
  ASSERT_TRUE(touching);
  EXPECT_EQ(touching->gap, 0.0);
  EXPECT_EQ(touching->normal, Vector3(0, 0, 1));
  EXPECT_TRUE(vertex_face_proximity(over_triangle({0.25, 0, 0.01})));
  EXPECT_FALSE(vertex_face_proximity(over_triangle({0.25, -1e-8, 0.01})));
  EXPECT_FALSE(vertex_face_proximity({Vector3(0.3, 0, 1), {0, 0, 0}, {1, 0, 0}, {0.5, 1e-7, 0}}));
}

TEST(Proximity, TwoEdgesHaveTheirGapAndWeightsUnlessParallel) {
  const auto crossed = edge_edge_proximity(crossed_edges(0.02, 0.5));
  ASSERT_TRUE(crossed);
  EXPECT_NEAR(crossed->gap, 0.02, 1e-17);
  EXPECT_NEAR((crossed->normal - Vector3(0, 0, 1)).norm(), 0.0, 1e-15);
  for (const std::size_t i : {0U, 1U}) EXPECT_NEAR(crossed->weight[i], 0.5, 1e-15);
  const auto below = edge_edge_proximity(crossed_edges(-0.02, 0.5));
  ASSERT_TRUE(below);
  EXPECT_NEAR((below->normal - Vector3(0, 0, -1)).norm(), 0.0, 1e-15);
  const auto touching = edge_edge_proximity(crossed_edges(0, 0.5), Vector3(0, 0.5, -1));
  ASSERT_TRUE(touching);
  EXPECT_EQ(touching->gap, 0.0);
  EXPECT_LT(touching->normal[2], 0.0);
  EXPECT_FALSE(edge_edge_proximity(crossed_edges(0.02, 0.9e-3)));
  EXPECT_TRUE(edge_edge_proximity(crossed_edges(0.02, 1.1e-3)));
  EXPECT_FALSE(
      edge_edge_proximity({Vector3(0.1, 0, 0.01), Vector3(1, 0, 0.01), Vector3(0, -1, 0), Vector3(0, 1, 0)}));
}

}  // namespace
}  // namespace signorini::continuous_test
