#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Laplacian smoothing: `sweeps` times every vertex moves half of the way to the mean of its neighbours, all at once.
/// Neighbours of a vertex of the boundary are those that a boundary edge joins it with; so the boundary is smoothed as a
/// surface of its own, its edges are rounded and thin parts shrink. Nothing keeps elements positive: to be used on meshes
/// of even spacing, and checked.
void laplacian_smooth(TetMesh& mesh, int sweeps);

}  // namespace signorini
