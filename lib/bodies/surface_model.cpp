#include "bodies/surface_model.h"

#include <algorithm>

#include "base/check.h"

namespace signorini {

namespace {

/// Every edge of `triangles` and every extra edge once, smaller vertex first, ascending.
std::vector<Edge> unique_edges(const std::vector<Triangle>& triangles, const std::vector<Edge>& extra) {
  std::vector<Edge> edges;
  edges.reserve(3 * triangles.size() + extra.size());
  const auto take = [&edges](Index i, Index j) { edges.push_back({std::min(i, j), std::max(i, j)}); };
  for (const Triangle& t : triangles) {
    take(t[0], t[1]);
    take(t[1], t[2]);
    take(t[2], t[0]);
  }
  for (const Edge& edge : extra) take(edge[0], edge[1]);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

Index append_surface(SurfaceModel& model, Index vertices, const std::vector<Triangle>& triangles,
                     const std::vector<Edge>& extra_edges, bool movable, bool deformable) {
  const Index body = count(model.bodies);
  const Index shift = model.vertices();
  const auto inside = [vertices](Index vertex) { return vertex >= 0 && vertex < vertices; };
  for (const Triangle& t : triangles) {
    SIGNORINI_CHECK(inside(t[0]) && inside(t[1]) && inside(t[2]));
    model.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  }
  for (const Edge& edge : unique_edges(triangles, extra_edges)) {
    SIGNORINI_CHECK(inside(edge[0]) && inside(edge[1]) && edge[0] != edge[1]);
    model.edges.push_back({edge[0] + shift, edge[1] + shift});
  }
  model.vertex_body.insert(model.vertex_body.end(), vertices, body);
  model.triangle_body.resize(model.triangles.size(), body);
  model.edge_body.resize(model.edges.size(), body);

  TriangleMesh topology;
  topology.vertices.resize(vertices);
  topology.triangles = triangles;
  SurfaceModel::Body ends;
  ends.vertices = model.vertices();
  ends.triangles = count(model.triangles);
  ends.edges = count(model.edges);
  ends.movable = movable;
  ends.deformable = deformable;
  ends.closed = !triangles.empty() && is_closed_and_oriented(topology);
  model.bodies.push_back(ends);
  return body;
}

}  // namespace signorini
