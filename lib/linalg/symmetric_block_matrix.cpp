#include "linalg/symmetric_block_matrix.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "linalg/block_kernels.h"

namespace signorini {
namespace {

using kernel::BlockView;
using kernel::Product;
using kernel::Source;

/// Block rows per task where a matrix is read once.
constexpr std::size_t kRowGrain = 512;

/// The matrix, where the blocks that leave the chunk begin, and the block rows [begin, end) of a chunk.
struct ChunkView {
  BlockView A;
  const Index* outside;
  std::ptrdiff_t begin, end;
};

template <Product product>
void multiply_plain(const ChunkView& chunk, const double* x, double* y) {
  const BlockView& A = chunk.A;
  for (std::ptrdiff_t i = chunk.begin; i < chunk.end; ++i) {
    kernel::PlainSums sums;
    kernel::add_blocks<product>(A, A.begin[i], A.begin[i + 1], x, sums);
    for (std::ptrdiff_t b = A.begin[i]; b < chunk.outside[i]; ++b) {
      const auto j = static_cast<std::ptrdiff_t>(A.column[b]);
      if (j != i) kernel::add_transposed<product>(A.values + 9 * b, x + 3 * i, y + 3 * j);
    }
    for (int c = 0; c < 3; ++c) y[3 * i + c] += sums.left_to_right(c);
  }
}

#ifdef SIGNORINI_X86

template <Source source>
SIGNORINI_AVX2 void multiply_avx2(const ChunkView& chunk, const double* x, double* y) {
  const BlockView& A = chunk.A;
  for (std::ptrdiff_t i = chunk.begin; i < chunk.end; ++i) {
    const __m256d zero = _mm256_setzero_pd();
    kernel::RowSums sums{zero, zero, zero};
    std::ptrdiff_t b = A.begin[i];
    const std::ptrdiff_t outside = chunk.outside[i];
    if (b < outside && A.column[b] == i) {  // the diagonal block counts once
      kernel::add_blocks<source>(A, b, b + 1, x, sums);
      ++b;
    }
    const double* xi = x + 3 * i;
    const __m256d x0 = _mm256_broadcast_sd(xi), x1 = _mm256_broadcast_sd(xi + 1),
                  x2 = _mm256_broadcast_sd(xi + 2);
    for (; b < outside; ++b) {
      const double* a = A.values + 9 * b;
      const std::ptrdiff_t j = 3 * static_cast<std::ptrdiff_t>(A.column[b]);
      kernel::prefetch<source>(a);
      const __m256d a0 = _mm256_loadu_pd(a), a1 = _mm256_loadu_pd(a + 3), a2 = _mm256_loadu_pd(a + 6);
      sums.column0 = _mm256_fmadd_pd(a0, _mm256_broadcast_sd(x + j), sums.column0);
      sums.column1 = _mm256_fmadd_pd(a1, _mm256_broadcast_sd(x + j + 1), sums.column1);
      sums.column2 = _mm256_fmadd_pd(a2, _mm256_broadcast_sd(x + j + 2), sums.column2);
      kernel::add_transposed(a0, a1, a2, x0, x1, x2, y + j);
    }
    kernel::add_blocks<source>(A, outside, A.begin[i + 1], x, sums);
    kernel::add3(y + 3 * i, _mm256_add_pd(_mm256_add_pd(sums.column0, sums.column1), sums.column2));
  }
}

#endif

void multiply_chunk_at(Isa level, const SymmetricBlockMatrix& A, Index chunk, const double* x, double* y) {
  const ChunkView view{kernel::view_of(A), A.outside_begin.data(), A.chunk_begin(chunk), A.chunk_end(chunk)};
  std::fill(y + 3 * view.begin, y + 3 * view.end, 0.0);
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) {
    if (kernel::source_of(view.A) == Source::cache) return multiply_avx2<Source::cache>(view, x, y);
    return multiply_avx2<Source::memory>(view, x, y);
  }
#endif
  if (level == Isa::portable) return multiply_plain<Product::rounded>(view, x, y);
  multiply_plain<Product::fused>(view, x, y);
}

double largest_entry(const double* block) {
  double largest = 0.0;
  for (int e = 0; e < 9; ++e) largest = std::max(largest, std::abs(block[e]));
  return largest;
}

/// Reads block rows chunk by chunk and says which blocks the folded matrix keeps.
struct Fold {
  const BlockSparseMatrix& A;
  Index chunk_rows;
  std::vector<double> diagonal;  ///< √ of the largest entry of A_ii

  Fold(const BlockSparseMatrix& full, Index rows, TaskArena* arena)
      : A(full), chunk_rows(rows), diagonal(full.block_rows) {
    for_each_chunk(arena, diagonal.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        diagonal[i] = std::sqrt(largest_entry(diagonal_block(A, static_cast<Index>(i)).data()));
    });
  }

