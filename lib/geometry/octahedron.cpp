#include "geometry/octahedron.h"

#include <utility>

namespace signorini {

void add_positive(TetMesh& mesh, Tetrahedron tet) {
  if (tet_volume(mesh, tet) < 0.0) std::swap(tet[2], tet[3]);
  mesh.tets.push_back(tet);
}

void add_octahedron(TetMesh& mesh, const std::array<std::array<Index, 2>, 3>& axis) {
  // A later diagonal must be clearly shorter, so that rounding does not choose between equal ones.
  constexpr double kClearly = 1.0 - 1e-9;
  std::size_t best = 0;
  double shortest = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double length = (mesh.vertices[axis[i][0]] - mesh.vertices[axis[i][1]]).norm();
    if (i == 0 || length < kClearly * shortest) {
      best = i;
      shortest = length;
    }
  }
  const auto& [top, bottom] = axis[best];
  const auto& p = axis[(best + 1) % 3];
  const auto& q = axis[(best + 2) % 3];
  const std::array<Index, 4> ring{p[0], q[0], p[1], q[1]};
  for (std::size_t i = 0; i < 4; ++i) add_positive(mesh, {top, bottom, ring[i], ring[(i + 1) % 4]});
}

}  // namespace signorini
