#include "geometry/tet_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "base/check.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/mesh_checks.h"

namespace signorini::tet_mesh_test {
namespace {

constexpr double kEps = 2.22e-16;

class Icosphere : public testing::TestWithParam<int> {};
class TetBall : public testing::TestWithParam<int> {};

std::size_t power_of_four(int level) { return std::size_t{1} << (2 * level); }

TEST_P(Icosphere, IsAClosedSphereWithTheStatedCounts) {
  const TriangleMesh mesh = icosphere(GetParam());
  EXPECT_EQ(mesh.vertices.size(), 10 * power_of_four(GetParam()) + 2);
  EXPECT_EQ(mesh.triangles.size(), 20 * power_of_four(GetParam()));
  EXPECT_TRUE(is_closed_and_oriented(mesh));
  EXPECT_EQ(euler_characteristic(mesh), 2);
  for (const Vector3& x : mesh.vertices) EXPECT_NEAR(x.norm(), 1.0, 4 * kEps);
  for (const Vector3& x : icosphere(GetParam(), 0.25).vertices) EXPECT_NEAR(x.norm(), 0.25, kEps);
  EXPECT_GT(enclosed_volume(mesh), 0.0);
}
INSTANTIATE_TEST_SUITE_P(Levels, Icosphere, testing::Values(0, 1, 2, 4));

TEST(Icosphere, VerticesOfALevelOpenTheNextOne) {
  const TriangleMesh coarse = icosphere(1);
  const TriangleMesh fine = icosphere(2);
  for (std::size_t i = 0; i < coarse.vertices.size(); ++i) EXPECT_EQ(coarse.vertices[i], fine.vertices[i]);
  for (std::size_t f = 0; f < coarse.triangles.size(); ++f) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(fine.triangles[4 * f + c][0], coarse.triangles[f][c]);
  }
}

TEST_P(TetBall, HasTheStatedCountsPositiveTetsAndTheIcosphereAsSurface) {
  const int level = GetParam();
  const double radius = 0.1;
  const TetMesh ball = tet_ball(level, radius);
  std::size_t vertices = 1;
  std::size_t tets = 20;
  for (int l = 0; l <= level; ++l) vertices += 10 * power_of_four(l) + 2;
  for (int l = 0; l < level; ++l) tets += 140 * power_of_four(l);
  EXPECT_EQ(ball.vertices.size(), vertices);
  EXPECT_EQ(ball.tets.size(), tets);
  EXPECT_TRUE(is_conforming(ball));
  double worst = 1.0;
  for (const Tetrahedron& tet : ball.tets) {
    EXPECT_GT(tet_volume(ball, tet), 0.0);
    worst = std::min(worst, tet_quality(ball, tet));
  }
  EXPECT_GT(worst, 0.25) << "a quality below 1/4 is a sliver; see tet_quality";

  std::vector<Index> vertex_of;
  const TriangleMesh surface = boundary_surface(ball, vertex_of);
  const TriangleMesh sphere = icosphere(level);
  EXPECT_EQ(surface.vertices.size(), sphere.vertices.size());
  EXPECT_EQ(surface.triangles.size(), sphere.triangles.size());
  EXPECT_TRUE(is_closed_and_oriented(surface));
  for (Index i = 0; i < count(vertex_of); ++i) EXPECT_EQ(vertex_of[i], i);
  // The tets fill exactly the polyhedron; the sums have `tets` terms of relative rounding ε each.
  const double rounding = kEps * static_cast<double>(tets);
  EXPECT_NEAR(total_volume(ball) / enclosed_volume(surface), 1.0, rounding);
  EXPECT_NEAR(total_volume(ball) / (enclosed_volume(sphere) * radius * radius * radius), 1.0, rounding);
}
INSTANTIATE_TEST_SUITE_P(Levels, TetBall, testing::Values(0, 1, 2, 4));

TEST(TetBall, Level4IsTheBearingSphereOfTheTable) {
  const TetMesh ball = tet_ball(4, 1.0);
  EXPECT_EQ(ball.vertices.size(), 3421U);
  EXPECT_EQ(ball.tets.size(), 11920U);
}

TEST(TetBall, RefusesBadArguments) {
  EXPECT_THROW(tet_ball(-1, 1.0), UsageError);
  EXPECT_THROW(tet_ball(kMaxBallLevel + 1, 1.0), UsageError);
  EXPECT_THROW(tet_ball(1, 0.0), UsageError);
  EXPECT_THROW(tet_ball(1, std::numeric_limits<double>::quiet_NaN()), UsageError);
}

TEST(KuhnBlock, FillsTheBoxWithSixPositiveTetsPerCell) {
  const TetMesh block = kuhn_block({3, 2, 4}, Vector3(0.3, 0.4, 0.5));
  EXPECT_EQ(block.vertices.size(), 4U * 3U * 5U);
  EXPECT_EQ(block.tets.size(), 6U * 24U);
  EXPECT_TRUE(is_conforming(block));
  const double cell = 0.06 / 24;
  for (const Tetrahedron& tet : block.tets) EXPECT_NEAR(tet_volume(block, tet), cell / 6, 10 * kEps * cell);
  std::vector<Index> vertex_of;
  const TriangleMesh surface = boundary_surface(block, vertex_of);
  EXPECT_TRUE(is_closed_and_oriented(surface));
  EXPECT_EQ(euler_characteristic(surface), 2);
  EXPECT_EQ(surface.triangles.size(), 2U * 2U * (3U * 2U + 2U * 4U + 3U * 4U));
  EXPECT_NEAR(surface_area(surface), 2 * (0.12 + 0.15 + 0.2), 100 * kEps);
}

TEST(KuhnBlock, RefusesBadArguments) {
  EXPECT_THROW(kuhn_block({0, 1, 1}, Vector3::Ones()), UsageError);
  EXPECT_THROW(kuhn_block({1, 1, 1}, Vector3(1, -1, 1)), UsageError);
}

TEST(Tetrahedron, TheRegularOneHasQualityOneAndItsAltitude) {
  const TetMesh mesh{{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{0, 2, 1, 3}}};
  const double edge = 2.0 * std::sqrt(2.0);
  EXPECT_NEAR(std::abs(tet_volume(mesh, mesh.tets[0])), edge * edge * edge / (6.0 * std::sqrt(2.0)),
              20 * kEps);
  const Tetrahedron positive = tet_volume(mesh, mesh.tets[0]) > 0.0 ? mesh.tets[0] : Tetrahedron{0, 1, 2, 3};
  EXPECT_NEAR(tet_quality(mesh, positive), 1.0, 20 * kEps);
  EXPECT_NEAR(smallest_altitude(mesh, positive), edge * std::sqrt(2.0 / 3.0), 20 * kEps);
  const Tetrahedron inverted{positive[0], positive[1], positive[3], positive[2]};
  EXPECT_LT(tet_quality(mesh, inverted), 0.0);
  EXPECT_LT(smallest_altitude(mesh, inverted), 0.0);
}

TEST(Tetrahedron, TheShortestAltitudeBelongsToTheLargestFace) {
  // Corner tet of a 1 × 2 × 3 box: V = 1, faces 3, 1.5, 1 and the oblique one √(3² + 1.5² + 1²) = 3.5.
  const TetMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}, {{0, 1, 2, 3}}};
  EXPECT_NEAR(smallest_altitude(mesh, mesh.tets[0]), 3.0 * 1.0 / 3.5, 10 * kEps);
}

}  // namespace
}  // namespace signorini::tet_mesh_test
