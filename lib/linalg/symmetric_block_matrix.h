#pragma once

#include <span>
#include <vector>

#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"

/// Symmetric sparse matrices of 3×3 blocks, of which only block columns j ≥ i are stored: half the memory
/// and, from memory, almost half the time of a product.
///
///     y_i += A_ij x_j,   y_j += A_ijᵀ x_i   for j > i
namespace signorini {

struct SymmetricBlockMatrix {
  Index block_rows = 0;
  std::vector<Index> row_begin;  ///< block_rows + 1
  std::vector<Index> column;     ///< ascending in a row, ≥ the row
  std::vector<double> values;    ///< 9 per block (column-major) + kPadding zeros; diagonal blocks are whole

  static constexpr std::size_t kPadding = BlockSparseMatrix::kPadding;
  Index blocks() const { return static_cast<Index>(column.size()); }
  const double* block(Index b) const { return values.data() + 9 * static_cast<std::size_t>(b); }
  double* block(Index b) { return values.data() + 9 * static_cast<std::size_t>(b); }
};

/// The upper triangle of blocks of `A`, which must be square; what is below is not looked at.
SymmetricBlockMatrix upper_blocks(const BlockSparseMatrix& A);
/// Both triangles.
BlockSparseMatrix full_blocks(const SymmetricBlockMatrix& A);

/// y = A x, sizes 3·block_rows; allocates nothing. x and y must not overlap.
void multiply(const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y);
/// The same with the kernel of one level, which must not be above `best_isa()`; for tests and benchmarks.
void multiply(Isa level, const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y);

}  // namespace signorini
