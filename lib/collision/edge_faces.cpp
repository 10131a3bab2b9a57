#include "collision/edge_faces.h"

#include <algorithm>

namespace signorini {

std::vector<std::array<Index, 2>> faces_of_edges(const SurfaceModel& surface) {
  std::vector<std::array<Index, 2>> faces_of(surface.edges.size(), {-1, -1});
  // Edges of a body are in ascending order, so a face finds its edges by bisection.
  for (Index f = 0; f < count(surface.triangles); ++f) {
    const Index body = surface.triangle_body[f];
    const auto first = surface.edges.begin() + (body > 0 ? surface.bodies[body - 1].edges : 0);
    const auto last = surface.edges.begin() + surface.bodies[body].edges;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(surface.triangles[f][i], surface.triangles[f][(i + 1) % 3]);
      const auto edge = std::lower_bound(first, last, Edge{low, high});
      if (edge == last || *edge != Edge{low, high}) continue;
      auto& faces = faces_of[edge - surface.edges.begin()];
      (faces[0] < 0 ? faces[0] : faces[1]) = f;
    }
  }
  return faces_of;
}

}  // namespace signorini
