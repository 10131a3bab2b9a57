#include "linalg/symmetric_block_matrix.h"

#include <algorithm>

#include "base/check.h"
#include "linalg/block_kernels.h"

namespace signorini {
namespace {

using kernel::BlockView;
using kernel::Source;

void multiply_portable(const BlockView& A, const double* x, double* y) {
  for (std::ptrdiff_t i = 0; i < A.rows; ++i) {
    const double* xi = x + 3 * i;
    double s0 = y[3 * i], s1 = y[3 * i + 1], s2 = y[3 * i + 2];
    for (std::ptrdiff_t b = A.begin[i]; b < A.begin[i + 1]; ++b) {
      const double* a = A.values + 9 * b;
      const auto j = static_cast<std::ptrdiff_t>(A.column[b]);
      const double* xj = x + 3 * j;
      s0 += a[0] * xj[0] + a[3] * xj[1] + a[6] * xj[2];
      s1 += a[1] * xj[0] + a[4] * xj[1] + a[7] * xj[2];
      s2 += a[2] * xj[0] + a[5] * xj[1] + a[8] * xj[2];
      if (j == i) continue;
      double* yj = y + 3 * j;
      for (int c = 0; c < 3; ++c) yj[c] += a[3 * c] * xi[0] + a[3 * c + 1] * xi[1] + a[3 * c + 2] * xi[2];
    }
    y[3 * i] = s0;
    y[3 * i + 1] = s1;
    y[3 * i + 2] = s2;
  }
}

#ifdef SIGNORINI_X86

/// (Σ a, Σ b, Σ c, ·) over lanes 0, 1, 2; lane 3 of a, b, c must be zero.
SIGNORINI_AVX2_INLINE __m256d lane_sums(__m256d a, __m256d b, __m256d c) {
  const __m256d ab = _mm256_hadd_pd(a, b);  // a0+a1, b0+b1, a2+a3, b2+b3
  const __m256d cc = _mm256_hadd_pd(c, c);  // c0+c1, ·,     c2+c3, ·
  const __m256d low = _mm256_permute2f128_pd(ab, cc, 0x20);
  const __m256d high = _mm256_permute2f128_pd(ab, cc, 0x31);
  return _mm256_add_pd(low, high);
}

template <Source source>
SIGNORINI_AVX2 void multiply_avx2(const BlockView& A, const double* x, double* y) {
  const __m256i three = _mm256_setr_epi64x(-1, -1, -1, 0);
  for (std::ptrdiff_t i = 0; i < A.rows; ++i) {
    const __m256d xi = _mm256_maskload_pd(x + 3 * i, three);
    const __m256d zero = _mm256_setzero_pd();
    kernel::RowSums sums{_mm256_maskload_pd(y + 3 * i, three), zero, zero};
    std::ptrdiff_t b = A.begin[i];
    const std::ptrdiff_t end = A.begin[i + 1];
    if (b < end && A.column[b] == i) {  // the diagonal block counts once
      kernel::add_blocks<source>(A, b, b + 1, x, sums);
      ++b;
    }
    for (; b < end; ++b) {
      const double* a = A.values + 9 * b;
      const std::ptrdiff_t j = 3 * static_cast<std::ptrdiff_t>(A.column[b]);
      kernel::prefetch<source>(a);
      const __m256d a0 = _mm256_loadu_pd(a), a1 = _mm256_loadu_pd(a + 3), a2 = _mm256_loadu_pd(a + 6);
      sums.column0 = _mm256_fmadd_pd(a0, _mm256_broadcast_sd(x + j), sums.column0);
      sums.column1 = _mm256_fmadd_pd(a1, _mm256_broadcast_sd(x + j + 1), sums.column1);
      sums.column2 = _mm256_fmadd_pd(a2, _mm256_broadcast_sd(x + j + 2), sums.column2);
      // Lane 3 of x_i is zero, but a NaN or ∞ of the next block would survive the product: cut it off by the
      // mask.
      const __m256d cut = _mm256_castsi256_pd(three);
      const __m256d dots =
          lane_sums(_mm256_mul_pd(_mm256_and_pd(a0, cut), xi), _mm256_mul_pd(_mm256_and_pd(a1, cut), xi),
                    _mm256_mul_pd(_mm256_and_pd(a2, cut), xi));
      const __m128d low = _mm_add_pd(_mm_loadu_pd(y + j), _mm256_castpd256_pd128(dots));
      const __m128d high = _mm_add_sd(_mm_load_sd(y + j + 2), _mm256_extractf128_pd(dots, 1));
      _mm_storeu_pd(y + j, low);
      _mm_store_sd(y + j + 2, high);
    }
    kernel::store3(y + 3 * i, _mm256_add_pd(_mm256_add_pd(sums.column0, sums.column1), sums.column2));
  }
}

#endif

}  // namespace

SymmetricBlockMatrix upper_blocks(const BlockSparseMatrix& A) {
  SIGNORINI_CHECK(A.block_rows == A.block_columns);
  SymmetricBlockMatrix upper;
  upper.block_rows = A.block_rows;
  upper.row_begin.assign(1, 0);
  upper.row_begin.reserve(A.row_begin.size());
  for (Index i = 0; i < A.block_rows; ++i) {
    for (Index b = A.row_begin[static_cast<std::size_t>(i)]; b < A.row_begin[static_cast<std::size_t>(i) + 1];
         ++b) {
      if (A.column[static_cast<std::size_t>(b)] < i) continue;
      upper.column.push_back(A.column[static_cast<std::size_t>(b)]);
      upper.values.insert(upper.values.end(), A.block(b), A.block(b) + 9);
    }
    upper.row_begin.push_back(upper.blocks());
  }
  upper.values.insert(upper.values.end(), SymmetricBlockMatrix::kPadding, 0.0);
  return upper;
}

BlockSparseMatrix full_blocks(const SymmetricBlockMatrix& A) {
  BlockSparseMatrix full;
  full.block_rows = full.block_columns = A.block_rows;
  const auto rows = static_cast<std::size_t>(A.block_rows);
  full.row_begin.assign(rows + 1, 0);
  const auto for_each_upper = [&A](auto&& visit) {
    for (Index i = 0; i < A.block_rows; ++i) {
      for (Index b = A.row_begin[static_cast<std::size_t>(i)];
           b < A.row_begin[static_cast<std::size_t>(i) + 1]; ++b) {
        visit(i, A.column[static_cast<std::size_t>(b)], A.block(b));
      }
    }
  };
  for_each_upper([&](Index i, Index j, const double*) {
    ++full.row_begin[static_cast<std::size_t>(i) + 1];
    if (j != i) ++full.row_begin[static_cast<std::size_t>(j) + 1];
  });
  for (std::size_t i = 0; i < rows; ++i) full.row_begin[i + 1] += full.row_begin[i];
  full.column.resize(static_cast<std::size_t>(full.row_begin[rows]));
  full.values.assign(9 * full.column.size() + BlockSparseMatrix::kPadding, 0.0);

  // Row j receives its lower blocks (i, j) in ascending i, all before its own upper blocks.
  std::vector<Index> next(full.row_begin.begin(), full.row_begin.end() - 1);
  const auto append = [&](Index row, Index column, const Matrix3& block) {
    const Index b = next[static_cast<std::size_t>(row)]++;
    full.column[static_cast<std::size_t>(b)] = column;
    Eigen::Map<Matrix3>(full.block(b)) = block;
  };
  for_each_upper([&](Index i, Index j, const double* block) {
    if (j != i) append(j, i, Eigen::Map<const Matrix3>(block).transpose());
  });
  for_each_upper(
      [&](Index i, Index j, const double* block) { append(i, j, Eigen::Map<const Matrix3>(block)); });
  return full;
}

void multiply(Isa level, const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y) {
  SIGNORINI_CHECK(x.size() == 3 * static_cast<std::size_t>(A.block_rows) && y.size() == x.size());
  std::fill(y.begin(), y.end(), 0.0);
  const BlockView view = kernel::view_of(A);
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) {
    if (kernel::source_of(view) == Source::cache)
      return multiply_avx2<Source::cache>(view, x.data(), y.data());
    return multiply_avx2<Source::memory>(view, x.data(), y.data());
  }
#endif
  multiply_portable(view, x.data(), y.data());
}

void multiply(const SymmetricBlockMatrix& A, std::span<const double> x, std::span<double> y) {
  multiply(isa(), A, x, y);
}

}  // namespace signorini
