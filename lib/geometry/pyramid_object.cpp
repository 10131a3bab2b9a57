#include "geometry/pyramid_object.h"

#include "geometry/voxels.h"

namespace signorini {

TetMesh pyramid_object(double width, double height) {
  const auto is_filled = [](Index i, Index j, Index k) {
    if (k < 2) return (i == 0 || i == 11) && (j == 0 || j == 9);
    const bool in_wide_window = i >= 1 && i <= 4 && j >= 2 && j <= 7;
    const bool in_long_windows = (i == 6 || i == 7 || i == 9 || i == 10) && j >= 1 && j <= 8;
    return !in_wide_window && !in_long_windows;
  };
  const Vector3 size(width, width, height);
  TetMesh mesh = kuhn_voxels({12, 10, 3}, size, is_filled, "pyramid object");
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}

}  // namespace signorini
