#include "geometry/voxels.h"

#include <cmath>

#include "base/check.h"
#include "geometry/kuhn.h"

namespace signorini {

namespace {

void check(const std::array<Index, 3>& cells, const Vector3& size, const char* what) {
  double product = 1.0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (cells[d] < 1) throw_usage("{}: {} cells along axis {}, at least 1 is needed", what, cells[d], d);
    const double edge = size[d];
    if (!(edge > 0.0) || !std::isfinite(edge))
      throw_usage("{}: size {} m along axis {} is not positive", what, edge, d);
    product *= cells[d];
  }
  constexpr double kMost = 1e8;  // vertex numbers stay far below 2³¹
  if (product > kMost)
    throw_usage("{}: {} × {} × {} cells are more than {}", what, cells[0], cells[1], cells[2], kMost);
}

}  // namespace

TetMesh kuhn_voxels(const std::array<Index, 3>& cells, const Vector3& size,
                    FunctionRef<bool(Index, Index, Index)> is_filled, const char* what) {
  check(cells, size, what);
  const Index nx = cells[0] + 1, ny = cells[1] + 1, nz = cells[2] + 1;
  const auto place = [&](Index i, Index j, Index k) { return i + nx * (j + ny * k); };
  const auto for_cells = [&](auto&& work) {
    for (Index k = 0; k < cells[2]; ++k) {
      for (Index j = 0; j < cells[1]; ++j) {
        for (Index i = 0; i < cells[0]; ++i) {
          if (is_filled(i, j, k)) work(i, j, k);
        }
      }
    }
  };
  std::vector<Index> number(static_cast<std::size_t>(nx) * ny * nz, -1);  // in 64 bits
  std::size_t filled = 0;
  for_cells([&](Index i, Index j, Index k) {
    ++filled;
    for (Index corner = 0; corner < 8; ++corner)
      number[place(i + corner % 2, j + corner / 2 % 2, k + corner / 4)] = 0;
  });
  if (filled == 0) throw_usage("{}: no cell is filled", what);
  TetMesh mesh;
  for (Index k = 0; k < nz; ++k) {
    for (Index j = 0; j < ny; ++j) {
      for (Index i = 0; i < nx; ++i) {
        if (number[place(i, j, k)] < 0) continue;
        number[place(i, j, k)] = count(mesh.vertices);
        mesh.vertices.emplace_back(size[0] * i / cells[0], size[1] * j / cells[1], size[2] * k / cells[2]);
      }
    }
  }
  mesh.tets.reserve(6 * filled);
  for_cells([&](Index i, Index j, Index k) {
    add_kuhn_cell(mesh, [&](Index a, Index b, Index c) { return number[place(i + a, j + b, k + c)]; });
  });
  return mesh;
}

}  // namespace signorini
