#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

/// Open box without a lid around the z axis, its floor at z = 0: size inside, triangles face the inside. 8
/// vertices, 10 triangles. Throws `UsageError` for a size ≤ 0.
TriangleMesh bin(const Vector3& size);

}  // namespace signorini
