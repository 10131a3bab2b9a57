#pragma once

#include <string>

#include "linalg/types.h"
#include "record/raw_tree.h"

/// Sparse matrices as numpy and scipy hold them.
///
/// Reading accepts unsorted entries, keeps explicit zeros of sparse forms, and sums duplicates in the order of the file.
/// Indices out of range, pointers that run backwards and lengths that do not match are errors.
namespace signorini {

/// A matrix `name` of the given size as numpy and scipy hold it, in one of three forms; the names are joined by "_":
///   name                              (rows×columns): dense; entries that are zero are left out
///   name_diagonal                     (rows): all of them are kept; square matrices only
///   name_data, name_indices, name_indptr   scipy's CSR, or its CSC when the text name_format says "csc";
///                                     name_shape may be there and must then agree
SparseRows read_numpy_rows(const RawReader& raw, const std::string& name, std::size_t rows,
                           std::size_t columns);
SparseColumns read_numpy_columns(const RawReader& raw, const std::string& name, std::size_t rows,
                                 std::size_t columns);
/// Scipy's CSR.
void put_numpy_matrix(RawTree& tree, const std::string& name, const SparseRows& matrix);

}  // namespace signorini
