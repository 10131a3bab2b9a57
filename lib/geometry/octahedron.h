#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Adds a tetrahedron, turned so that it is positive.
void add_positive(TetMesh& mesh, Tetrahedron tet);

/// Adds an octahedron with the opposite corners (axis[0][0], axis[0][1]), (axis[1]…), (axis[2]…): four tets
/// around its shortest diagonal; of nearly equal ones the first.
void add_octahedron(TetMesh& mesh, const std::array<std::array<Index, 2>, 3>& axis);

}  // namespace signorini
