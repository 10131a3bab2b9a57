#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "geometry/tet_mesh.h"

/// A surface carried by a tetrahedral cage (Otaduy et al. 2009, letters): vertex = Σ w_k x_k over the corners
/// of one tet.
namespace signorini {

struct Embedding {
  std::vector<std::array<Index, 4>> nodes;     ///< cage vertices, one row per surface vertex
  std::vector<std::array<double, 4>> weights;  ///< sum 1; may be slightly negative for vertices just outside
};

/// Binds every vertex to the tet that contains it, or else to the nearest one (extrapolating); ties: the
/// lowest tet number. Throws `UsageError` when a vertex is farther outside the cage than half a mean edge.
Embedding embed(const TriangleMesh& surface, const TetMesh& cage, std::string_view context);

}  // namespace signorini
