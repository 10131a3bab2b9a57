#pragma once

#include <string_view>

#include "geometry/tet_mesh.h"

/// Volumes from closed surfaces by TetGen (Si 2015), when it was built in (CMake option SIGNORINI_TETGEN;
/// TetGen is under the AGPL, and so is then the program as a whole).
namespace signorini {

struct TetrahedraliseOptions {
  double largest_volume = 0.0;  ///< of a tetrahedron, m³; some come out up to twice as large; 0: no bound
  /// Bounds on the circumradius over the shortest edge and on the smallest dihedral angle, degrees. They are
  /// aims: where the surface stands against them they are missed.
  double radius_edge = 1.6;
  double dihedral = 10.0;
};

/// True when TetGen was built in.
bool can_tetrahedralise();

/// Fills a closed, outward oriented surface. The surface stays as it is: its vertices keep their numbers, its
/// triangles are the boundary of the result, and new vertices lie inside. TetGen works in a child process,
/// since version 1.5.0 crashes on what it cannot mesh. The same surface gives the same bits.
///
/// Throws `UsageError` "<context>: …" for a surface that is not closed and oriented, inside out, crosses
/// itself or has cavities, for options that make no sense, when TetGen gives up, and without TetGen.
TetMesh tetrahedralise(const TriangleMesh& surface, const TetrahedraliseOptions& options,
                       std::string_view context);

}  // namespace signorini
