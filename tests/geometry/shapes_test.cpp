#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "geometry/bin.h"
#include "geometry/box_surface.h"
#include "geometry/lathe.h"
#include "geometry/plate.h"
#include "geometry/ring.h"

namespace signorini::shapes_test {
namespace {

constexpr double kEps = 2.22e-16;
constexpr double kPi = std::numbers::pi;

/// Shortest altitude of the triangles over their longest edge.
double worst_triangle(const TriangleMesh& mesh) {
  double worst = std::numeric_limits<double>::infinity();
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vector3& a = mesh.vertices[i];
    const Vector3& b = mesh.vertices[j];
    const Vector3& c = mesh.vertices[k];
    const double longest = std::max({(a - b).squaredNorm(), (b - c).squaredNorm(), (c - a).squaredNorm()});
    worst = std::min(worst, area_vector(a, b, c).norm() / longest);
  }
  return worst;
}

TEST(Ring, HasTheCountsOfThePaper) {
  const TetMesh mesh = ring({});
  EXPECT_EQ(mesh.tets.size(), 108U);
  EXPECT_EQ(mesh.vertices.size(), 72U);
  std::vector<Index> vertex_of;
  const TriangleMesh surface = boundary_surface(mesh, vertex_of);
  EXPECT_EQ(surface.triangles.size(), 144U);
  EXPECT_EQ(surface.vertices.size(), 72U);
  EXPECT_TRUE(is_closed_and_oriented(surface));
  EXPECT_EQ(euler_characteristic(surface), 0);  // genus 1
}

TEST(Ring, FillsItsPolygonalTorusWithPositiveTets) {
  for (const RingShape& shape : {RingShape{}, RingShape{0.1, 0.15, 3, 2}, RingShape{1.0, 0.1, 64, 3}}) {
    const TetMesh mesh = ring(shape);
    const double n = shape.segments;
    const std::size_t c = shape.cells;
    EXPECT_EQ(mesh.tets.size(), 6 * c * c * shape.segments);
    EXPECT_EQ(mesh.vertices.size(), (c + 1) * (c + 1) * shape.segments);
    for (const Tetrahedron& tet : mesh.tets) EXPECT_GT(tet_volume(mesh, tet), 0.0);
    // n-gons with outer and inner radius R ± h/2, times h: ½ n sin(2π/n) (2 R h) h.
    const double volume = n * std::sin(2.0 * kPi / n) * shape.radius * shape.thickness * shape.thickness;
    EXPECT_NEAR(total_volume(mesh), volume, 50 * static_cast<double>(mesh.tets.size()) * kEps * volume);
    std::vector<Index> vertex_of;
    const TriangleMesh surface = boundary_surface(mesh, vertex_of);
    EXPECT_EQ(surface.triangles.size(), 8 * c * shape.segments);
    EXPECT_TRUE(is_closed_and_oriented(surface));
    EXPECT_NEAR(enclosed_volume(surface), volume, 1000 * kEps * volume);
  }
}

TEST(Ring, TheDefaultHasGoodElements) {
  const MeshQuality quality = mesh_quality(ring({}));
  // Kuhn tets of a cube have 0.72; the segments are up to 0.02 · 1.05 long.
  EXPECT_GT(quality.smallest, 0.5);
  EXPECT_GT(quality.mean, 0.6);
  EXPECT_LE(quality.smallest, quality.mean);
  EXPECT_EQ(tet_quality(ring({}), ring({}).tets[quality.worst]), quality.smallest);
}

TEST(MeshQuality, OfNothingIsNothing) { EXPECT_EQ(mesh_quality({}).worst, -1); }

TEST(Ring, RefusesBadSizes) {
  EXPECT_THROW(ring({0.05, 0.1, 18, 1}), UsageError);
  EXPECT_THROW(ring({0.05, 0.0, 18, 1}), UsageError);
  EXPECT_THROW(ring({-0.05, 0.02, 18, 1}), UsageError);
  EXPECT_THROW(ring({0.05, 0.02, 2, 1}), UsageError);
  EXPECT_THROW(ring({0.05, 0.02, 18, 0}), UsageError);
  EXPECT_THROW(ring({std::nan(""), 0.02, 18, 1}), UsageError);
}

TEST(BoxSurface, IsTheClosedBoxWithTheStatedCounts) {
  const Vector3 size(0.2, 0.3, 0.5);
  for (const auto& cells : {std::array<Index, 3>{1, 1, 1}, std::array<Index, 3>{2, 3, 4}}) {
    const TriangleMesh mesh = box_surface(size, cells);
    const auto [a, b, c] = cells;
    const std::size_t triangles = 4 * (a * b + b * c + c * a);
    EXPECT_EQ(mesh.triangles.size(), triangles);
    EXPECT_EQ(mesh.vertices.size(), triangles / 2 + 2);
    EXPECT_TRUE(is_closed_and_oriented(mesh));
    EXPECT_EQ(euler_characteristic(mesh), 2);
    EXPECT_NEAR(enclosed_volume(mesh), size.prod(), 100 * kEps * size.prod());
    EXPECT_NEAR(surface_area(mesh), 2 * (0.06 + 0.1 + 0.15), 100 * kEps);
    for (const Vector3& x : mesh.vertices) EXPECT_LE((x.cwiseAbs() - 0.5 * size).maxCoeff(), kEps);
  }
  EXPECT_THROW(box_surface({1.0, 0.0, 1.0}), UsageError);
  EXPECT_THROW(box_surface({1.0, 1.0, 1.0}, {1, 0, 1}), UsageError);
}

TEST(CylinderSurface, IsThePrismOverAPolygon) {
  const TriangleMesh mesh = cylinder_surface(0.5, 2.0, 12, 3);
  EXPECT_EQ(mesh.vertices.size(), 4U * 12 + 2);
  EXPECT_EQ(mesh.triangles.size(), 2U * 4 * 12);
  EXPECT_TRUE(is_closed_and_oriented(mesh));
  EXPECT_EQ(euler_characteristic(mesh), 2);
  const double volume = 0.5 * 12 * std::sin(2.0 * kPi / 12) * 0.25 * 2.0;
  EXPECT_NEAR(enclosed_volume(mesh), volume, 200 * kEps * volume);
  EXPECT_GT(worst_triangle(mesh), 0.1);
  EXPECT_THROW(cylinder_surface(0.0, 1.0), UsageError);
  EXPECT_THROW(cylinder_surface(1.0, -1.0), UsageError);
  EXPECT_THROW(cylinder_surface(1.0, 1.0, 2), UsageError);
  EXPECT_THROW(cylinder_surface(1.0, 1.0, 8, 0), UsageError);
}

TEST(CapsuleSurface, ConvergesToTheCapsuleFromInside) {
  const double radius = 0.3, length = 1.0;
  const double volume = kPi * radius * radius * length + 4.0 / 3.0 * kPi * std::pow(radius, 3);
  double before = 0.0;
  for (const Index refine : {1, 2, 4}) {
    const Index segments = 12 * refine, rings = 3 * refine;
    const TriangleMesh mesh = capsule_surface(radius, length, segments, rings);
    EXPECT_EQ(count(mesh.vertices), 2 * rings * segments + 2);
    EXPECT_EQ(count(mesh.triangles), 4 * rings * segments);
    EXPECT_TRUE(is_closed_and_oriented(mesh));
    EXPECT_EQ(euler_characteristic(mesh), 2);
    const double error = volume - enclosed_volume(mesh);
    EXPECT_GT(error, 0.0);
    if (refine > 1) {
      EXPECT_NEAR(before / error, 4.0, 0.2);  // chords: second order
    }
    before = error;
    for (const Vector3& x : mesh.vertices) {
      const Vector3 axis(0.0, 0.0, std::clamp(x[2], -0.5 * length, 0.5 * length));
      EXPECT_NEAR((x - axis).norm(), radius, 4 * kEps);
    }
  }
  EXPECT_GT(worst_triangle(capsule_surface(radius, length)), 0.02);
  EXPECT_THROW(capsule_surface(0.1, 0.0), UsageError);
  EXPECT_THROW(capsule_surface(0.1, 1.0, 8, 0), UsageError);
}

TEST(Plate, IsAFlatGridFacingUp) {
  const TriangleMesh mesh = plate(2.0, 1.0, 4, 3);
  EXPECT_EQ(mesh.vertices.size(), 20U);
  EXPECT_EQ(mesh.triangles.size(), 24U);
  EXPECT_EQ(euler_characteristic(mesh), 1);
  for (const auto& [i, j, k] : mesh.triangles) {
    EXPECT_GT(area_vector(mesh.vertices[i], mesh.vertices[j], mesh.vertices[k])[2], 0.0);
  }
  EXPECT_NEAR(surface_area(mesh), 2.0, 50 * kEps);
  EXPECT_THROW(plate(0.0, 1.0), UsageError);
  EXPECT_THROW(plate(1.0, 1.0, 0, 1), UsageError);
}

TEST(Bin, IsABoxWithoutALidThatFacesItsInside) {
  TriangleMesh mesh = bin({0.4, 0.6, 0.5});
  EXPECT_EQ(mesh.vertices.size(), 8U);
  EXPECT_EQ(mesh.triangles.size(), 10U);
  EXPECT_EQ(euler_characteristic(mesh), 1);  // a disc
  const Vector3 inside(0.1, -0.2, 0.3);
  for (const Triangle& t : mesh.triangles) {
    const Vector3& x = mesh.vertices[t[0]];
    EXPECT_GT(area_vector(x, mesh.vertices[t[1]], mesh.vertices[t[2]]).dot(inside - x), 0.0);
  }
  // With a lid that faces down it encloses the box, from the inside.
  mesh.triangles.push_back({4, 6, 5});
  mesh.triangles.push_back({4, 7, 6});
  ASSERT_TRUE(is_closed_and_oriented(mesh));
  EXPECT_NEAR(enclosed_volume(mesh), -0.12, 1e-16 * 20);  // 12 products of at most 0.04 each
  EXPECT_THROW(bin({0.4, 0.0, 0.5}), UsageError);
}

}  // namespace
}  // namespace signorini::shapes_test
