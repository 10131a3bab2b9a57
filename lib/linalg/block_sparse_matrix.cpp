#include "linalg/block_sparse_matrix.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/check.h"

namespace signorini {

namespace {

/// Block rows per task of a conversion.
constexpr std::size_t kRowGrain = 512;

}  // namespace

namespace {

/// True when the three rows of block row i have the same columns and these are whole triples: the usual case,
/// whose values need no search.
bool has_whole_blocks(const SparseRows& matrix, Index i) {
  if (!matrix.isCompressed()) return false;
  const Index* begin = matrix.outerIndexPtr() + 3 * i;
  const Index size = begin[1] - begin[0];
  if (size % 3 != 0 || begin[2] - begin[1] != size || begin[3] - begin[2] != size) return false;
  const Index* column = matrix.innerIndexPtr() + begin[0];
  const bool same = std::equal(column, column + size, column + size) &&
                    std::equal(column, column + size, column + 2 * size);
  if (!same || !std::is_sorted(column, column + size)) return false;
  for (Index e = 0; e < size; e += 3) {
    if (column[e] % 3 != 0 || column[e + 1] != column[e] + 1 || column[e + 2] != column[e] + 2) return false;
  }
  return true;
}

/// Block columns of block row i, ascending.
void find_columns(const SparseRows& matrix, Index i, std::vector<Index>& columns) {
  columns.clear();
  for (Index row = 3 * i; row < 3 * i + 3; ++row) {
    for (SparseRows::InnerIterator entry(matrix, row); entry; ++entry) {
      const Index j = entry.index() / 3;
      if (columns.empty() || columns.back() != j) columns.push_back(j);
    }
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

void copy_whole_blocks(const SparseRows& matrix, Index i, double* values) {
  const Index* begin = matrix.outerIndexPtr() + 3 * i;
  const double* row[3];
  for (std::size_t a = 0; a < 3; ++a) row[a] = matrix.valuePtr() + begin[a];
  for (Index e = 0; e < begin[1] - begin[0]; e += 3, values += 9) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) values[3 * b + a] = row[a][e + b];
    }
  }
}

}  // namespace

BlockSparseMatrix to_blocks(const SparseRows& matrix, TaskArena* arena) {
  if (matrix.rows() % 3 != 0 || matrix.cols() % 3 != 0) {
    throw_input("a matrix of {} x {} has no 3x3 blocks: both sizes must be divisible by 3", matrix.rows(),
                matrix.cols());
  }
  BlockSparseMatrix A;
  A.block_rows = static_cast<Index>(matrix.rows() / 3);
  A.block_columns = static_cast<Index>(matrix.cols() / 3);
  A.row_begin.assign(A.block_rows + 1, 0);
  const std::size_t rows = A.block_rows;
  std::vector<char> whole(rows);
  for_each_chunk(arena, rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Index> columns;
    for (std::size_t i = begin; i < end; ++i) {
      whole[i] = has_whole_blocks(matrix, static_cast<Index>(i)) ? 1 : 0;
      if (whole[i] != 0) {
        A.row_begin[i + 1] = (matrix.outerIndexPtr()[3 * i + 1] - matrix.outerIndexPtr()[3 * i]) / 3;
      } else {
        find_columns(matrix, static_cast<Index>(i), columns);
        A.row_begin[i + 1] = count(columns);
      }
    }
  });
  std::partial_sum(A.row_begin.begin(), A.row_begin.end(), A.row_begin.begin());
  A.column.resize(A.row_begin.back());
  A.values.assign(9 * A.column.size() + BlockSparseMatrix::kPadding, 0.0);
  for_each_chunk(arena, rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Index> columns;
    for (std::size_t at = begin; at < end; ++at) {
      const auto i = static_cast<Index>(at);
      Index* column = A.column.data() + A.row_begin[at];
      if (whole[at] != 0) {
        const Index* own = matrix.innerIndexPtr() + matrix.outerIndexPtr()[3 * i];
        for (Index b = 0; b < A.row_begin[at + 1] - A.row_begin[at]; ++b) column[b] = own[3 * b] / 3;
        copy_whole_blocks(matrix, i, A.block(A.row_begin[at]));
        continue;
      }
      find_columns(matrix, i, columns);
      std::copy(columns.begin(), columns.end(), column);
      for (Index row = 0; row < 3; ++row) {
        for (SparseRows::InnerIterator entry(matrix, 3 * i + row); entry; ++entry) {
          const Index j = entry.index() / 3;
          A.block(find_block(A, i, j))[3 * (entry.col() % 3) + row] += entry.value();
        }
      }
    }
  });
  return A;
}

SparseRows to_scalar(const BlockSparseMatrix& A) {
  SparseRows matrix(3 * A.block_rows, 3 * A.block_columns);
  matrix.resizeNonZeros(9 * static_cast<Eigen::Index>(A.blocks()));  // in 64 bits
  Index at = 0;
  matrix.outerIndexPtr()[0] = 0;
  for (Index i = 0; i < A.block_rows; ++i) {
    const Index begin = A.row_begin[i];
    const Index end = A.row_begin[i + 1];
    for (Index row = 0; row < 3; ++row) {
      for (Index b = begin; b < end; ++b) {
        for (Index inside = 0; inside < 3; ++inside) {
          matrix.innerIndexPtr()[at] = 3 * A.column[b] + inside;
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
  const auto begin = A.column.begin() + A.row_begin[i];
  const auto end = A.column.begin() + A.row_begin[i + 1];
  const auto found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? static_cast<Index>(std::distance(A.column.begin(), found)) : -1;
}

Matrix3 diagonal_block(const BlockSparseMatrix& A, Index i) {
  const Index b = find_block(A, i, i);
  if (b < 0) return Matrix3::Zero();
  return Eigen::Map<const Matrix3>(A.block(b));
}

}  // namespace signorini
