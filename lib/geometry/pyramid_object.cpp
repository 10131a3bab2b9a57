#include "geometry/pyramid_object.h"

#include "geometry/voxels.h"

namespace signorini {

TetMesh pyramid_object(double width) {
  const auto is_filled = [](Index i, Index j, Index) {
    const bool in_wide_window = i >= 1 && i <= 4 && j >= 2 && j <= 9;
    const bool in_long_windows = (i == 6 || i == 7 || i == 9 || i == 10) && j >= 1 && j <= 10;
    return !in_wide_window && !in_long_windows;
  };
  const Vector3 size(width, width, width / 12.0);
  TetMesh mesh = kuhn_voxels({12, 12, 1}, size, is_filled, "pyramid object");
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}

}  // namespace signorini
