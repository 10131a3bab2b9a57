#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Object of the pyramid of Verschoor and Jalba 2019: a square frame with three windows on four feet, 72 cells
/// of a grid of 12 × 10 × 3, each cut into 6 Kuhn tets, with the counts of the paper:
///
///     tets  432,   boundary triangles  528,   vertices  260,   genus 3
///
/// (260 from the dimension 109,200 = 140 · 260 · 3 of their matrix; the genus follows from the two counts, the
/// shape is ours.) The frame is the upper layer of cells: one window of 4 × 6 cells, two of 2 × 8. The feet
/// are the cells under its corners, two high. Where objects stand on the corners of four others, each foot
/// touches one cell. The box of the object is width × width × height, centred at the origin; smallest
/// quality 0.50 for the default. Throws `UsageError` for a size ≤ 0.
TetMesh pyramid_object(double width = 0.024, double height = 0.0144);

}  // namespace signorini
