#pragma once

#include "geometry/tet_mesh.h"

/// Changes of a few tetrahedra that keep the vertices and the boundary.
namespace signorini {

/// What `flip_faces` and `smooth` keep small when summed over the tetrahedra: q⁻⁴ of the quality q (see
/// `tet_quality`), so that the worst elements count most; infinite for q ≤ 0.
double shape_penalty(double quality);

/// 2–3 flips: two tetrahedra that share a face become three around the edge between their apexes; + 1
/// tetrahedron each. Done `flips` times, every time where the sum of `shape_penalty` grows least, of equal
/// ones at the first face in the order of vertex numbers. All tetrahedra stay positive. Throws `UsageError`
/// when no face is left that can be flipped.
void flip_faces(TetMesh& mesh, Index flips);

/// 3–2 flip: the edge between vertices i and j, with exactly three tetrahedra around it, gives way to the
/// triangle of the three others; − 1 tetrahedron. Throws `UsageError` when the edge has not just three
/// tetrahedra around it, or one of the new ones would not be positive.
void flip_edge(TetMesh& mesh, Index i, Index j);

}  // namespace signorini
