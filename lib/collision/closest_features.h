#pragma once

#include <array>

#include "linalg/types.h"

/// Closest points of a vertex and a face, of two edges, in the relative coordinates of a pair: exact up to a
/// few roundings of the coordinates whatever the shape, slivers, near-parallel edges and features without
/// length included (geometry/point_triangle.h has its weights from areas, which a sliver does not determine).
namespace signorini {

/// A pair seen from its own reference vertex. Vertex–face (p; t_0, t_1, t_2): q = p − t_0, u = t_1 − t_0,
/// v = t_2 − t_0. Edge–edge (a_0, a_1; b_0, b_1): q = a_0 − b_0, u = a_1 − a_0, v = b_1 − b_0. Either way the
/// four points are coplanar where q · (u × v) = 0.
struct RelativePair {
  Vector3 q, u, v;  ///< m
};

struct ClosestFeatures {
  std::array<double, 4> weight{};  ///< signed, as in SurfaceContact; a convex combination on each side
  Vector3 apart;                   ///< from the closest point of b to the one of a, m
  double distance = 0.0;           ///< its length
};

/// The distance is at most 16 · 2⁻⁵² (‖q‖ + ‖u‖ + ‖v‖) off, and never less than that of the returned weights.
ClosestFeatures closest_vertex_face(const RelativePair& pair);
ClosestFeatures closest_edges(const RelativePair& pair);

}  // namespace signorini
