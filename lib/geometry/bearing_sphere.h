#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Sphere of the bearing of Verschoor and Jalba 2019, with their counts:
///
///     tets  12,851,   boundary triangles  5,120,   vertices  3,654 (2,562 of them on the boundary)
///
/// `tet_ball` of level 4 (11,920 tets) with the middles of 232 edges that four tets share, spread over the
/// ball (most are diagonals of its octahedra, + 4 tets each), and the centre of one tet (+ 3). The surface
/// vertices come first and lie on the sphere. Smallest quality 0.46, mean 0.60. Throws `UsageError` for a
/// radius ≤ 0.
TetMesh bearing_sphere(double radius);

}  // namespace signorini
