#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Stand-in for the Armadillo of Verschoor and Jalba 2019: trunk, head with snout and two ears, two arms, two legs and
/// a tail, with the counts of the paper:
///
///     tets  385,739,   boundary triangles  20,978,   vertices  69,722
///
/// Ten boxes of a lattice, glued face to face, with n = 44,168 cells and s = 10,488 outer squares, 6 Kuhn tets a cell.
/// The paper's mesh has few triangles for its tetrahedra, as few as a box of one spacing: so the k = 20,121 deepest cells
/// get a vertex in their middle, on the diagonal that their six tets share, which makes 12 of them. One boundary edge and
/// one tet are split besides (geometry/local_splits.h):
///
///     tets  6 (n + k) + 2 + 3,   triangles  2 s + 2,   vertices  n + s/2 + b + 1 + k + 1 + 1
///
/// with b = 186, the sum of the edges of the trunk and the lengths of the limbs (a limb shares a face with what it grows
/// from, and Steiner's formula for boxes is additive). The boxes become limbs by a map that narrows, stretches and
/// bends them along their lengths (the tail along an arc), then by a few sweeps of Laplacian smoothing; `smooth` mends the worst elements.
/// Smallest quality 0.23, mean 0.70. `height` is its size along z, feet to ears, m, centred; +x is where the snout
/// points, y the direction of the arms.
///
/// `refinement` = 1 is the full mesh; a coarser one for small runs has the same boxes on a lattice that is as many times
/// coarser, without the cells' middles and the splits. Throws `UsageError` for a height ≤ 0 and a refinement
/// outside (0, 1].
TetMesh armadillo(double height = 0.4, double refinement = 1.0);

}  // namespace signorini
