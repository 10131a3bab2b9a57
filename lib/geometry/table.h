#pragma once

#include "geometry/tet_mesh.h"

/// Bodies that stand on feet, of cubic cells with 6 Kuhn tets each.
namespace signorini {

/// Table of Lazarevych et al. 2010 (Fig. 2), whose legs slide one after the other: a top of 10 × 6 × 1 cells
/// on four legs of 1 × 1 × 6 at its corners. 84 cells, 504 tets, 496 boundary triangles, 250 vertices. `cell`
/// is the edge of a cell, m; the origin is the middle of the box around it. Throws `UsageError` for a cell ≤
/// 0.
TetMesh table(double cell);

/// Block of 7 × 5 × 3 cells on `feet` feet of one cell's height for the slopes of Lazarevych et al. 2010: 1
/// (the middle 3 × 3 cells), 2 (two cells at both ends, across the whole block) or 4 (2 × 2 cells, one at
/// each corner). Between the feet nothing touches the ground. Same cell and origin. Throws `UsageError` for
/// another number of feet.
TetMesh footed_block(Index feet, double cell);

}  // namespace signorini
