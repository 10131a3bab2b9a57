#include "geometry/refine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "geometry/octahedron.h"

namespace signorini {

TetMesh refined(const TetMesh& mesh) {
  constexpr std::size_t kMost = 100'000'000;
  if (mesh.tets.size() > kMost / 8)
    throw_usage("refine: 8 · {} tets are more than {}", mesh.tets.size(), kMost);
  using Edge = std::pair<Index, Index>;
  std::vector<Edge> edges;
  edges.reserve(6 * mesh.tets.size());
  for (const Tetrahedron& tet : mesh.tets) {
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) edges.push_back(std::minmax(tet[a], tet[b]));
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  TetMesh fine{mesh.vertices, {}};
  for (const auto& [i, j] : edges) {
    fine.vertices.push_back(0.5 * (mesh.vertices[i] + mesh.vertices[j]));
  }
  const auto middle = [&](Index i, Index j) {
    const Edge edge = std::minmax(i, j);
    return count(mesh.vertices) +
           static_cast<Index>(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin());
  };
  fine.tets.reserve(8 * mesh.tets.size());
  for (const auto& [a, b, c, d] : mesh.tets) {
    const Index ab = middle(a, b), ac = middle(a, c), ad = middle(a, d);
    const Index bc = middle(b, c), bd = middle(b, d), cd = middle(c, d);
    fine.tets.push_back({a, ab, ac, ad});
    fine.tets.push_back({ab, b, bc, bd});
    fine.tets.push_back({ac, bc, c, cd});
    fine.tets.push_back({ad, bd, cd, d});
    add_octahedron(fine, {{{ab, cd}, {ac, bd}, {ad, bc}}});
  }
  return fine;
}

}  // namespace signorini
