#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Box [0, size] of cells[0] × cells[1] × cells[2] equal cells, each cut into the 6 Kuhn tets around its main
/// diagonal (conforming across cells). Vertex (i, j, k) has the number i + (c₀ + 1)(j + (c₁ + 1) k). Throws
/// `UsageError` for a cell count < 1 or a size ≤ 0.
TetMesh kuhn_block(const std::array<Index, 3>& cells, const Vector3& size);

}  // namespace signorini
