#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "geometry/flared_tube.h"
#include "geometry/groove.h"
#include "geometry/mannequin.h"
#include "geometry/mesh_checks.h"
#include "geometry/skittle.h"

namespace signorini::turned_bodies_test {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(FlaredTube, SixLayersHaveTheVerticesOfThePaperAndStayApart) {
  std::size_t vertices = 0;
  std::vector<TriangleMesh> layers;
  for (int layer = 0; layer < 6; ++layer) {
    FlaredTube shape;
    shape.top_radius += 0.01 * layer;
    shape.bottom_radius += 0.02 * layer;
    shape.folds = 9;
    shape.fold_depth = 0.03;
    layers.push_back(flared_tube(shape));
    const TriangleMesh& mesh = layers.back();
    EXPECT_EQ(mesh.triangles.size(), 2U * 70 * 39);
    EXPECT_EQ(euler_characteristic(mesh), 0);
    vertices += mesh.vertices.size();
  }
  EXPECT_EQ(vertices, 16800U);
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    for (std::size_t v = 0; v < 2800; ++v) {
      const double gap = layers[i + 1].vertices[v].head<2>().norm() - layers[i].vertices[v].head<2>().norm();
      EXPECT_GT(gap, 0.01 - 1e-15);
    }
  }
}

TEST(FlaredTube, FacesOutwardAndIsAConeWithoutFolds) {
  FlaredTube shape;
  shape.bottom_radius = shape.top_radius = 0.2;
  shape.columns = 100;
  const TriangleMesh mesh = flared_tube(shape);
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vector3& x = mesh.vertices[i];
    const Vector3 n = area_vector(x, mesh.vertices[j], mesh.vertices[k]);
    EXPECT_GT(n.dot(Vector3(x[0], x[1], 0.0)), 0.0);
  }
  EXPECT_NEAR(surface_area(mesh), 2.0 * 100 * std::sin(kPi / 100) * 0.2 * 0.7, 1e-13);
}

TEST(FlaredTube, WidensAsAConeWithFlareOne) {
  FlaredTube shape;
  shape.flare = 1.0;
  for (const Vector3& x : flared_tube(shape).vertices) {
    const double t = -x[2] / shape.length;
    EXPECT_NEAR(x.head<2>().norm(), shape.top_radius + t * (shape.bottom_radius - shape.top_radius), 1e-15);
  }
}

TEST(FlaredTube, RefusesBadShapes) {
  EXPECT_THROW(flared_tube({.top_radius = 0.0}), UsageError);
  EXPECT_THROW(flared_tube({.length = -1.0}), UsageError);
  EXPECT_THROW(flared_tube({.flare = 0.0}), UsageError);
  EXPECT_THROW(flared_tube({.columns = 2}), UsageError);
  EXPECT_THROW(flared_tube({.rows = 1}), UsageError);
  EXPECT_THROW(flared_tube({.columns = 20, .folds = 6}), UsageError);
  EXPECT_THROW(flared_tube({.bottom_radius = 0.2, .fold_depth = 0.2}), UsageError);
}

TEST(Mannequin, IsClosedAndHasAWaistBetweenChestAndHips) {
  const TriangleMesh mesh = mannequin_surface(1.7, 24);
  EXPECT_TRUE(is_closed_and_oriented(mesh));
  EXPECT_EQ(euler_characteristic(mesh), 2);
  double low = 1.0, high = 0.0;
  for (const Vector3& x : mesh.vertices) {
    low = std::min(low, x[2]);
    high = std::max(high, x[2]);
  }
  EXPECT_EQ(low, 0.0);
  EXPECT_NEAR(high, 1.7, 1e-15);
  const auto radius = [&](double from, double to) {
    double largest = 0.0;
    for (const Vector3& x : mesh.vertices)
      if (x[2] >= 1.7 * from && x[2] <= 1.7 * to) largest = std::max(largest, x.head<2>().norm());
    return largest;
  };
  const double hips = radius(0.45, 0.55), waist = radius(0.61, 0.62), chest = radius(0.70, 0.75);
  EXPECT_LT(waist, 0.75 * hips);
  EXPECT_LT(waist, 0.75 * chest);
  EXPECT_LT(radius(0.83, 0.87), 0.6 * radius(0.90, 0.97)) << "neck and head";
  EXPECT_THROW(mannequin_surface(0.0, 24), UsageError);
  EXPECT_THROW(mannequin_surface(1.7, 2), UsageError);
}

