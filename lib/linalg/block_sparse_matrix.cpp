#include "linalg/block_sparse_matrix.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace signorini {

BlockSparseMatrix to_blocks(const SparseRows& matrix) {
  if (matrix.rows() % 3 != 0 || matrix.cols() % 3 != 0) {
    throw_input("a matrix of {} x {} has no 3x3 blocks: both sizes must be divisible by 3", matrix.rows(),
                matrix.cols());
  }
  BlockSparseMatrix A;
  A.block_rows = static_cast<Index>(matrix.rows() / 3);
  A.block_columns = static_cast<Index>(matrix.cols() / 3);
  A.row_begin.assign(static_cast<std::size_t>(A.block_rows) + 1, 0);

  std::vector<Index> columns;  // of one block row
  for (Index i = 0; i < A.block_rows; ++i) {
    columns.clear();
    for (Index row = 3 * i; row < 3 * i + 3; ++row) {
      for (SparseRows::InnerIterator entry(matrix, row); entry; ++entry) {
        const auto j = static_cast<Index>(entry.col() / 3);
        if (columns.empty() || columns.back() != j) columns.push_back(j);
      }
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    A.column.insert(A.column.end(), columns.begin(), columns.end());
    A.row_begin[static_cast<std::size_t>(i) + 1] = A.blocks();
  }

  A.values.assign(9 * A.column.size() + BlockSparseMatrix::kPadding, 0.0);
  for (Index i = 0; i < A.block_rows; ++i) {
    for (Index row = 0; row < 3; ++row) {
      for (SparseRows::InnerIterator entry(matrix, 3 * i + row); entry; ++entry) {
        const auto j = static_cast<Index>(entry.col() / 3);
        const auto inside = static_cast<Index>(entry.col() % 3);
        A.block(find_block(A, i, j))[3 * inside + row] += entry.value();
      }
    }
  }
  return A;
}

SparseRows to_scalar(const BlockSparseMatrix& A) {
  SparseRows matrix(3 * A.block_rows, 3 * A.block_columns);
  matrix.resizeNonZeros(9 * static_cast<Eigen::Index>(A.blocks()));
  Index at = 0;
  matrix.outerIndexPtr()[0] = 0;
  for (Index i = 0; i < A.block_rows; ++i) {
    const Index begin = A.row_begin[static_cast<std::size_t>(i)];
    const Index end = A.row_begin[static_cast<std::size_t>(i) + 1];
    for (Index row = 0; row < 3; ++row) {
      for (Index b = begin; b < end; ++b) {
        for (Index inside = 0; inside < 3; ++inside) {
          matrix.innerIndexPtr()[at] = 3 * A.column[static_cast<std::size_t>(b)] + inside;
          matrix.valuePtr()[at] = A.block(b)[3 * inside + row];
          ++at;
        }
      }
      matrix.outerIndexPtr()[3 * i + row + 1] = at;
    }
  }
  return matrix;
}

Index find_block(const BlockSparseMatrix& A, Index i, Index j) {
  const auto begin = A.column.begin() + A.row_begin[static_cast<std::size_t>(i)];
  const auto end = A.column.begin() + A.row_begin[static_cast<std::size_t>(i) + 1];
  const auto found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? static_cast<Index>(std::distance(A.column.begin(), found)) : -1;
}

Matrix3 diagonal_block(const BlockSparseMatrix& A, Index i) {
  const Index b = find_block(A, i, i);
  if (b < 0) return Matrix3::Zero();
  return Eigen::Map<const Matrix3>(A.block(b));
}

}  // namespace signorini
