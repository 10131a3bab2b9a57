#pragma once

#include "base/function_ref.h"
#include "geometry/tet_mesh.h"

namespace signorini {

/// Body of the filled cells of a grid of cells[0] × cells[1] × cells[2] equal cells that spans [0, size],
/// each cut into 6 Kuhn tets (conforming across cells). Only the vertices of filled cells exist; they are
/// numbered in the order of the grid, x first, then y, then z. With m filled cells that share s faces:
///
///     tets  6 m,   boundary triangles  12 m − 4 s
///
/// Cells that meet at an edge or a corner only make a boundary that is no manifold; nothing checks that here.
/// Throws `UsageError` "<what>: …" for a cell count < 1, more than 10⁸ grid cells, a size ≤ 0, and no filled
/// cell.
TetMesh kuhn_voxels(const std::array<Index, 3>& cells, const Vector3& size,
                    FunctionRef<bool(Index, Index, Index)> is_filled, const char* what);

}  // namespace signorini
