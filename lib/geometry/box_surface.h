#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

/// Closed surface of the box [−size/2, size/2], outward; every face a grid of cells cut into two triangles
/// along the diagonal whose ends have an even sum of grid indices (so that diagonals alternate).
///
///     triangles  4 (c_0 c_1 + c_1 c_2 + c_2 c_0),   vertices  triangles/2 + 2
///
/// Throws `UsageError` for a size ≤ 0 or cells outside [1, 10,000].
TriangleMesh box_surface(const Vector3& size, const std::array<Index, 3>& cells = {1, 1, 1});

}  // namespace signorini