  /// `inside(b)` for the blocks j ≥ i of the chunk, `outside(b)` for those that leave it.
  template <class Inside, class Outside>
  void split(Index i, const Inside& inside, const Outside& outside) const {
    for (Index b = A.row_begin[i]; b < A.row_begin[i + 1]; ++b) {
      const Index j = A.column[b];
      if (j / chunk_rows != i / chunk_rows) {
        outside(b);
      } else if (j >= i) {
        inside(b);
      }
    }
  }

  /// Whether every block of row i that couples to its chunk has its transpose.
  bool is_symmetric(Index i) const {
    for (Index b = A.row_begin[i]; b < A.row_begin[i + 1]; ++b) {
      const Index j = A.column[b];
      if (j == i || j / chunk_rows != i / chunk_rows) continue;
      const Index mirror = find_block(A, j, i);
      if (mirror < 0) return false;
      if (j < i) continue;  // compared from row j
      constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
      const double size = std::max(largest_entry(A.block(b)), diagonal[i] * diagonal[j]);
      const Eigen::Map<const Matrix3> own(A.block(b)), other(A.block(mirror));
      // NaN is symmetric to nothing
      if (!((own - other.transpose()).array().abs() <= kRounding * size).all()) return false;
    }
    return true;
  }
};

}  // namespace

bool is_symmetric(const BlockSparseMatrix& A, TaskArena* arena) {
  if (A.block_rows != A.block_columns) return false;
  const Fold fold(A, std::max<Index>(1, A.block_rows), arena);
  std::vector<char> symmetric(A.block_rows, 1);
  for_each_chunk(arena, symmetric.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) symmetric[i] = fold.is_symmetric(static_cast<Index>(i)) ? 1 : 0;
  });
  return std::find(symmetric.begin(), symmetric.end(), 0) == symmetric.end();
}

std::optional<SymmetricBlockMatrix> fold_symmetric(const BlockSparseMatrix& A, Index chunk_rows,
                                                   TaskArena* arena) {
  SIGNORINI_CHECK(A.block_rows == A.block_columns && chunk_rows >= 1);
  std::optional<SymmetricBlockMatrix> folded(std::in_place);
  SymmetricBlockMatrix& F = *folded;
  F.block_rows = A.block_rows;
  F.chunk_rows = chunk_rows;
  F.row_begin.assign(A.block_rows + 1, 0);
  F.outside_begin.assign(A.block_rows, 0);
  const Fold fold(A, chunk_rows, arena);
  std::vector<char> symmetric(F.chunks(), 1);
  for_each_task(arena, symmetric.size(), [&](std::size_t task) {
    const auto chunk = static_cast<Index>(task);
    for (Index i = F.chunk_begin(chunk); i < F.chunk_end(chunk) && symmetric[task] != 0; ++i) {
      Index inside = 0, outside = 0;
      fold.split(
          i, [&](Index) { ++inside; }, [&](Index) { ++outside; });
      F.row_begin[i + 1] = inside + outside;
      F.outside_begin[i] = inside;
      symmetric[task] = fold.is_symmetric(i) ? 1 : 0;
    }
  });
  if (std::find(symmetric.begin(), symmetric.end(), 0) != symmetric.end()) return std::nullopt;
  std::partial_sum(F.row_begin.begin(), F.row_begin.end(), F.row_begin.begin());
  for (std::size_t i = 0; i < F.outside_begin.size(); ++i) F.outside_begin[i] += F.row_begin[i];
  F.column.resize(F.row_begin.back());
  F.values.assign(9 * F.column.size() + SymmetricBlockMatrix::kPadding, 0.0);
  const auto copy = [&](Index to, Index b) {
    F.column[to] = A.column[b];
    std::copy_n(A.block(b), 9, F.values.data() + 9 * static_cast<std::size_t>(to));  // in 64 bits
  };
  for_each_chunk(arena, F.block_rows, chunk_rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Index inside = F.row_begin[i], outside = F.outside_begin[i];
      fold.split(
          static_cast<Index>(i), [&](Index b) { copy(inside++, b); }, [&](Index b) { copy(outside++, b); });
    }
  });
  return folded;
}

void multiply(Isa level, const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y) {
  SIGNORINI_CHECK(count(x) == 3 * A.block_rows && y.size() == x.size());
  for (Index chunk = 0; chunk < A.chunks(); ++chunk) multiply_chunk_at(level, A, chunk, x.data(), y.data());
}

void multiply(const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y) {
  multiply(isa(), A, x, y);
}

void multiply_chunk(const SymmetricBlockMatrix& A, Index chunk, std::span<const double> x,
                    std::span<double> y) {
  SIGNORINI_CHECK(count(x) == 3 * A.block_rows && y.size() == x.size());
  SIGNORINI_CHECK(chunk >= 0 && chunk < A.chunks());
  multiply_chunk_at(isa(), A, chunk, x.data(), y.data());
}

}  // namespace signorini
