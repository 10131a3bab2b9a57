#include "collision/point_surface.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <numbers>

#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"

namespace signorini::point_surface_test {
namespace {

constexpr double kEps = 2.22e-16;

std::vector<NearTriangle> contacts_of(const TriangleMesh& mesh, const Vector3& p, double reach,
                                      double limit = 0.01, double depth = 0.05) {
  std::vector<NearTriangle> near;
  NearTriangle candidate;
  for (Index t = 0; t < count(mesh.triangles); ++t) {
    const Triangle& k = mesh.triangles[t];
    const auto x = [&](std::size_t i) -> const Vector3& { return mesh.vertices[k[i]]; };
    if (near_triangle(p, t, x(0), x(1), x(2), candidate) && candidate.on.distance < reach) {
      near.push_back(candidate);
    }
  }
  select_contacts(near, limit, depth);
  return near;
}

TEST(PointSurface, AFlatFloorIsTouchedOnceEverywhereAlsoOnItsSeams) {
  const TriangleMesh floor = bucket({0.3, 0.5, 0.5, 12});
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    const double angle = 0.1 * trial;
    const Vector3 p(rng.uniform(0, 0.2) * std::cos(angle), rng.uniform(0, 0.2) * std::sin(angle), 0.004);
    const auto contacts = contacts_of(floor, p, 0.05);
    ASSERT_EQ(contacts.size(), 1U);
    EXPECT_EQ(contacts[0].normal, Vector3(0, 0, 1));
    EXPECT_NEAR(contacts[0].gap, 0.004, kEps);
  }
  // Exactly above the centre vertex of 12 triangles and above an edge between two.
  EXPECT_EQ(contacts_of(floor, {0, 0, 0.002}, 0.05).size(), 1U);
  EXPECT_EQ(contacts_of(floor, {0.1, 0, 0.002}, 0.05).size(), 1U);
  EXPECT_EQ(contacts_of(floor, {0, 0, -0.002}, 0.05).size(), 1U);
}

TEST(PointSurface, ACornerOfFloorAndWallHasBothNormals) {
  const TriangleMesh mesh = bucket({0.3, 0.4, 0.5, 24});
  // In the middle of a panel, 1 mm from floor and wall.
  const double angle = std::numbers::pi / 24;
  const double radius = 0.3 * std::cos(angle) - 0.001;
  const auto contacts = contacts_of(mesh, {radius * std::cos(angle), radius * std::sin(angle), 0.001}, 0.05);
  ASSERT_EQ(contacts.size(), 2U);
  int floors = 0;
  for (const NearTriangle& c : contacts) {
    floors += c.normal[2] > 0.99;
    EXPECT_GT(c.gap, 0.0);
    EXPECT_LT(c.gap, 0.002);
  }
  EXPECT_EQ(floors, 1);
  // Below both planes the point needs both as well.
  const auto below = contacts_of(
      mesh, {(radius + 0.002) * std::cos(angle), (radius + 0.002) * std::sin(angle), -0.001}, 0.05);
  ASSERT_EQ(below.size(), 2U);
  for (const NearTriangle& c : below) EXPECT_LT(c.gap, 0.0);
}

TEST(PointSurface, AConvexBodyIsTouchedOnceFromEverySide) {
  std::vector<Index> unused;
  for (const TriangleMesh& mesh :
       {icosphere(2), boundary_surface(kuhn_block({2, 2, 2}, {1.2, 1.2, 1.2}), unused)}) {
    Rng rng(2);
    for (int trial = 0; trial < 300; ++trial) {
      const Vector3 direction = Vector3(rng.normal(), rng.normal(), rng.normal()).normalized();
      // From the vertices outward too: every third trial points at one.
      const Vector3 toward =
          trial % 3 == 0 ? Vector3(mesh.vertices[trial % mesh.vertices.size()]) : direction;
      const Vector3 p = toward * 1.003;
      const auto contacts = contacts_of(mesh, p, 2.0, 2.0, 10.0);
      EXPECT_LE(contacts.size(), 1U);
    }
  }
}

TEST(PointSurface, APointInsideAConvexBodyIsPushedOutTheShortestWay) {
  std::vector<Index> unused;
  const TriangleMesh cube = boundary_surface(kuhn_block({2, 2, 2}, {1, 1, 1}), unused);
  const auto contacts = contacts_of(cube, {0.6, 0.7, 0.99}, 2.0, 0.5, 0.5);
  ASSERT_EQ(contacts.size(), 1U);
  EXPECT_EQ(contacts[0].normal, Vector3(0, 0, 1));
  EXPECT_NEAR(contacts[0].gap, -0.01, 4 * kEps);
}

TEST(PointSurface, AcrossAConvexEdgeTheGapIsContinuous) {
  // A point that moves over the edge of a cube at distance 1 mm changes the triangle, not the gap by much.
  std::vector<Index> unused;
  const TriangleMesh cube = boundary_surface(kuhn_block({1, 1, 1}, {1, 1, 1}), unused);
  double last = 0.0;
  for (int i = 0; i <= 100; ++i) {
    const double angle = 0.5 * std::numbers::pi * i / 100;
    const auto contacts =
        contacts_of(cube, Vector3(1, 0.4, 1) + 1e-3 * Vector3(std::sin(angle), 0, std::cos(angle)), 2.0);
    ASSERT_EQ(contacts.size(), 1U);
    EXPECT_GT(contacts[0].gap, 1e-3 * std::cos(std::numbers::pi / 4) - 1e-12);
    if (i > 0) {
      EXPECT_LT(std::abs(contacts[0].gap - last), 1e-3 * 0.5 * std::numbers::pi / 100 + 1e-12);
    }
    last = contacts[0].gap;
  }
}

TEST(PointSurface, BesideAnOpenBorderThereIsNoContact) {
  const TriangleMesh floor = ground(1.0);
  EXPECT_EQ(contacts_of(floor, {0.999, 0, 0.001}, 0.5).size(), 1U);
  EXPECT_TRUE(contacts_of(floor, {1.002, 0, 0.0005}, 0.5).empty());
  EXPECT_TRUE(contacts_of(floor, {1.002, 0, -0.0005}, 0.5).empty());
}

TEST(PointSurface, APointOnASeamUpToRoundingIsInContact) {
  // The diagonal of the square is a seam; on it the closest point carries rounding while the gap is exactly
  // zero.
  const TriangleMesh floor = ground(2.0);
  for (int i = -50; i <= 50; ++i) {
    const auto contacts = contacts_of(floor, {0.01 * i, 0.01 * i, 0.0}, 0.5);
    ASSERT_EQ(contacts.size(), 1U) << i;
    EXPECT_EQ(contacts[0].gap, 0.0);
  }
}

TEST(PointSurface, FarBehindASurfaceThereIsNoContact) {
  const TriangleMesh floor = ground(1.0);
  EXPECT_EQ(contacts_of(floor, {0, 0.1, -0.04}, 0.5).size(), 1U);
  EXPECT_TRUE(contacts_of(floor, {0, 0.1, -0.06}, 0.5).empty());
}

TEST(PointSurface, ATriangleWithoutAreaIsSkipped) {
  NearTriangle near;
  EXPECT_FALSE(near_triangle({0, 0, 1}, 0, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, near));
}

}  // namespace
}  // namespace signorini::point_surface_test
