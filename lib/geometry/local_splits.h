#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// How often a mesh is split, by kind. Each adds one vertex and
struct LocalSplits {
  Index boundary_edges =
      0;  ///< 2 tetrahedra, 2 boundary triangles: midpoint of a boundary edge of two tetrahedra
  Index interior_edges = 0;  ///< 4 tetrahedra: midpoint of an edge with a closed ring of four tetrahedra
  Index centres = 0;         ///< 3 tetrahedra: centre of one
};

/// Brings a mesh to stated counts by splits spread over it, in the order above. An element is cut at most
/// once. A place is taken when the new tetrahedra have at least the quality that is asked for, which starts
/// at 0.7 and falls by a fifth each time the mesh has been gone through; so the splits lie where they cost
/// little. Old vertices keep their numbers; in a boundary edge of a curved body the new vertex lies on the
/// chord. Throws `UsageError` for negative numbers, and when places for splits run out.
void split_locally(TetMesh& mesh, const LocalSplits& splits);

}  // namespace signorini
