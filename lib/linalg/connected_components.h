#pragma once

#include <vector>

#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"

/// Connected components of the graph of a square sparse matrix.
///
/// Nodes are groups of `node_size` consecutive rows; i and j are joined when block (i, j) or (j, i) holds an
/// entry ≠ 0. Stored zeros join nothing. The label of a component is the rank of its smallest node, so it
/// depends on nothing else.
namespace signorini {

struct Components {
  std::vector<Index> label;  ///< one per node
  Index count = 0;
};

/// `node_size` ≥ 1 must divide the size of the matrix.
Components connected_components(const SparseRows& matrix, Index node_size);
/// One node per block row.
Components connected_components(const BlockSparseMatrix& matrix);

}  // namespace signorini
