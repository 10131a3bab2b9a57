#pragma once

#include <span>
#include <vector>

#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"

/// Which contacts act on each other: the graph that orders of sweeps and subdomains of one island are made from.
namespace signorini {

/// Compressed lists, symmetric, without the contact itself.
struct ContactNeighbours {
  std::vector<Index> begin;      ///< contacts + 1 offsets into `neighbour`
  std::vector<Index> neighbour;  ///< ascending within a contact

  Index contacts() const { return begin.empty() ? 0 : count(begin) - 1; }
  std::span<const Index> of(Index k) const {
    const std::size_t first = begin[k], end = begin[k + 1];
    return std::span<const Index>(neighbour).subspan(first, end - first);
  }
};

/// k and l are neighbours where W stores a block (k, l) or (l, k): W of a file need not have a symmetric pattern.
///
/// `strength` s > 0 leaves weak links out: those with ‖W_kl‖ and ‖W_lk‖ at most s √(‖W_kk‖ ‖W_ll‖) (Frobenius norms). W of an
/// elastic body couples all of its contacts, most of them weakly.
ContactNeighbours neighbours_by_delassus(const BlockSparseMatrix& W, double strength = 0.0);
/// k and l are neighbours where their rows of J have a block in the same column: a mass point or rigid body that both touch.
ContactNeighbours neighbours_by_slots(const BlockSparseMatrix& J);

/// A colour for every vertex, no two neighbours of one colour: the smallest that no neighbour with a smaller number has. No
/// more than 1 + (most neighbours of a vertex) colours.
std::vector<Index> first_fit_colours(const ContactNeighbours& graph);

}  // namespace signorini
