#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Object of the pyramid of Verschoor and Jalba 2019: a plate of 12 × 12 × 1 cubic cells with three windows
/// (one of 4 × 8 cells, two of 2 × 10), each of its 72 cells cut into 6 Kuhn tets, with the counts of the
/// paper:
///
///     tets  432,   boundary triangles  528,   vertices  260,   genus 3
///
/// (260 from the dimension 109,200 = 140 · 260 · 3 of their matrix; the genus follows from the two counts.)
/// Quality 0.76 of all tets. The plate lies in the x–y plane, centred at the origin; `width` is its edge, m,
/// its thickness a twelfth of that. Throws `UsageError` for a width ≤ 0.
TetMesh pyramid_object(double width = 0.12);

}  // namespace signorini
