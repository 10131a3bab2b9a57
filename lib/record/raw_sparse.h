#pragma once

#include <span>
#include <string>

#include "contact/contact_problem.h"
#include "record/raw_tree.h"

/// Sparse matrices from unchecked arrays, and back.
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

/// Which side of the diagonal has entries; `both` also where none has.
StoredTriangle stored_triangle(const SparseRows& matrix);
/// A matrix of which one triangle is stored, filled up to a symmetric one; `both`: returned as it is.
SparseRows complete_triangle(SparseRows matrix, StoredTriangle stored);
/// The entries of one triangle and the diagonal; `both`: a copy.
SparseRows triangle_of(const SparseRows& matrix, StoredTriangle stored);
/// Triplets in row order: all of them, or those of one triangle and the diagonal.
void put_fclib_matrix(RawTree& tree, const std::string& name, const SparseRows& matrix,
                      StoredTriangle stored = StoredTriangle::both);

/// The compact forms of a recording. A square matrix (M: n×n, W: 3m×3m) is stored as the first form that
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
