#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

/// Open rectangle [−width/2, width/2] × [−depth/2, depth/2] at z = 0 facing +z, columns × rows cells of two
/// triangles with alternating diagonals: (columns + 1)(rows + 1) vertices, 2 columns rows triangles. Throws
/// `UsageError` for sizes ≤ 0 or cells outside [1, 10,000].
TriangleMesh plate(double width, double depth, Index columns = 1, Index rows = 1);

}  // namespace signorini
