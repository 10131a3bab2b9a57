#include "geometry/table.h"

#include "base/check.h"
#include "geometry/voxels.h"

namespace signorini {

namespace {

TetMesh centred_voxels(const std::array<Index, 3>& cells, double cell,
                       FunctionRef<bool(Index, Index, Index)> is_filled, const char* what) {
  const Vector3 size = cell * Vector3(cells[0], cells[1], cells[2]);
  TetMesh mesh = kuhn_voxels(cells, size, is_filled, what);
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}

}  // namespace

TetMesh table(double cell) {
  const auto is_filled = [](Index i, Index j, Index k) {
    return k == 6 || ((i == 0 || i == 9) && (j == 0 || j == 5));
  };
  return centred_voxels({10, 6, 7}, cell, is_filled, "table");
}

TetMesh footed_block(Index feet, double cell) {
  if (feet != 1 && feet != 2 && feet != 4)
    throw_usage("footed block: {} feet, 1, 2 and 4 are possible", feet);
  const auto is_foot = [feet](Index i, Index j) {
    if (feet == 1) return i >= 2 && i <= 4 && j >= 1 && j <= 3;
    const bool at_an_end = i <= 1 || i >= 5;
    return at_an_end && (feet == 2 || j <= 1 || j >= 3);
  };
  return centred_voxels(
      {7, 5, 4}, cell, [&](Index i, Index j, Index k) { return k > 0 || is_foot(i, j); }, "footed block");
}

}  // namespace signorini
