#pragma once

#include "base/function_ref.h"
#include "base/rng.h"
#include "geometry/tet_mesh.h"

namespace signorini {

struct SmoothOptions {
  double step = 0.03;  ///< largest shift of a parameter per trial, along each axis
  int trials = 5;      ///< per vertex and sweep
  int sweeps = 1;
  double below = 1.0;  ///< vertices all of whose tetrahedra are of this quality or better stay
};

/// Betters a mesh by moving vertices one after the other: a random shift is kept when the sum of
/// `shape_penalty` (tet_flips.h) over the tetrahedra at the vertex falls, so the sum over the mesh falls with
/// every move and positive tetrahedra stay positive. Vertices move by parameters, so that they can stay on a
/// surface: `place(i, u)` first brings the parameter u of vertex i back to where it may be, then says where
/// the vertex is. `parameters` holds u for every vertex, consistent with `mesh` before and after.
void smooth(TetMesh& mesh, std::vector<Vector3>& parameters, FunctionRef<Vector3(Index, Vector3&)> place,
            const SmoothOptions& options, Rng& rng);

}  // namespace signorini
