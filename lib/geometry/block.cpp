#include "geometry/block.h"

#include "base/check.h"
#include "geometry/kuhn.h"

namespace signorini {

TetMesh kuhn_block(const std::array<Index, 3>& cells, const Vector3& size) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (cells[d] < 1) throw_usage("block: {} cells along axis {}, at least 1 is needed", cells[d], d);
    if (!(size[d] > 0.0)) throw_usage("block: size {} m along axis {} is not positive", size[d], d);
  }
  TetMesh mesh;
  const Index nx = cells[0] + 1;
  const Index ny = cells[1] + 1;
  const auto number = [&](Index i, Index j, Index k) { return i + nx * (j + ny * k); };
  for (Index k = 0; k <= cells[2]; ++k) {
    for (Index j = 0; j <= cells[1]; ++j) {
      for (Index i = 0; i <= cells[0]; ++i) {
        mesh.vertices.emplace_back(size[0] * i / cells[0], size[1] * j / cells[1], size[2] * k / cells[2]);
      }
    }
  }
  for (Index k = 0; k < cells[2]; ++k) {
    for (Index j = 0; j < cells[1]; ++j) {
      for (Index i = 0; i < cells[0]; ++i) {
        add_kuhn_cell(mesh, [&](Index a, Index b, Index c) { return number(i + a, j + b, k + c); });
      }
    }
  }
  return mesh;
}

}  // namespace signorini
