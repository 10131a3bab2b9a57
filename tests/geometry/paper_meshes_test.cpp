#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "geometry/armadillo.h"
#include "geometry/bearing_sphere.h"
#include "geometry/bunny.h"
#include "geometry/mesh_checks.h"
#include "geometry/pyramid_object.h"
#include "geometry/small_cube.h"

/// Objects of Verschoor and Jalba 2019 with their counts.
namespace signorini::paper_meshes_test {
namespace {

constexpr double kEps = 2.22e-16;

TEST(PyramidObject, HasTheCountsOfThePaper) {
  const TetMesh mesh = pyramid_object(0.024, 0.0144);
  EXPECT_EQ(checked_counts(mesh), (Counts{432, 528, 260, 260, -4}));  // genus 3
  const double cell = 0.002 * 0.0024 * 0.0048;
  EXPECT_NEAR(total_volume(mesh), 72 * cell, 432 * kEps * 72 * cell);
  EXPECT_LT((extent(mesh) - Vector3(0.024, 0.024, 0.0144)).norm(), 10 * kEps);
  EXPECT_GT(mesh_quality(mesh).smallest, 0.4);
  EXPECT_THROW(pyramid_object(0.0), UsageError);
  EXPECT_THROW(pyramid_object(0.024, 0.0), UsageError);
}

TEST(PyramidObject, StandsOnFourFeetOfOneCell) {
  const TetMesh mesh = pyramid_object(0.024, 0.0144);
  Index low = 0, high = 0;
  for (const Vector3& x : mesh.vertices) {
    if (x.z() > 0.0024 - 1e-9) {
      ++high;
      continue;
    }
    EXPECT_GT(std::abs(x.x()), 0.01 - 1e-9);
    EXPECT_GT(std::abs(x.y()), 0.0096 - 1e-9);
    ++low;
  }
  EXPECT_EQ(low, 4 * 8) << "corners of four feet below the frame, two cells high";
  EXPECT_EQ(high, 2 * 114);
}

TEST(SmallCube, HasTheCountsOfThePaper) {
  const TetMesh mesh = small_cube(0.05);
  EXPECT_EQ(checked_counts(mesh), (Counts{44, 48, 27, 26, 2}));
  EXPECT_NEAR(total_volume(mesh), 1.25e-4, 44 * kEps * 1.25e-4);
  EXPECT_LT((extent(mesh) - Vector3::Constant(0.05)).norm(), 4 * kEps);
  const MeshQuality quality = mesh_quality(mesh);
  EXPECT_GT(quality.smallest, 0.68);
  EXPECT_GT(quality.mean, 0.81);
  // At four corners the edge to the centre is gone.
  Index with_centre = 0;
  for (const Tetrahedron& tet : mesh.tets) {
    const bool has_corner = std::any_of(
        tet.begin(), tet.end(), [&](Index i) { return mesh.vertices[i].cwiseAbs().minCoeff() > 0.0; });
    if (has_corner && std::count(tet.begin(), tet.end(), 13) == 1) ++with_centre;
  }
  EXPECT_EQ(with_centre, 4 * 3);
  EXPECT_THROW(small_cube(-1.0), UsageError);
}

TEST(Bunny, HasTheCountsOfThePaper) {
  const TetMesh mesh = bunny(0.15);
  EXPECT_EQ(checked_counts(mesh), (Counts{1270, 738, 410, 371, 2}));
  EXPECT_NEAR(extent(mesh).maxCoeff(), 0.15, 4 * kEps);
  // 0.4010 and 0.6435 here; room for another order of rounding to lead the search elsewhere.
  const MeshQuality quality = mesh_quality(mesh);
  EXPECT_GT(quality.smallest, 0.3);
  EXPECT_GT(quality.mean, 0.6);
  RecordProperty("smallest_quality", std::to_string(quality.smallest));
  std::vector<Index> vertex_of;
  boundary_surface(mesh, vertex_of);
  EXPECT_EQ(vertex_of.back(), 370);  // the surface comes first
  EXPECT_TRUE(same(mesh, bunny(0.15)));
  EXPECT_THROW(bunny(0.0), UsageError);
}

TEST(Bunny, HasEarsAndALongAxisThroughHeadAndTail) {
  const TetMesh mesh = bunny(1.0);
  const auto reach = [&](const Vector3& direction) {
    double most = 0.0;
    for (const Vector3& x : mesh.vertices) most = std::max(most, x.dot(direction.normalized()));
    return most;
  };
  // Between the ears is lower than the ears, and the tail reaches farther than the flanks.
  EXPECT_GT(reach({0.35, 0.38, 0.855}), 1.15 * reach({-0.35, 0.0, 0.855}));
  EXPECT_GT(reach({0.35, -0.38, 0.855}), 1.15 * reach({-0.35, 0.0, 0.855}));
  EXPECT_GT(reach({-1, 0, -0.3}), 1.05 * reach({0, 1, -0.3}));
}

TEST(BearingSphere, HasTheCountsOfThePaper) {
  const TetMesh mesh = bearing_sphere(0.05);
  EXPECT_EQ(checked_counts(mesh), (Counts{12851, 5120, 3654, 2562, 2}));
  const MeshQuality quality = mesh_quality(mesh);  // 0.459 and 0.604
  EXPECT_GT(quality.smallest, 0.45);
  EXPECT_GT(quality.mean, 0.6);
  std::vector<Index> vertex_of;
  const TriangleMesh surface = boundary_surface(mesh, vertex_of);
  EXPECT_EQ(vertex_of.back(), 2561);
  for (const Vector3& x : surface.vertices) EXPECT_NEAR(x.norm(), 0.05, 4 * 0.05 * kEps);
  EXPECT_TRUE(same(mesh, bearing_sphere(0.05)));
  EXPECT_THROW(bearing_sphere(0.0), UsageError);
}

TEST(Armadillo, HasTheCountsOfThePaper) {
  const TetMesh mesh = armadillo(0.4);
  EXPECT_EQ(checked_counts(mesh), (Counts{385739, 20978, 69722, 10491, 2}));
  EXPECT_NEAR(extent(mesh)[2], 0.4, 10 * kEps);
  const MeshQuality quality = mesh_quality(mesh);  // 0.230 and 0.698
  EXPECT_GT(quality.smallest, 0.22);
  EXPECT_GT(quality.mean, 0.69);
  RecordProperty("smallest_quality", std::to_string(quality.smallest));
  EXPECT_TRUE(same(mesh, armadillo(0.4)));
}

TEST(Armadillo, HasLimbs) {
  const TetMesh mesh = armadillo(1.0, 0.5);
  const auto reach = [&](const Vector3& direction, double low, double high) {
    double most = -1.0;
    for (const Vector3& x : mesh.vertices)
      if (x[2] >= low && x[2] <= high) most = std::max(most, x.dot(direction));
    return most;
  };
  const auto is_empty = [&](const Vector3& low, const Vector3& high) {
    return std::none_of(mesh.vertices.begin(), mesh.vertices.end(), [&](const Vector3& x) {
      return (x - low).minCoeff() > 0.0 && (high - x).minCoeff() > 0.0;
    });
  };
  const Vector3 front = Vector3::UnitX(), side = Vector3::UnitY();
  EXPECT_GT(reach(side, -0.5, 0.5), 0.35) << "arms";
  EXPECT_GT(reach(-side, -0.5, 0.5), 0.35);
  EXPECT_LT(reach(side, 0.25, 0.5), 0.2) << "no arms at the head";
  EXPECT_TRUE(is_empty({-1, -0.015, -0.5}, {1, 0.015, -0.3})) << "between the legs";
  EXPECT_TRUE(is_empty({-1, -0.03, 0.43}, {1, 0.03, 0.5})) << "between the ears";
  EXPECT_GT(reach(front, 0.2, 0.4), reach(-front, 0.25, 0.4) + 0.05) << "the snout points to the front";
  EXPECT_GT(reach(-front, -0.3, 0.0), 0.3) << "a tail";
}

TEST(Armadillo, ComesCoarserWithTheSameShape) {
  const TetMesh coarse = armadillo(0.4, 0.2);
  const Counts counts = checked_counts(coarse);
  EXPECT_EQ(counts.euler_characteristic, 2);
  EXPECT_GT(mesh_quality(coarse).smallest, 0.2);
  EXPECT_NEAR(extent(coarse)[2], 0.4, 10 * kEps);
  EXPECT_NEAR(total_volume(coarse) / total_volume(armadillo(0.4, 0.5)), 1.0, 0.15);
  EXPECT_GT(mesh_quality(armadillo(0.4, 1.0 / 3.0)).smallest, 0.2);
  EXPECT_THROW(armadillo(0.0), UsageError);
  EXPECT_THROW(armadillo(0.4, 0.0), UsageError);
  EXPECT_THROW(armadillo(0.4, 1.5), UsageError);
}

}  // namespace
}  // namespace signorini::paper_meshes_test
