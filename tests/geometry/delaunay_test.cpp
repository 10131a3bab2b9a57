#include "geometry/delaunay.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/mesh_checks.h"

namespace signorini::delaunay_test {
namespace {

std::vector<Vector3> random_points(std::size_t count) {
  Rng rng(7);
  std::vector<Vector3> points(count);
  for (Vector3& x : points) x = Vector3(rng.uniform(), rng.uniform(), rng.uniform());
  return points;
}

TEST(Delaunay, LeavesEverySphereEmpty) {
  const TetMesh mesh = delaunay(random_points(120));
  EXPECT_EQ(checked_counts(mesh).vertices, 120U);
  for (const Tetrahedron& tet : mesh.tets) {
    // Centre c: 2 (x_i − x_0) · c = |x_i|² − |x_0|².
    const auto x = [&](std::size_t i) { return mesh.vertices[tet[i]]; };
    Matrix3 rows;
    Vector3 right;
    for (Index i = 0; i < 3; ++i) {
      const Vector3 y = x(i + 1);
      rows.row(i) = 2.0 * (y - x(0)).transpose();
      right[i] = y.squaredNorm() - x(0).squaredNorm();
    }
    const Eigen::FullPivLU<Matrix3> solver(rows);
    const Vector3 centre = solver.solve(right);
    const double radius = (x(0) - centre).norm();
    // The centre of a flat tetrahedron is far and uncertain: ε times its distance and the condition number.
    const double margin = 1e-15 * (1.0 + centre.norm()) / solver.rcond();
    for (const Vector3& p : mesh.vertices) EXPECT_GT((p - centre).norm(), radius - margin);
  }
}

TEST(Delaunay, FillsTheHullOfAGridThoughManyPointsShareASphere) {
  std::vector<Vector3> points;
  for (int n = 0; n < 64; ++n) points.emplace_back(n % 4, n / 4 % 4, n / 16);
  // The first four of a grid lie in a line.
  EXPECT_THROW(delaunay(points), UsageError);
  std::swap(points[1], points[20]);
  std::swap(points[2], points[55]);
  const TetMesh mesh = delaunay(points);
  const Counts counts = checked_counts(mesh);
  EXPECT_EQ(counts.vertices, 64U);
  EXPECT_EQ(counts.surface_vertices, 56U);
  EXPECT_EQ(counts.euler_characteristic, 2);
  EXPECT_NEAR(total_volume(mesh), 27.0, 27.0 * 1e-5);  // corners are rounded to 3/2²⁰
}

TEST(Delaunay, DoesNotDependOnTheOrderOfPoints) {
  const std::vector<Vector3> points = random_points(60);
  const TetMesh mesh = delaunay(points);
  const TetMesh turned = delaunay({points.rbegin(), points.rend()});
  EXPECT_EQ(mesh.tets.size(), turned.tets.size());
  const auto sets = [](const TetMesh& m, bool reverse) {
    std::vector<Tetrahedron> all;
    for (Tetrahedron tet : m.tets) {
      for (Index& i : tet) i = reverse ? 59 - i : i;
      std::sort(tet.begin(), tet.end());
      all.push_back(tet);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(sets(mesh, false), sets(turned, true));
  EXPECT_TRUE(same(mesh, delaunay(points)));
}

TEST(Delaunay, RefusesWhatItCannotDo) {
  std::vector<Vector3> points = random_points(10);
  EXPECT_THROW(delaunay({points.begin(), points.begin() + 3}), UsageError);
  points[9] = points[4];
  EXPECT_THROW(delaunay(points), UsageError);
  points[9][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(delaunay(points), UsageError);
  EXPECT_THROW(delaunay(std::vector<Vector3>(5, Vector3::Ones())), UsageError);
}

}  // namespace
}  // namespace signorini::delaunay_test
