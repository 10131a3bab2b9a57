#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/simd.h"
#include "linalg/types.h"

/// Sparse matrices of 3×3 blocks.
///
/// Compressed block rows: row i holds blocks row_begin[i] … row_begin[i+1]−1 with ascending block columns. A
/// block is nine consecutive doubles, column-major, 72 bytes; the value array ends in padding so that kernels
/// may load whole registers. Kernels use AVX2 and FMA where the processor has them (linalg/simd.h) and plain
/// C++ elsewhere; the bits of a product depend on the instruction set, never on the number of threads.
namespace signorini {

struct BlockSparseMatrix {
  Index block_rows = 0;
  Index block_columns = 0;
  std::vector<Index> row_begin;  ///< block_rows + 1
  std::vector<Index> column;     ///< one per block
  std::vector<double> values;    ///< 9 per block (column-major) + kPadding zeros

  static constexpr std::size_t kPadding = 8;
  Index blocks() const { return count(column); }
  const double* block(Index b) const { return values.data() + 9 * static_cast<std::size_t>(b); }
  double* block(Index b) { return values.data() + 9 * static_cast<std::size_t>(b); }  // 9 b in 64 bits
};

/// From scalar CSR; rows and columns must be divisible by 3. Every block touched by an entry is stored whole.
BlockSparseMatrix to_blocks(const SparseRows& matrix, TaskArena* arena = nullptr);
SparseRows to_scalar(const BlockSparseMatrix& matrix);

/// Number of block (i, j) in `values`, or −1 where the pattern has none.
Index find_block(const BlockSparseMatrix& A, Index i, Index j);
/// Block (i, i), zero where the pattern has none.
Matrix3 diagonal_block(const BlockSparseMatrix& A, Index i);

/// y = A x. Sizes 3·block_columns and 3·block_rows; allocates nothing.
void multiply(const BlockSparseMatrix& A, std::span<const double> x, std::span<double> y);
/// Block rows [begin, end) of the same: the same bits, and nothing else of y is touched.
void multiply_rows(const BlockSparseMatrix& A, Index begin, Index end, std::span<const double> x,
                   std::span<double> y);
/// The whole of the same, rows shared among the threads of `arena` where there is one: the same bits.
void multiply(TaskArena* arena, const BlockSparseMatrix& A, std::span<const double> x, std::span<double> y);
/// The same with the kernel of one level, which must not be above `best_isa()`; for tests and benchmarks.
void multiply(Isa level, const BlockSparseMatrix& A, std::span<const double> x, std::span<double> y);

}  // namespace signorini
