#include "geometry/voxels.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "geometry/block.h"
#include "geometry/mesh_checks.h"
#include "geometry/refine.h"
#include "geometry/ring.h"
#include "geometry/table.h"

namespace signorini::voxels_test {
namespace {

TEST(Voxels, AllFilledAreTheBlock) {
  const Vector3 size(0.3, 0.2, 0.5);
  const auto all = [](Index, Index, Index) { return true; };
  EXPECT_TRUE(same(kuhn_voxels({3, 2, 4}, size, all, "test"), kuhn_block({3, 2, 4}, size)));
}

TEST(Voxels, CountSharedFaces) {
  // A frame of 8 cells around a hole: 8 shared faces, genus 1.
  const auto frame = [](Index i, Index j, Index) { return i != 1 || j != 1; };
  const TetMesh mesh = kuhn_voxels({3, 3, 1}, Vector3(3, 3, 1), frame, "test");
  EXPECT_EQ(checked_counts(mesh), (Counts{48, 12 * 8 - 4 * 8, 32, 32, 0}));
  EXPECT_NEAR(total_volume(mesh), 8.0, 1e-14);
}

TEST(Voxels, RefuseBadGrids) {
  const auto all = [](Index, Index, Index) { return true; };
  const auto none = [](Index, Index, Index) { return false; };
  EXPECT_THROW(kuhn_voxels({0, 1, 1}, Vector3::Ones(), all, "test"), UsageError);
  EXPECT_THROW(kuhn_voxels({1, 1, 1}, Vector3(1, 0, 1), all, "test"), UsageError);
  EXPECT_THROW(kuhn_voxels({2000, 2000, 2000}, Vector3::Ones(), all, "test"), UsageError);
  EXPECT_THROW(kuhn_voxels({2, 2, 2}, Vector3::Ones(), none, "test"), UsageError);
}

TEST(Table, StandsOnFourLegs) {
  const TetMesh mesh = table(0.02);
  // 54 + 50 faces between cells of the top, 6 along each leg: 12 · 84 − 4 · 128 triangles.
  EXPECT_EQ(checked_counts(mesh), (Counts{504, 496, 250, 250, 2}));
  EXPECT_NEAR(total_volume(mesh), 84 * 8e-6, 1e-16);
  EXPECT_LT((extent(mesh) - Vector3(0.2, 0.12, 0.14)).norm(), 1e-15);
  EXPECT_THROW(table(0.0), UsageError);
}

TEST(FootedBlock, StandsOnItsFeet) {
  for (const auto& [feet, cells] : {std::pair<Index, std::size_t>{1, 9}, {2, 20}, {4, 16}}) {
    const TetMesh mesh = footed_block(feet, 1.0);
    EXPECT_EQ(checked_counts(mesh).tets, 6 * (105 + cells));
    EXPECT_EQ(checked_counts(mesh).euler_characteristic, 2);
    // The area that stands on the ground.
    double area = 0.0;
    for (const auto& [i, j, k] : boundary_triangles(mesh)) {
      const auto x = [&](Index v) { return mesh.vertices[v]; };
      const Vector3 n = area_vector(x(i), x(j), x(k));
      if (x(i)[2] == -2.0 && n[2] < 0.0) area -= 0.5 * n[2];
    }
    EXPECT_NEAR(area, static_cast<double>(cells), 1e-13);
  }
  EXPECT_THROW(footed_block(3, 1.0), UsageError);
  EXPECT_THROW(footed_block(2, -1.0), UsageError);
}

TEST(Refined, EightTimesTheTetsInTheSameShape) {
  for (const TetMesh& mesh : {ring({}), kuhn_block({2, 1, 3}, Vector3(2, 1, 3))}) {
    const Counts coarse = checked_counts(mesh);
    const Counts fine = checked_counts(refined(mesh));
    // V − E + F − T of the solid stays as it is, and F = 2 T + boundary / 2.
    const std::size_t edges =
        coarse.vertices + coarse.tets + coarse.triangles / 2 - coarse.euler_characteristic / 2;
    EXPECT_EQ(fine,
              (Counts{8 * coarse.tets, 4 * coarse.triangles, coarse.vertices + edges,
                      coarse.surface_vertices + 3 * coarse.triangles / 2, coarse.euler_characteristic}));
    EXPECT_NEAR(total_volume(refined(mesh)) / total_volume(mesh), 1.0, 1e-13);
    EXPECT_GT(mesh_quality(refined(mesh)).smallest, 0.6 * mesh_quality(mesh).smallest);
  }
}

}  // namespace
}  // namespace signorini::voxels_test
