#include "geometry/small_cube.h"

#include <cmath>

#include "base/check.h"
#include "geometry/tet_flips.h"

namespace signorini {

namespace {

/// Corners of the 3 × 3 × 3 grid, each coordinate 0, 1 or 2.
Index number(const std::array<Index, 3>& at) { return at[0] + 3 * (at[1] + 3 * at[2]); }
constexpr Index kCentre = 13;

/// The square between `low` and the grid point one up along both axes of a face; `flipped` where the two axes
/// and the outward normal are a left-handed frame.
void add_square(TetMesh& mesh, const std::array<Index, 3>& low, std::size_t u, std::size_t v, bool flipped) {
  const auto at = [&](Index a, Index b) {
    std::array<Index, 3> p = low;
    p[u] += a;
    p[v] += b;
    return number(p);
  };
  // The cube's corner is at (0, 0) or (1, 1) of squares on the main diagonal of the face.
  const bool corner_on_main = (low[u] + low[v]) % 2 == 0;
  const auto add = [&](Index a, Index b, Index c) {
    mesh.tets.push_back(flipped ? Tetrahedron{kCentre, a, c, b} : Tetrahedron{kCentre, a, b, c});
  };
  if (corner_on_main) {
    add(at(0, 0), at(1, 0), at(0, 1));
    add(at(1, 0), at(1, 1), at(0, 1));
  } else {
    add(at(0, 0), at(1, 0), at(1, 1));
    add(at(0, 0), at(1, 1), at(0, 1));
  }
}

}  // namespace

TetMesh small_cube(double edge) {
  if (!(edge > 0.0) || !std::isfinite(edge)) throw_usage("cube: edge {} m is not positive", edge);
  TetMesh mesh;
  for (Index n = 0; n < 27; ++n)
    mesh.vertices.push_back(0.5 * edge * Vector3(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;  // u × v = axis
    for (const Index side : {0, 2}) {
      for (Index square = 0; square < 4; ++square) {
        std::array<Index, 3> low{};
        low[axis] = side;
        low[u] = square % 2;
        low[v] = square / 2;
        add_square(mesh, low, u, v, side == 0);
      }
    }
  }
  for (const auto& corner : {std::array<Index, 3>{0, 0, 0}, {2, 2, 0}, {2, 0, 2}, {0, 2, 2}})
    flip_edge(mesh, number(corner), kCentre);
  return mesh;
}

}  // namespace signorini