TEST(Skittle, HasTheStatedCounts) {
  for (const auto& [segments, rings] : {std::pair<Index, Index>{8, 10}, {5, 4}, {16, 20}}) {
    const TetMesh mesh = skittle({0.3, 0.05, segments, rings});
    const std::size_t s = segments, r = rings;
    EXPECT_EQ(checked_counts(mesh), (Counts{3 * s * (r - 1), 2 * s * r, r * (s + 1), r * s + 2, 2}));
    EXPECT_NEAR(extent(mesh)[2], 0.3, 1e-15);
    EXPECT_LT(0.5 * extent(mesh)[0], 0.05 * 1.03);
  }
  const MeshQuality quality = mesh_quality(skittle({}));
  EXPECT_GT(quality.smallest, 0.25);
  EXPECT_GT(quality.mean, 0.5);
}

TEST(Skittle, HasABellyANeckAndAHead) {
  const TetMesh mesh = skittle({});
  const auto radius = [&](Index ring) { return mesh.vertices[9 * ring + 1].head<2>().norm(); };
  EXPECT_GT(radius(3), radius(0));
  EXPECT_LT(radius(7), 0.7 * radius(3));
  EXPECT_LT(radius(7), radius(8));
}

TEST(Skittle, RefusesBadShapes) {
  EXPECT_THROW(skittle({.height = 0.0}), UsageError);
  EXPECT_THROW(skittle({.radius = -1.0}), UsageError);
  EXPECT_THROW(skittle({.segments = 2}), UsageError);
  EXPECT_THROW(skittle({.rings = 3}), UsageError);
}

TEST(Groove, FacesTheInsideOfItsTube) {
  for (const auto& [from, to] : {std::pair{-60.0, 60.0}, {120.0, 240.0}, {-90.0, 200.0}}) {
    GrooveShape shape;
    shape.from_deg = from;
    shape.to_deg = to;
    const TriangleMesh mesh = groove(shape);
    EXPECT_EQ(mesh.vertices.size(), 64U * 13);
    EXPECT_EQ(mesh.triangles.size(), 2U * 64 * 12);
    EXPECT_EQ(euler_characteristic(mesh), 0);  // an annulus
    for (const auto& [i, j, k] : mesh.triangles) {
      const Vector3& x = mesh.vertices[i];
      const Vector3 n = area_vector(x, mesh.vertices[j], mesh.vertices[k]);
      const Vector3 middle = shape.track_radius * Vector3(x[0], x[1], 0.0).normalized();
      EXPECT_NEAR((x - middle).norm(), shape.radius, 1e-15);
      EXPECT_GT(n.dot(middle - x), 0.0);
    }
  }
}

TEST(Groove, RefusesBadShapes) {
  EXPECT_THROW(groove({.track_radius = 0.05, .radius = 0.05}), UsageError);
  EXPECT_THROW(groove({.radius = 0.0}), UsageError);
  EXPECT_THROW(groove({.from_deg = 0.0, .to_deg = 360.0}), UsageError);
  EXPECT_THROW(groove({.from_deg = 10.0, .to_deg = 10.0}), UsageError);
  EXPECT_THROW(groove({.segments = 2}), UsageError);
  EXPECT_THROW(groove({.bands = 0}), UsageError);
}

}  // namespace
}  // namespace signorini::turned_bodies_test
