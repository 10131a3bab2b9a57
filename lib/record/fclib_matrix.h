#pragma once

#include <string>

#include "contact/contact_problem.h"
#include "linalg/types.h"
#include "record/raw_tree.h"

/// Sparse matrices of FCLib's files.
///
/// Reading accepts unsorted entries, keeps explicit zeros, and sums duplicates in the order of the file.
/// Indices out of range, pointers that run backwards and lengths that do not match are errors.
namespace signorini {

/// FCLib's matrix group `name` (nz ≥ 0: triplets with p = columns and i = rows; −1: CSC; −2: CSR) of the
/// given size.
SparseRows read_fclib_rows(const RawReader& raw, const std::string& name, std::size_t rows,
                           std::size_t columns);
SparseColumns read_fclib_columns(const RawReader& raw, const std::string& name, std::size_t rows,
                                 std::size_t columns);
/// Triplets in row order: all of them, or those of one triangle and the diagonal.
void put_fclib_matrix(RawTree& tree, const std::string& name, const SparseRows& matrix,
                      StoredTriangle stored = StoredTriangle::both);

}  // namespace signorini
