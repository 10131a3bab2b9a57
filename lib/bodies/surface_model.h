#pragma once

#include <array>
#include <vector>

#include "geometry/triangle_mesh.h"

/// The surfaces of all bodies as one mesh: what collision sees. Topology only; positions travel apart, one
/// Vector3 per vertex.
///
/// Bodies own consecutive vertices, triangles and edges. A body without triangles (a string of springs) has
/// edges and vertices only. Kinematic bodies (static obstacles among them) are bodies like all others here,
/// with `movable` false.
namespace signorini {

using Edge = std::array<Index, 2>;  ///< vertex numbers, smaller first

struct SurfaceModel {
  struct Body {
    Index vertices = 0, triangles = 0,
          edges = 0;         ///< ends of its ranges; the previous body's ends are the beginnings
    bool movable = true;     ///< has dofs
    bool deformable = true;  ///< can touch itself
    bool closed = true;      ///< the surface encloses a volume; its triangles face outward
  };
  std::vector<Triangle> triangles;  ///< on vertex numbers, counter-clockwise seen from outside
  std::vector<Edge> edges;          ///< every edge once
  std::vector<Index> vertex_body, triangle_body, edge_body;  ///< ascending
  std::vector<Body> bodies;

  Index vertices() const { return count(vertex_body); }
};

/// Appends a body with the surface `triangles` on its own vertex numbers 0 … vertices − 1; `extra_edges` are
/// edges that no triangle has. Edges are derived, sorted, without duplicates. Returns the number of the body.
Index append_surface(SurfaceModel& model, Index vertices, const std::vector<Triangle>& triangles,
                     const std::vector<Edge>& extra_edges, bool movable, bool deformable);

}  // namespace signorini
