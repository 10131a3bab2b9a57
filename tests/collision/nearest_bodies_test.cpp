#include "collision/nearest_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace signorini::nearest_bodies_test {
namespace {

/// Tetrahedra with corners at `origin` and the three unit vectors from it.
struct Corners {
  SurfaceModel surface;
  std::vector<Vector3> x;

  void add(const Vector3& origin, bool movable = true) {
    append_surface(surface, 4, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}, {}, movable, true);
    x.push_back(origin);
    for (Index axis = 0; axis < 3; ++axis) x.push_back(origin + Vector3::Unit(axis));
  }
};

constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();  // of lengths about 1

TEST(NearestBodies, VertexToVertexVertexToFaceAndEdgeToEdge) {
  Corners c;
  EXPECT_FALSE(nearest_bodies(c.surface, c.x));
  c.add({0.0, 0.0, 0.0});
  EXPECT_FALSE(nearest_bodies(c.surface, c.x));
  c.add({3.0, 0.0, 0.0});  // (1, 0, 0) to (3, 0, 0)
  EXPECT_NEAR(nearest_bodies(c.surface, c.x)->distance, 2.0, kRounding);
  c.add({0.6, 0.6, 0.6});  // to the plane x + y + z = 1 of the first
  const auto face = nearest_bodies(c.surface, c.x);
  EXPECT_EQ(face->a, 0);
  EXPECT_EQ(face->b, 2);
  EXPECT_NEAR(face->distance, 0.8 / std::sqrt(3.0), kRounding);
  // its edge (−0.25 + t, 0.3, −0.1 − t) passes the edge x = z = 0 nearest at t = 0.075
  c.add({-0.25, 0.3, -1.1});
  const auto edge = nearest_bodies(c.surface, c.x);
  EXPECT_EQ(edge->b, 3);
  EXPECT_NEAR(edge->distance, 0.175 * std::sqrt(2.0), kRounding);
}

TEST(NearestBodies, EqualsTestingEveryPairOfVerticesOfFineSurfaces) {
  // Two rows of points joined by slivers: the distance between them is that of two of their vertices.
  SurfaceModel surface;
  std::vector<Vector3> x;
  for (const double side : {0.0, 1.0}) {
    std::vector<Triangle> strip;
    for (Index k = 0; k < 40; ++k) {
      x.emplace_back(0.1 * static_cast<double>(k),
                     5.0 * side + 0.1 * std::sin(1.7 * static_cast<double>(k) + side), 0.0);
      if (k >= 2) strip.push_back({k - 2, k - 1, k});
    }
    append_surface(surface, 40, strip, {}, side > 0.0, true);
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 40; j < 80; ++j) least = std::min(least, (x[i] - x[j]).norm());
  }
  const double found = nearest_bodies(surface, x)->distance;
  EXPECT_LE(found, least + kRounding);
  EXPECT_GT(found, 5.0 - 0.2 - kRounding);  // waves of height 0.1 on both sides
}

TEST(NearestBodies, ObstaclesAreNotMeasuredAgainstEachOther) {
  Corners c;
  c.add({0.0, 0.0, 0.0}, false);
  c.add({1.5, 0.0, 0.0}, false);
  EXPECT_FALSE(nearest_bodies(c.surface, c.x));
  c.add({0.0, 0.0, 9.0});
  EXPECT_NEAR(nearest_bodies(c.surface, c.x)->distance, 8.0, kRounding * 9.0);
}

}  // namespace
}  // namespace signorini::nearest_bodies_test
