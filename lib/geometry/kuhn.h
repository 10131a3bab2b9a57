#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Adds the 6 Kuhn tets of one hexahedral cell: each walks from its corner (0, 0, 0) to (1, 1, 1) along the
/// three directions in one of the 6 orders; odd orders are flipped. `number(a, b, c)` is the vertex at the
/// corner (a, b, c), each 0 or 1, in a right-handed frame. The same cut in every cell of a grid fits across
/// all faces: each of them is cut along the diagonal from its lowest to its highest corner.
template <class Number>
void add_kuhn_cell(TetMesh& mesh, Number&& number) {
  constexpr std::array<std::array<std::size_t, 3>, 6> kOrders{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  for (std::size_t order = 0; order < kOrders.size(); ++order) {
    std::array<Index, 3> at{0, 0, 0};
    Tetrahedron tet{number(0, 0, 0), 0, 0, 0};
    for (std::size_t s = 0; s < 3; ++s) {
      ++at[kOrders[order][s]];
      tet[s + 1] = number(at[0], at[1], at[2]);
    }
    if (order >= 3) std::swap(tet[2], tet[3]);
    mesh.tets.push_back(tet);
  }
}

}  // namespace signorini
