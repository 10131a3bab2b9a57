#pragma once

#include "linalg/types.h"

/// How far a square matrix is from a symmetric one, whatever the units of its rows:
///
///     max_ij |A_ij − A_ji| / √(|A_ii A_jj|)          (max |A| in the place of a root that vanishes)
///
/// 0 for a matrix that is symmetric to the last bit. The scale of each entry is its own: a penalty of 1e13 on one
/// diagonal entry does not hide that a triangle is missing elsewhere.
namespace signorini {

/// Up to here a matrix counts as symmetric: a full matrix of sums of element matrices in another order differs by a few
/// roundings (1e-16), one that was written with 13 digits by 1e-13.
inline constexpr double kSymmetric = 1e-12;

/// `A` is square, compressed and sorted; a missing entry is 0.
double asymmetry(const SparseRows& A);

}  // namespace signorini
