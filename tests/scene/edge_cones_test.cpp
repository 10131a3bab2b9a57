#include "scene/edge_cones.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "collision/contact_finder.h"
#include "scene/relinearisation.h"

namespace signorini::edge_cones_test {
namespace {

/// Floor of two triangles with the diagonal 0–2 along y = x, a roof of two over its ridge 4–5, a string 8–9.
struct Surfaces {
  SurfaceModel model;
  std::vector<Vector3> x{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0},  {-1, 1, 0},  // floor
                         {0, -1, 2},  {0, 1, 2},  {-1, 0, 1}, {1, 0, 1},   // roof, ridge along y
                         {0, 0, 5},   {1, 0, 5}};
  Surfaces() {
    append_surface(model, 4, {{0, 1, 2}, {0, 2, 3}}, {}, false, false);
    append_surface(model, 4, {{0, 1, 2}, {1, 0, 3}}, {}, true, true);
    append_surface(model, 2, {}, {{0, 1}}, true, true);
  }
};

SurfaceContact edges(Index a, Index b, Index c, Index d, const Vector3& normal) {
  SurfaceContact contact;
  contact.key = {PairKind::edge_edge, {a, b, c, d}};
  contact.weight = {0.5, 0.5, -0.5, -0.5};
  contact.normal = normal.normalized();
  contact.impact_time = 1.0;
  return contact;
}

TEST(EdgeCones, AnEdgeInsideAFlatFaceHasOnlyTheNormalOfTheFace) {
  const Surfaces s;
  const EdgeCones cones(s.model);
  // The string over the floor's diagonal, straight above and from the side.
  EXPECT_TRUE(cones.contain(edges(8, 9, 0, 2, Vector3(0, 0, 1)), s.x));
  const Vector3 side(0.3, -0.3, 0.9);
  EXPECT_FALSE(cones.contain(edges(8, 9, 0, 2, side), s.x));
  const Vector3 clamped = cones.clamped_normal(edges(8, 9, 0, 2, side), s.x, s.x);
  EXPECT_LT((clamped - Vector3(0, 0, 1)).norm(), 1e-15);
}

TEST(EdgeCones, AConvexEdgeHasEverythingBetweenTheNormalsOfItsFaces) {
  const Surfaces s;
  const EdgeCones cones(s.model);
  // The ridge's faces have the normals (∓1, 0, 1)/√2; the string touches it from above.
  for (const double lean : {-0.99, -0.5, 0.0, 0.5, 0.99})
    EXPECT_TRUE(cones.contain(edges(8, 9, 4, 5, Vector3(lean, 0, 1)), s.x)) << lean;
  for (const double lean : {-1.1, 1.1}) {
    EXPECT_FALSE(cones.contain(edges(8, 9, 4, 5, Vector3(lean, 0, 1)), s.x)) << lean;
    const Vector3 n = cones.clamped_normal(edges(8, 9, 4, 5, Vector3(lean, 0, 1)), s.x, s.x);
    EXPECT_LT((n - Vector3(lean > 0 ? 1 : -1, 0, 1).normalized()).norm(), 1e-15);
  }
  // From below it is a valley: nothing touches its bottom.
  EXPECT_FALSE(cones.contain(edges(8, 9, 4, 5, Vector3(0, 0, -1)), s.x));
  // As edge a the direction is turned round: the ridge on something above it.
  EXPECT_TRUE(cones.contain(edges(4, 5, 8, 9, Vector3(0, 0, -1)), s.x));
  EXPECT_FALSE(cones.contain(edges(4, 5, 8, 9, Vector3(0, 0, 1)), s.x));
}

TEST(EdgeCones, ABorderEdgeIsOpenToItsFreeSideAndAStringToAllSides) {
  const Surfaces s;
  const EdgeCones cones(s.model);
  EXPECT_TRUE(cones.contain(edges(8, 9, 0, 1, Vector3(0, -1, 0.1)), s.x));  // border at y = −1
  EXPECT_FALSE(cones.contain(edges(8, 9, 0, 1, Vector3(0, 0.2, 1)), s.x));
  EXPECT_TRUE(cones.contain(edges(4, 5, 8, 9, Vector3(0, 0, -1)), s.x));
}

TEST(EdgeCones, AnEdgeThatIsHitAtItsEndImposesNothing) {
  const Surfaces s;
  const EdgeCones cones(s.model);
  // Edge a = floor diagonal, met at its end by the string from aside: a's cone is left, and b has none.
  SurfaceContact contact = edges(0, 2, 8, 9, Vector3(1, -1, 0));
  contact.weight = {1.0, 0.0, -0.5, -0.5};
  EXPECT_EQ(cones.clamped_normal(contact, s.x, s.x), contact.normal);
  contact.weight = {0.5, 0.5, -0.5, -0.5};
  EXPECT_EQ(cones.clamped_normal(contact, s.x, s.x), contact.normal) << "nothing orthogonal to both is left";
}

// --- relinearisation
// ----------------------------------------------------------------------------------------

TEST(Relinearisation, NormalsTurnByAtMostTheGivenAngleInTheirPlane) {
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    const Vector3 a = Vector3(rng.normal(), rng.normal(), rng.normal()).normalized();
    const Vector3 b = Vector3(rng.normal(), rng.normal(), rng.normal()).normalized();
    const Vector3 n = turned_normal(a, b, 15.0);
    EXPECT_NEAR(n.norm(), 1.0, 1e-15);
    EXPECT_NEAR(n.dot(a.cross(b)), 0.0, 1e-15);
    EXPECT_NEAR(angle_between(a, n), std::min(15.0, angle_between(a, b)), 1e-12);
    EXPECT_NEAR(angle_between(n, b), std::max(0.0, angle_between(a, b) - 15.0), 1e-12);
  }
  EXPECT_EQ(turned_normal(Vector3::UnitX(), -Vector3::UnitX(), 15.0), Vector3::UnitX());
}

