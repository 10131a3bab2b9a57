#pragma once

#include <string>

#include "linalg/types.h"
#include "record/raw_tree.h"

/// The compact forms of the matrices of a recording.
namespace signorini {

/// A square matrix (M: n×n, W: 3m×3m) is stored as the first form that
/// gives it back to the last bit, with its sparsity:
///   name/diagonal                                   (n): entries a_ii of a diagonal matrix
///   name/row_begin, name/column, name/upper_blocks  (n/3+1), (b), (b×9): 3×3 blocks of the upper triangle,
///                                                   row-major
///   name/row_begin, name/column, name/blocks        the same with all blocks, when the matrix is not exactly
///                                                   symmetric
///   name/indptr, name/indices, name/data            scalar CSR, when it has no full 3×3 blocks
void put_square(RawTree& tree, const std::string& name, const SparseRows& matrix);
SparseRows read_square(const RawReader& raw, const std::string& name, std::size_t n);

/// H (n×3m), by contact:
///   name/column_begin, name/row, name/blocks        (m+1), (b), (b×9)    block (row, contact), row-major
///   name/indptr, name/indices, name/data            scalar CSC, when it has no full 3×3 blocks
void put_contact_columns(RawTree& tree, const std::string& name, const SparseColumns& matrix);
SparseColumns read_contact_columns(const RawReader& raw, const std::string& name, std::size_t n,
                                   std::size_t contacts);

}  // namespace signorini
