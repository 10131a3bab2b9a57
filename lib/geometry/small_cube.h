#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Cube of Verschoor and Jalba 2019 (2,000 of them have 88,000 tets):
///
///     tets  44,   boundary triangles  48,   vertices  27 (one inside)
///
/// Every face is a 2 × 2 grid whose squares are cut along the diagonal that avoids the cube's corner, and
/// joined to the centre (48 tets); then at four alternating corners the edge from the corner to the centre
/// gives way by a 3–2 flip. Smallest quality 0.69, mean 0.81. Centred at the origin; `edge` in m. Throws
/// `UsageError` for an edge ≤ 0.
TetMesh small_cube(double edge = 0.05);

}  // namespace signorini
