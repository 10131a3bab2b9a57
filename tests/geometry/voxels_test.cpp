#include "geometry/voxels.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "geometry/block.h"
#include "geometry/mesh_checks.h"

namespace signorini {
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

}  // namespace
}  // namespace signorini
