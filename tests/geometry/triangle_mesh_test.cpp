#include "geometry/triangle_mesh.h"

#include <gtest/gtest.h>

#include <numbers>

#include "base/check.h"
#include "geometry/ball.h"
#include "geometry/bucket.h"

namespace signorini::triangle_mesh_test {
namespace {

constexpr double kEps = 2.22e-16;

TEST(TriangleMesh, UnitTetrahedronSurfaceHasItsVolumeAreaAndOrientation) {
  const TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                          {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  EXPECT_TRUE(is_closed_and_oriented(mesh));
  EXPECT_EQ(euler_characteristic(mesh), 2);
  EXPECT_NEAR(enclosed_volume(mesh), 1.0 / 6.0, 4 * kEps);
  EXPECT_NEAR(surface_area(mesh), 1.5 + 0.5 * std::sqrt(3.0), 8 * kEps);
}

TEST(TriangleMesh, AFlippedTriangleOrAHoleIsNotClosed) {
  TriangleMesh mesh = icosphere(1);
  ASSERT_TRUE(is_closed_and_oriented(mesh));
  TriangleMesh flipped = mesh;
  std::swap(flipped.triangles[7][0], flipped.triangles[7][1]);
  EXPECT_FALSE(is_closed_and_oriented(flipped));
  mesh.triangles.pop_back();
  EXPECT_FALSE(is_closed_and_oriented(mesh));
}

TEST(TriangleMesh, EveryVertexOfAConvexSurfaceIsExposedAndNoneOfItsInside) {
  TriangleMesh mesh = icosphere(1);
  EXPECT_EQ(exposed_vertices(mesh).size(), mesh.vertices.size());
  for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
  EXPECT_TRUE(exposed_vertices(mesh).empty());
}

TEST(Bucket, FacesItsInsideAndExposesOnlyTheRim) {
  const BucketShape shape{0.3, 0.4, 0.5, 24};
  const TriangleMesh mesh = bucket(shape);
  EXPECT_EQ(mesh.vertices.size(), 49U);
  EXPECT_EQ(mesh.triangles.size(), 72U);
  EXPECT_EQ(euler_characteristic(mesh), 1);  // a disc
  const Vector3 inside(0.0, 0.0, 0.2);
  for (const Triangle& t : mesh.triangles) {
    const Vector3& x = mesh.vertices[t[0]];
    const Vector3 normal = area_vector(x, mesh.vertices[t[1]], mesh.vertices[t[2]]);
    EXPECT_GT(normal.norm(), 0.0);
    EXPECT_GT(normal.dot(inside - x), 0.0);
  }
  const std::vector<Index> exposed = exposed_vertices(mesh);
  ASSERT_EQ(exposed.size(), 24U);
  for (const Index v : exposed) EXPECT_EQ(mesh.vertices[v][2], shape.height);
}

TEST(Bucket, CylinderEnclosesTheVolumeOfAPrism) {
  // Closing the top with the mirrored floor turns the bucket into a prism over a regular 12-gon.
  TriangleMesh mesh = bucket({1.0, 1.0, 2.0, 12});
  const Index top = count(mesh.vertices);
  mesh.vertices.emplace_back(0.0, 0.0, 2.0);
  for (Index s = 0; s < 12; ++s) mesh.triangles.push_back({12 + s, top, 12 + (s + 1) % 12});
  ASSERT_TRUE(is_closed_and_oriented(mesh));
  // Normals face the inside, so the enclosed volume is negative: ½ n r² sin(2π/n) h.
  const double volume = 0.5 * 12 * std::sin(2.0 * std::numbers::pi / 12) * 2.0;
  EXPECT_NEAR(enclosed_volume(mesh), -volume, 100 * kEps);  // about 50 products are summed
}

TEST(Bucket, RefusesSizesThatMakeNoBucket) {
  EXPECT_THROW(bucket({0.3, 0.4, 0.5, 2}), UsageError);
  EXPECT_THROW(bucket({0.0, 0.4, 0.5, 8}), UsageError);
  EXPECT_THROW(bucket({0.3, 0.4, -0.5, 8}), UsageError);
  EXPECT_THROW(ground(0.0), UsageError);
}

}  // namespace
}  // namespace signorini::triangle_mesh_test
