#include "geometry/block.h"

#include "base/check.h"

namespace signorini {

TetMesh kuhn_block(const std::array<Index, 3>& cells, const Vector3& size) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (cells[d] < 1) throw_usage("block: {} cells along axis {}, at least 1 is needed", cells[d], d);
    if (!(size[static_cast<Index>(d)] > 0.0))
      throw_usage("block: size {} m along axis {} is not positive", size[static_cast<Index>(d)], d);
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
  // A Kuhn tet walks from corner (0,0,0) to (1,1,1) along the axes in one of the 6 orders; odd orders are
  // flipped.
  constexpr std::array<std::array<std::size_t, 3>, 6> kOrders{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  for (Index k = 0; k < cells[2]; ++k) {
    for (Index j = 0; j < cells[1]; ++j) {
      for (Index i = 0; i < cells[0]; ++i) {
        for (std::size_t order = 0; order < 6; ++order) {
          std::array<Index, 3> at{i, j, k};
          Tetrahedron tet{number(i, j, k), 0, 0, 0};
          for (std::size_t s = 0; s < 3; ++s) {
            ++at[kOrders[order][s]];
            tet[s + 1] = number(at[0], at[1], at[2]);
          }
          if (order >= 3) std::swap(tet[2], tet[3]);
          mesh.tets.push_back(tet);
        }
      }
    }
  }
  return mesh;
}

}  // namespace signorini
