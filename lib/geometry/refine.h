#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Every tetrahedron cut into eight through the middles of its edges: one at each corner, and the octahedron
/// in between into four around its shortest diagonal (Bey 1995 chooses by number). Eight times the tets, four
/// times the boundary triangles, one more vertex per edge; the old vertices keep their numbers, the new ones
/// follow in the order of (lower end, upper end). The shape stays as it is. Throws `UsageError` when the
/// result would have more than 10⁸ tets.
TetMesh refined(const TetMesh& mesh);

}  // namespace signorini
