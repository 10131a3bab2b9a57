#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Delaunay tetrahedra of a few thousand points (Bowyer 1981, Watson 1981): no point lies inside the sphere
/// around another's tetrahedron, and together they fill the convex hull. Orientation and sphere tests are
/// exact: points are first rounded to a grid of 2⁻²⁰ of the largest extent, where both determinants fit
/// 128-bit integers. The vertices of the result are the rounded points, in their order; its tetrahedra are
/// all positive, sorted by their numbers. Every insertion tests every tetrahedron: the time is quadratic.
///
/// Throws `UsageError` for fewer than 4 points, more than 10,000, numbers that are not finite, two points
/// that round to the same place, and first four points in one plane.
TetMesh delaunay(const std::vector<Vector3>& points);

}  // namespace signorini
