#pragma once

#include <span>

#include "linalg/block_sparse_matrix.h"

/// What a factor of a sparse matrix costs, from its pattern alone.
namespace signorini {

/// Products of blocks in an LU factor, without pivoting and by minimum degree, of the rows and columns `kept` of A: Σ_j c_j²
/// over the columns j of L, c_j the blocks below the diagonal. The pattern taken is that of the lower triangle of A, which
/// for W is the whole of it. `kept`: ascending.
double factor_products(const BlockSparseMatrix& A, std::span<const Index> kept);

/// The same of all rows of a symmetric pattern with an entry for every block; both triangles are stored, and values mean nothing.
double factor_products(const SparseColumns& pattern);

}  // namespace signorini