/// A pair of letters (size medium) was 26 mm apart at the end of a step, with a normal 89.8° from that of the solve. The
/// statistics had a gap of −26 mm, although nothing had crossed.
TEST(GapAtEnd, HasTheSideOfTheSolveOnlyWhereItsNormalTellsIt) {
  const auto turned = [](double degrees, double gap) {
    const double angle = degrees * std::numbers::pi / 180.0;
    return PairGeometry{Vector3(std::sin(angle), 0.0, std::cos(angle)), {1.0, -0.2, -0.3, -0.5}, gap};
  };
  const Vector3 solved = Vector3::UnitZ();
  EXPECT_EQ(gap_at_end(solved, turned(89.8, -0.0263)), 0.0263);
  EXPECT_EQ(gap_at_end(solved, turned(89.8, 0.0263)), 0.0263);
  EXPECT_EQ(gap_at_end(solved, turned(10.0, -1e-5)), -1e-5) << "rounding, or a pair that overlaps";
  EXPECT_EQ(gap_at_end(solved, turned(10.0, 1e-3)), 1e-3);
}

/// C43: a plane that turns by 80° is followed in six rounds of 15°, and the gap then is the true one.
TEST(Relinearisation, FollowsATurningPlaneInRounds) {
  SurfaceModel model;
  append_surface(model, 3, {{0, 1, 2}}, {}, false, false);
  append_surface(model, 1, {}, {}, true, true);
  const std::vector<Vector3> x0{{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {0, 0, 0.5}};
  const double angle = 80.0 * 3.141592653589793 / 180.0;
  std::vector<Vector3> x1 = x0;
  for (std::size_t i = 0; i < 3; ++i)
    x1[i] = Vector3(std::cos(angle) * x0[i][0], x0[i][1], -std::sin(angle) * x0[i][0]);
  x1[3] = 0.4 * Vector3(std::sin(angle), 0, std::cos(angle));  // 0.4 above the turned plane
  SurfaceContact contact;
  contact.key = {PairKind::vertex_face, {3, 0, 1, 2}};
  contact.weight = {1.0, -0.25, -0.25, -0.5};
  contact.normal = Vector3(0, 0, 1);
  for (int round = 1; round <= 6; ++round) {
    const auto geometry = pair_geometry(contact, x1);
    ASSERT_TRUE(geometry.has_value());
    relinearise(contact, *geometry, 15.0, x0, x1);
    EXPECT_NEAR(angle_between(contact.normal, Vector3(0, 0, 1)), std::min(80.0, 15.0 * round), 1e-10);
  }
  SurfaceContact there = contact;
  update_gap(there, x1);
  EXPECT_NEAR(there.gap, 0.4, 1e-14);
  update_gap(there, x0);
  EXPECT_EQ(contact.gap, there.gap) << "gap is that of the start";
}

TEST(Relinearisation, SlidingOffHasAMarginOfTwoHundredths) {
  EXPECT_FALSE(slid_off(PairKind::vertex_face, {1.0, 0.019, -0.5, -0.519}));
  EXPECT_TRUE(slid_off(PairKind::vertex_face, {1.0, 0.021, -0.5, -0.521}));
  EXPECT_FALSE(slid_off(PairKind::edge_edge, {-0.019, 1.019, -0.5, -0.5}));
  EXPECT_TRUE(slid_off(PairKind::edge_edge, {0.5, 0.5, 0.021, -1.021}));
}

/// T24: the vertex moves over the edge 1–2 into the second face, past both, or towards a face of its own.
TEST(Relinearisation, TheNeighbouringFaceIsFoundOnTheSameSide) {
  SurfaceModel model;
  append_surface(model, 4, {{0, 1, 2}, {3, 2, 1}}, {}, false, false);
  append_surface(model, 1, {}, {}, true, true);
  std::vector<Vector3> x{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.7, 0.7, 0.01}};
  const FaceNeighbours neighbours(model);
  SurfaceContact contact;
  contact.key = {PairKind::vertex_face, {4, 0, 1, 2}};
  contact.body = {1, 0};
  contact.weight = {1.0, -0.2, -0.4, -0.4};
  for (const double side : {1.0, -1.0}) {
    contact.normal = Vector3(0, 0, side);
    x[4][2] = 0.01 * side;
    const auto found = neighbours.find(contact, x, x);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->key.vertex, (std::array<Index, 4>{4, 3, 2, 1}));
    EXPECT_NEAR(found->normal.dot(contact.normal), 1.0, 1e-15);
    EXPECT_NEAR(found->gap, 0.01, 1e-15);
    EXPECT_FALSE(slid_off(PairKind::vertex_face, found->weight));
  }
  x[4] = Vector3(1.2, 1.2, 0.01);
  EXPECT_FALSE(neighbours.find(contact, x, x).has_value());
}

}  // namespace
}  // namespace signorini::edge_cones_test
