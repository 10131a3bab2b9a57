#pragma once

#include <cmath>
#include <cstddef>

#include "linalg/block_sparse_matrix.h"
#include "linalg/simd.h"

#ifdef SIGNORINI_X86
#include <immintrin.h>
#endif

/// The innermost loops over 3×3 blocks, shared by the products and the Gauss–Seidel sweep. Only .cpp files
/// include this.
namespace signorini::kernel {

/// A block matrix without the index conversions of its containers.
struct BlockView {
  const Index* begin;
  const Index* column;
  const double* values;
  std::ptrdiff_t rows;
};

template <class BlockMatrix>
BlockView view_of(const BlockMatrix& A) {
  return {A.row_begin.data(), A.column.data(), A.values.data(), static_cast<std::ptrdiff_t>(A.block_rows)};
}

/// Where the values come from decides how far ahead they are asked for.
enum class Source { cache, memory };

/// Larger than the last-level cache of most processors.
inline Source source_of(const BlockView& A) {
  constexpr std::ptrdiff_t kCachedBlocks = 1'000'000;  // 72 MB
  return A.rows > 0 && A.begin[A.rows] > kCachedBlocks ? Source::memory : Source::cache;
}

/// Whether a product is rounded before it is added. Plain kernels take the operations of those for AVX2 in their order, so
/// that without the rounding they have the same bits.
enum class Product { fused, rounded };

/// a b + c.
template <Product product>
inline double multiply_add(double a, double b, double c) {
  if constexpr (product == Product::fused) return std::fma(a, b, c);
  return a * b + c;
}

/// The larger one as `maxsd` has it: b where they are equal or one is NaN.
inline double larger(double a, double b) { return a > b ? a : b; }
/// The smaller one as `minsd` has it.
inline double smaller(double a, double b) { return a < b ? a : b; }

/// Σ_b A_b x_column(b), one sum per column of the blocks.
struct PlainSums {
  double column0[3] = {}, column1[3] = {}, column2[3] = {};

  double left_to_right(int i) const { return (column0[i] + column1[i]) + column2[i]; }
  /// What stands in column 0 at the start is added last.
  double right_to_left(int i) const { return column0[i] + (column1[i] + column2[i]); }
};

template <Product product>
inline void add_blocks(const BlockView& A, std::ptrdiff_t begin, std::ptrdiff_t end, const double* x,
                       PlainSums& sums) {
  for (std::ptrdiff_t b = begin; b < end; ++b) {
    const double* a = A.values + 9 * b;
    const double* v = x + 3 * static_cast<std::ptrdiff_t>(A.column[b]);
    for (int i = 0; i < 3; ++i) sums.column0[i] = multiply_add<product>(a[i], v[0], sums.column0[i]);
    for (int i = 0; i < 3; ++i) sums.column1[i] = multiply_add<product>(a[3 + i], v[1], sums.column1[i]);
    for (int i = 0; i < 3; ++i) sums.column2[i] = multiply_add<product>(a[6 + i], v[2], sums.column2[i]);
  }
}

/// y += Aᵀ x.
template <Product product>
inline void add_transposed(const double* a, const double* x, double* y) {
  for (int c = 0; c < 3; ++c)
    y[c] +=
        multiply_add<product>(a[3 * c + 2], x[2], multiply_add<product>(a[3 * c + 1], x[1], a[3 * c] * x[0]));
}

/// A x, the last column first.
template <Product product>
inline double row_from_the_right(const double* a, const double* x, int i) {
  return multiply_add<product>(a[i], x[0], multiply_add<product>(a[3 + i], x[1], a[6 + i] * x[2]));
}

#ifdef SIGNORINI_X86

/// 2 kB ahead into the first cache, or one page ahead into the second: the best of 0 … 8 kB in either case.
template <Source source>
SIGNORINI_AVX2_INLINE void prefetch(const double* a) {
  if constexpr (source == Source::cache) {
    _mm_prefetch(reinterpret_cast<const char*>(a + 256), _MM_HINT_T0);
  } else {
    _mm_prefetch(reinterpret_cast<const char*>(a + 512), _MM_HINT_T1);
  }
}

/// Σ_b A_b x_column(b), one sum per column of the blocks. The lanes are the rows N, T1, T2 of a block; lane 3
/// is noise.
struct RowSums {
  __m256d column0, column1, column2;
};

/// A block is three overlapping loads; the last reads one double beyond, hence the padding of `values`.
template <Source source>
SIGNORINI_AVX2_INLINE void add_blocks(const BlockView& A, std::ptrdiff_t begin, std::ptrdiff_t end,
                                      const double* x, RowSums& sums) {
  for (std::ptrdiff_t b = begin; b < end; ++b) {
    const double* a = A.values + 9 * b;
    const double* v = x + 3 * static_cast<std::ptrdiff_t>(A.column[b]);
    prefetch<source>(a);
    sums.column0 = _mm256_fmadd_pd(_mm256_loadu_pd(a), _mm256_broadcast_sd(v), sums.column0);
    sums.column1 = _mm256_fmadd_pd(_mm256_loadu_pd(a + 3), _mm256_broadcast_sd(v + 1), sums.column1);
    sums.column2 = _mm256_fmadd_pd(_mm256_loadu_pd(a + 6), _mm256_broadcast_sd(v + 2), sums.column2);
  }
}

/// Lanes 1 and 2.
SIGNORINI_AVX2_INLINE __m128d tangents(__m256d v) {
  return _mm256_castpd256_pd128(_mm256_permute4x64_pd(v, 0x9));
}

/// Lanes 0, 1, 2 to y, nothing beyond.
SIGNORINI_AVX2_INLINE void store3(double* y, __m256d v) {
  _mm_storeu_pd(y, _mm256_castpd256_pd128(v));
  _mm_store_sd(y + 2, _mm256_extractf128_pd(v, 1));
}

/// y += lanes 0, 1, 2. In the two pieces that every row of y is written in, so that a row written shortly
/// before is still forwarded from the store buffer.
SIGNORINI_AVX2_INLINE void add3(double* y, __m256d v) {
  _mm_storeu_pd(y, _mm_add_pd(_mm_loadu_pd(y), _mm256_castpd256_pd128(v)));
  _mm_store_sd(y + 2, _mm_add_sd(_mm_load_sd(y + 2), _mm256_extractf128_pd(v, 1)));
}

/// y_j += Aᵀ x_i from the columns of A; x0, x1, x2: the entries of x_i, each in all lanes. Lane 3 is noise.
SIGNORINI_AVX2_INLINE void add_transposed(__m256d column0, __m256d column1, __m256d column2, __m256d x0,
                                          __m256d x1, __m256d x2, double* y) {
  const __m256d even = _mm256_unpacklo_pd(column0, column1);  // a00 a01 a20 a21
  const __m256d odd = _mm256_unpackhi_pd(column0, column1);   // a10 a11 ·   ·
  const __m256d row0 = _mm256_permute2f128_pd(even, column2, 0x20);
  const __m256d row1 = _mm256_permute2f128_pd(odd, _mm256_permute_pd(column2, 0x5), 0x20);
  const __m256d row2 = _mm256_permute2f128_pd(even, column2, 0x31);
  add3(y, _mm256_fmadd_pd(row2, x2, _mm256_fmadd_pd(row1, x1, _mm256_mul_pd(row0, x0))));
}

#endif

}  // namespace signorini::kernel
