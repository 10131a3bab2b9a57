#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"

/// Symmetric sparse matrices of 3×3 blocks, stored once where that lets threads work apart.
///
/// Block rows are cut into chunks of `chunk_rows`. Of the couplings inside a chunk only the blocks A_ij with
/// j ≥ i are kept, and one read of a block serves both rows; couplings that leave the chunk are kept on both
/// sides:
///
///     y_i += A_ij x_j,   y_j += A_ijᵀ x_i   for j > i in the chunk of i;     y_i += A_ij x_j   elsewhere
///
/// So a chunk writes its own rows only: chunks are independent, and no bit depends on which thread takes
/// them. A single chunk is the upper triangle: half the memory and, from memory, almost half the time of a
/// product.
namespace signorini {

struct SymmetricBlockMatrix {
  Index block_rows = 0;
  Index chunk_rows = 1;              ///< ≥ 1
  std::vector<Index> row_begin;      ///< block_rows + 1
  std::vector<Index> outside_begin;  ///< block_rows: where the blocks that leave the chunk begin
  std::vector<Index> column;         ///< of a row: ascending in [i, end of chunk), then ascending outside
  std::vector<double> values;  ///< 9 per block (column-major) + kPadding zeros; diagonal blocks are whole

  static constexpr std::size_t kPadding = BlockSparseMatrix::kPadding;
  Index blocks() const { return count(column); }
  Index chunks() const { return (block_rows + chunk_rows - 1) / chunk_rows; }
  Index chunk_begin(Index chunk) const { return chunk * chunk_rows; }
  Index chunk_end(Index chunk) const { return std::min(block_rows, (chunk + 1) * chunk_rows); }
};

/// Whether A is symmetric to rounding: entry by entry |A_ij − A_jiᵀ| ≤ 8 ε max(|A_ij|, √(|A_ii| |A_jj|)) with
/// |·| the largest entry of a block, as sums of a few terms leave it that cancel in different orders.
bool is_symmetric(const BlockSparseMatrix& A, TaskArena* arena = nullptr);

/// `A`, which must be square, in chunks of `chunk_rows` ≥ 1 block rows. Nothing where a coupling inside a
/// chunk is not symmetric to rounding; the lower of two blocks that are is dropped.
std::optional<SymmetricBlockMatrix> fold_symmetric(const BlockSparseMatrix& A, Index chunk_rows,
                                                   TaskArena* arena = nullptr);

/// y = A x, sizes 3·block_rows; allocates nothing. x and y must not overlap.
void multiply(const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y);
/// The rows of one chunk of the same: the same bits, and nothing else of y is touched.
void multiply_chunk(const SymmetricBlockMatrix& A, Index chunk, std::span<const double> x,
                    std::span<double> y);
/// The same with the kernel of one level, which must not be above `best_isa()`; for tests and benchmarks.
void multiply(Isa level, const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y);

}  // namespace signorini
