#include "geometry/laplacian.h"

#include <algorithm>

namespace signorini {

namespace {

using Link = std::array<Index, 2>;  // from, to

void make_unique(std::vector<Link>& links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

/// From every vertex to its neighbours, ascending.
std::vector<Link> neighbours(const TetMesh& mesh) {
  std::vector<char> is_outer(mesh.vertices.size(), 0);
  std::vector<Link> links;
  for (const Triangle& t : boundary_triangles(mesh)) {
    for (std::size_t a = 0; a < 3; ++a) {
      is_outer[t[a]] = 1;
      links.push_back({t[a], t[(a + 1) % 3]});
      links.push_back({t[(a + 1) % 3], t[a]});
    }
  }
  for (const Tetrahedron& tet : mesh.tets) {
    for (const Index from : tet) {
      if (is_outer[from]) continue;
      for (const Index to : tet)
        if (to != from) links.push_back({from, to});
    }
  }
  make_unique(links);
  return links;
}

}  // namespace

void laplacian_smooth(TetMesh& mesh, int sweeps) {
  const std::vector<Link> links = neighbours(mesh);
  std::vector<Vector3> before;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    before = mesh.vertices;
    for (std::size_t begin = 0, end = 0; begin < links.size(); begin = end) {
      const Index vertex = links[begin][0];
      Vector3 sum = Vector3::Zero();
      for (end = begin; end < links.size() && links[end][0] == vertex; ++end) sum += before[links[end][1]];
      mesh.vertices[vertex] = 0.5 * (before[vertex] + sum / static_cast<double>(end - begin));
    }
  }
}

}  // namespace signorini
