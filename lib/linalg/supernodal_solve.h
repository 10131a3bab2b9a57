#pragma once

#include <cstddef>
#include <span>

#include "linalg/simd.h"
#include "linalg/types.h"

/// Solves with a supernodal Cholesky factor for many right-hand sides at once.
///
/// L (n×n, lower triangular) is kept in supernodes: consecutive columns [first_s, first_s+1) with the same rows below their
/// diagonal block, stored as one dense matrix of all their rows, column by column (the layout of CHOLMOD).
///
///     solve_lower   X := L⁻¹ X      per supernode: X_s := L_ss⁻¹ X_s, then X_r −= L_rs X_s for its other rows r
///     solve_upper   X := L⁻ᵀ X      backwards:     X_s −= L_rsᵀ X_r, then X_s := L_ss⁻ᵀ X_s
///
/// X (n×width) is stored row by row, and lanes run over right-hand sides. So every entry of X is computed by the same
/// operations in the same order on every instruction set, without fused multiply-add, whichever BLAS is installed: the bits
/// are those of CHOLMOD with the reference BLAS. Supernodes on which X is zero are skipped by `solve_lower`, and those that
/// nobody needs by `solve_upper`: contacts touch few nodes of a body.
///
/// `width` is a multiple of kSupernodalLanes; unused columns are zero. A NaN or infinity in X stays within its column.
/// Allocates nothing.
namespace signorini {

struct SupernodalFactor {
  Index n = 0;
  std::span<const Index> first;        ///< supernodes + 1: first column
  std::span<const Index> row_begin;    ///< supernodes + 1: offsets into `row`
  std::span<const Index> value_begin;  ///< supernodes + 1: offsets into `value`
  const Index* row = nullptr;          ///< ascending; the columns of the supernode come first
  const double* value = nullptr;
};

inline constexpr std::size_t kSupernodalLanes = 4;

void solve_lower(const SupernodalFactor& L, double* X, std::size_t width, Isa isa);
/// Only rows of supernodes with `needed` are meant to be read afterwards; empty: all are needed.
void solve_upper(const SupernodalFactor& L, double* X, std::size_t width, std::span<const char> needed,
                 Isa isa);
/// The supernode whose columns row `row` belongs to.
std::size_t supernode_of(const SupernodalFactor& L, Index row);
/// Adds to `needed` (a flag per supernode) what those with a flag depend on: their ancestors in the elimination tree.
void need_ancestors(const SupernodalFactor& L, std::span<char> needed);

/// So many right-hand sides with those that fill up the last lanes.
constexpr std::size_t supernodal_width(std::size_t columns) {
  return (columns + kSupernodalLanes - 1) / kSupernodalLanes * kSupernodalLanes;
}

}  // namespace signorini
