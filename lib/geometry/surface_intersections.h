#pragma once

#include <array>
#include <optional>

#include "geometry/triangle_mesh.h"

namespace signorini {

/// Two triangles of a surface that cross: an edge of one passes through the inside of the other. Neighbours
/// at an edge are not compared, neighbours at a vertex by their opposite edges only; triangles that merely
/// touch or lie in one plane do not cross. The pair with the lowest numbers, or none. Sweeps along the
/// longest axis of the surface: for n triangles of about equal size some n^{3/2} box tests.
std::optional<std::array<Index, 2>> first_self_intersection(const TriangleMesh& mesh);

}  // namespace signorini
