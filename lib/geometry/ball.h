#pragma once

#include "geometry/tet_mesh.h"

/// Balls from subdivided icosahedra.
namespace signorini {

/// Largest subdivision level: 163,842 surface vertices; beyond it the index arithmetic is still safe but
/// meshes are not useful.
inline constexpr int kMaxBallLevel = 7;

/// Icosahedron of this radius (level 0: 12 vertices, 20 faces), each level splits every face into four and pushes the
/// new vertices onto the sphere: 10·4^level + 2 vertices, 20·4^level faces. The vertices of a level are the
/// first ones of the next; face f of a level has the children 4f … 4f+3 of the next: corner at its vertex 0,
/// 1, 2, then the middle one.
TriangleMesh icosphere(int level, double radius = 1.0);

/// Solid ball of nested icosphere shells of levels `level` (surface) … 0 at radii radius·(l + 1)/(level + 1),
/// and a centre. Between shell l + 1 and shell l, the prism over each coarse face is cut into 7 tets: one at
/// each corner and an octahedron split into four along its shortest diagonal; 20 tets join shell 0 to the
/// centre.
///
///     vertices  Σ_{l ≤ level} (10·4^l + 2) + 1,    tets  20 + 140 Σ_{l < level} 4^l
///
/// Level 1: 55 vertices (42 on the surface), 160 tets. Level 2: 217 (162), 720. Surface vertices come first.
/// Throws `UsageError` for level outside [0, kMaxBallLevel] or radius ≤ 0.
TetMesh tet_ball(int level, double radius);

}  // namespace signorini
