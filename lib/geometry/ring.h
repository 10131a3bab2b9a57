#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

struct RingShape {
  double radius = 0.05;     ///< of the centre line, m
  double thickness = 0.02;  ///< side of the square section, m
  Index segments = 18;      ///< around, ≥ 3
  Index cells = 1;          ///< across the section, in both directions
};

/// Solid ring around the z axis, centred at the origin: a torus of straight segments with square section,
/// each of its segments · cells² hexahedra cut into 6 Kuhn tets that fit their neighbours all the way round.
/// Vertex (radial i, around j, axial k) has the number i + (cells + 1)(k + (cells + 1) j).
///
///     vertices  segments (cells + 1)²,   tets  6 segments cells²,   boundary triangles  8 segments cells
///
/// The default has the counts of the rings of Verschoor and Jalba 2019 (108 tets, 144 faces; 72 vertices from
/// the dimension of their matrix). Throws `UsageError` for sizes ≤ 0, a section that reaches the axis, fewer
/// than 3 segments, or counts above 10,000.
TetMesh ring(const RingShape& shape);

}  // namespace signorini
