#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Stand-in for the Armadillo of Verschoor and Jalba 2019: a long body of five parts (feet, hips, chest,
/// arms, head) with the counts of the paper:
///
///     tets  385,739,   boundary triangles  20,978,   vertices  69,722
///
/// A Kuhn grid of 28 × 31 × 74 cells (385,392 tets, 20,936 boundary triangles) whose square sections are
/// rounded and follow five bumps along z, then 21 boundary edges (+ 2 tets, + 2 triangles), 2 interior edges
/// (+ 4) and 99 tets (+ 3) split. Smallest quality 0.2, mean 0.7. `height` is the length of its axis along z,
/// m, centred at the origin.
///
/// `refinement` = 1 is the full mesh; a coarser one for small runs has max(2, ⌊n refinement⌋) cells instead
/// of n along each axis and no splits. Throws `UsageError` for a height ≤ 0 and a refinement outside (0, 1].
TetMesh armadillo(double height = 0.4, double refinement = 1.0);

}  // namespace signorini
