#include "linalg/dense_kernels.h"

#include <algorithm>

#include "linalg/block_kernels.h"

namespace signorini {
namespace {

using kernel::Product;

constexpr std::ptrdiff_t kTileRows = 12, kTileColumns = 4;  // of C in registers
constexpr std::ptrdiff_t kRows = 8 * kTileRows;             // of A, and …
constexpr std::ptrdiff_t kDepth = 64;                       // … terms at a time: 50 kB
constexpr std::ptrdiff_t kTriangle = 8;  // order of a triangle that is solved without products
constexpr std::ptrdiff_t kReused = 32;   // columns of C from which it pays to copy 50 kB of A

/// A tile of C: rows of A for term k begin at a + k a_step, columns of B for it stand at b(k, ·).
struct Tile {
  std::ptrdiff_t depth;
  const double* a;
  std::ptrdiff_t a_step;
  DenseView b;
  double* c;
  std::ptrdiff_t stride;
};

template <Product product>
void subtract_tile_plain(const Tile& tile) {
  double sum[kTileColumns][kTileRows];
  for (std::ptrdiff_t j = 0; j < kTileColumns; ++j)
    for (std::ptrdiff_t i = 0; i < kTileRows; ++i) sum[j][i] = tile.c[i + j * tile.stride];
  for (std::ptrdiff_t k = 0; k < tile.depth; ++k) {
    const double* a = tile.a + k * tile.a_step;
    for (std::ptrdiff_t j = 0; j < kTileColumns; ++j) {
      const double b = tile.b(k, j);
      for (std::ptrdiff_t i = 0; i < kTileRows; ++i)
        sum[j][i] = kernel::multiply_add<product>(-a[i], b, sum[j][i]);
    }
  }
  for (std::ptrdiff_t j = 0; j < kTileColumns; ++j)
    for (std::ptrdiff_t i = 0; i < kTileRows; ++i) tile.c[i + j * tile.stride] = sum[j][i];
}

#ifdef SIGNORINI_X86
/// Twelve numbers that stay in registers: an array of them would be written to memory for each term.
struct Twelve {
  __m256d first, second, third;
};
SIGNORINI_AVX2_INLINE Twelve load(const double* from) {
  return {_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4), _mm256_loadu_pd(from + 8)};
}
SIGNORINI_AVX2_INLINE void store(double* to, const Twelve& values) {
  _mm256_storeu_pd(to, values.first);
  _mm256_storeu_pd(to + 4, values.second);
  _mm256_storeu_pd(to + 8, values.third);
}
SIGNORINI_AVX2_INLINE void subtract(const Twelve& a, const double* b, Twelve& from) {
  const __m256d factor = _mm256_broadcast_sd(b);
  from.first = _mm256_fnmadd_pd(a.first, factor, from.first);
  from.second = _mm256_fnmadd_pd(a.second, factor, from.second);
  from.third = _mm256_fnmadd_pd(a.third, factor, from.third);
}

SIGNORINI_AVX2 void subtract_tile_avx2(const Tile& tile) {
  double *c0 = tile.c, *c1 = c0 + tile.stride, *c2 = c1 + tile.stride, *c3 = c2 + tile.stride;
  Twelve sum0 = load(c0), sum1 = load(c1), sum2 = load(c2), sum3 = load(c3);
  const double *a = tile.a, *b = tile.b.entries;
  const std::ptrdiff_t a_step = tile.a_step, b_step = tile.b.row_step, next = tile.b.column_step;
  for (std::ptrdiff_t k = tile.depth; k > 0; --k, a += a_step, b += b_step) {
    const Twelve column = load(a);
    subtract(column, b, sum0);
    subtract(column, b + next, sum1);
    subtract(column, b + 2 * next, sum2);
    subtract(column, b + 3 * next, sum3);
  }
  store(c0, sum0);
  store(c1, sum1);
  store(c2, sum2);
  store(c3, sum3);
}
#endif

void subtract_tile(Isa level, const Tile& tile) {
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) return subtract_tile_avx2(tile);
#endif
  if (level == Isa::portable) return subtract_tile_plain<Product::rounded>(tile);
  subtract_tile_plain<Product::fused>(tile);
}

/// A tile that is cut off by the edges of C or by its diagonal, through a copy. `above`: rows of its first column above the
/// diagonal.
void subtract_partial_tile(Isa level, Tile tile, std::ptrdiff_t rows, std::ptrdiff_t columns,
                           std::ptrdiff_t above) {
  double copy[kTileRows * kTileColumns] = {};
  double* const whole = tile.c;
  const std::ptrdiff_t stride = tile.stride;
  const auto first = [above](std::ptrdiff_t j) { return std::max<std::ptrdiff_t>(0, above + j); };
  for (std::ptrdiff_t j = 0; j < columns; ++j)
    for (std::ptrdiff_t i = first(j); i < rows; ++i) copy[i + j * kTileRows] = whole[i + j * stride];
  tile.c = copy;
  tile.stride = kTileRows;
  subtract_tile(level, tile);
  for (std::ptrdiff_t j = 0; j < columns; ++j)
    for (std::ptrdiff_t i = first(j); i < rows; ++i) whole[i + j * stride] = copy[i + j * kTileRows];
}

DenseView part_of(const DenseView& A, std::ptrdiff_t row, std::ptrdiff_t column) {
  return {A.entries + row * A.row_step + column * A.column_step, A.row_step, A.column_step};
}

/// Up to kRows rows and kDepth columns of A. Tiles of kTileRows rows are copied where they are cut off, and missing rows are zero,
/// or where all are to be.
class Rows {
 public:
  Rows(const DenseView& A, std::ptrdiff_t rows, std::ptrdiff_t depth, bool copy_all)
      : A_(A), depth_(depth), copied_(copy_all ? 0 : rows / kTileRows * kTileRows) {
    double* to = copy_;
    for (std::ptrdiff_t top = copied_; top < rows; top += kTileRows) {
      const std::ptrdiff_t size = std::min(kTileRows, rows - top);
      for (std::ptrdiff_t k = 0; k < depth; ++k, to += kTileRows) {
        std::copy_n(&A.entries[top + k * A.column_step], size, to);
        std::fill(to + size, to + kTileRows, 0.0);
      }
    }
  }
  /// The tile that begins with row `top`, a multiple of kTileRows.
  Tile tile(std::ptrdiff_t top) const {
    if (top < copied_) return {depth_, A_.entries + top, A_.column_step, {}, nullptr, 0};
    return {depth_, copy_ + (top - copied_) * depth_, kTileRows, {}, nullptr, 0};
  }

 private:
  DenseView A_;
  std::ptrdiff_t depth_, copied_;  ///< the first row that is copied
  double copy_[kRows * kDepth];
};

/// Columns of B for one column of tiles; missing ones are zero.
class Strip {
 public:
  Strip(const DenseView& B, std::ptrdiff_t columns, std::ptrdiff_t depth) : view_(B) {
    if (columns == kTileColumns) return;
    for (std::ptrdiff_t k = 0; k < depth; ++k)
      for (std::ptrdiff_t j = 0; j < kTileColumns; ++j)
        copy_[k * kTileColumns + j] = j < columns ? B(k, j) : 0.0;
    view_ = {copy_, kTileColumns, 1};
  }
  Strip(const Strip&) = delete;
  Strip& operator=(const Strip&) = delete;
  const DenseView& view() const { return view_; }

 private:
  DenseView view_;
  double copy_[kDepth * kTileColumns];
};

/// Rows top … top + rows − 1 of C.
void subtract_rows(Isa level, const Rows& A, const DenseView& B, std::ptrdiff_t depth, std::ptrdiff_t top,
                   std::ptrdiff_t rows, const DenseTarget& C, DensePart part) {
  const std::ptrdiff_t end = part == DensePart::lower ? std::min(C.columns, top + rows) : C.columns;
  for (std::ptrdiff_t j = 0; j < end; j += kTileColumns) {
    const std::ptrdiff_t columns = std::min(kTileColumns, C.columns - j);
    const Strip strip(part_of(B, 0, j), columns, depth);
    for (std::ptrdiff_t i = 0; i < rows; i += kTileRows) {
      const std::ptrdiff_t tile_rows = std::min(kTileRows, rows - i);
      const std::ptrdiff_t above = part == DensePart::lower ? j - top - i : -kTileColumns;
      if (above >= tile_rows) continue;
      Tile tile = A.tile(i);
      tile.b = strip.view();
      tile.c = C.at(top + i, j);
      tile.stride = C.stride;
      if (tile_rows == kTileRows && columns == kTileColumns && above + columns <= 1) {
        subtract_tile(level, tile);
      } else {
        subtract_partial_tile(level, tile, tile_rows, columns, above);
      }
    }
  }
}

template <Product product>
[[gnu::always_inline]] inline void subtract_multiple_by(double a, const double* x, double* y,
                                                        std::ptrdiff_t size) {
  for (std::ptrdiff_t i = 0; i < size; ++i) y[i] = kernel::multiply_add<product>(-a, x[i], y[i]);
}

/// Column by column.
template <Product product>
[[gnu::always_inline]] inline void solve_small(const DenseView& L, const DenseTarget& X) {
  for (std::ptrdiff_t j = 0; j < X.columns; ++j) {
    double* x = X.at(0, j);
    for (std::ptrdiff_t k = 0; k < X.rows; ++k)
      for (std::ptrdiff_t i = k + 1; i < X.rows; ++i)
        x[i] = kernel::multiply_add<product>(-L(i, k), x[k], x[i]);
  }
}

#ifdef SIGNORINI_X86
SIGNORINI_AVX2 void subtract_multiple_avx2(double a, const double* x, double* y, std::ptrdiff_t size) {
  subtract_multiple_by<Product::fused>(a, x, y, size);
}
/// Entries k + 1 … 3 of x less those of a column of L times its entry k.
template <int k>
SIGNORINI_AVX2_INLINE __m256d eliminate(__m256d column, __m256d x) {
  const __m256d factor = _mm256_permute4x64_pd(x, k * 0x55);
  return _mm256_blend_pd(_mm256_fnmadd_pd(column, factor, x), x, (2 << k) - 1);
}
/// All of y less a column of L times entry k of x.
template <int k>
SIGNORINI_AVX2_INLINE __m256d subtract_entry(__m256d column, __m256d x, __m256d y) {
  return _mm256_fnmadd_pd(column, _mm256_permute4x64_pd(x, k * 0x55), y);
}

/// Eight rows: the columns of X are independent of each other, and the processor works on several at a time.
SIGNORINI_AVX2 void solve_eight_avx2(const DenseView& L, const DenseTarget& X) {
  const double* column = L.entries;
  const std::ptrdiff_t next = L.column_step;
  const __m256d u0 = _mm256_loadu_pd(column), l0 = _mm256_loadu_pd(column + 4);
  const __m256d u1 = _mm256_loadu_pd(column + next), l1 = _mm256_loadu_pd(column + next + 4);
  const __m256d u2 = _mm256_loadu_pd(column + 2 * next), l2 = _mm256_loadu_pd(column + 2 * next + 4);
  const __m256d l3 = _mm256_loadu_pd(column + 3 * next + 4), l4 = _mm256_loadu_pd(column + 4 * next + 4);
  const __m256d l5 = _mm256_loadu_pd(column + 5 * next + 4), l6 = _mm256_loadu_pd(column + 6 * next + 4);
  for (std::ptrdiff_t j = 0; j < X.columns; ++j) {
    double* const entries = X.at(0, j);
    __m256d x = _mm256_loadu_pd(entries), y = _mm256_loadu_pd(entries + 4);
    x = eliminate<2>(u2, eliminate<1>(u1, eliminate<0>(u0, x)));
    y = subtract_entry<1>(l1, x, subtract_entry<0>(l0, x, y));
    y = subtract_entry<3>(l3, x, subtract_entry<2>(l2, x, y));
    y = eliminate<2>(l6, eliminate<1>(l5, eliminate<0>(l4, y)));
    _mm256_storeu_pd(entries, x);
    _mm256_storeu_pd(entries + 4, y);
  }
}
SIGNORINI_AVX2 void solve_small_avx2(const DenseView& L, const DenseTarget& X) {
  static_assert(kTriangle == 8);
  if (X.rows == kTriangle) return solve_eight_avx2(L, X);
  solve_small<Product::fused>(L, X);
}
#endif

void solve_small(Isa level, const DenseView& L, const DenseTarget& X) {
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) return solve_small_avx2(L, X);
#endif
  if (level == Isa::portable) return solve_small<Product::rounded>(L, X);
  solve_small<Product::fused>(L, X);
}

}  // namespace

void subtract_product(Isa level, DenseView A, DenseView B, std::ptrdiff_t depth, DenseTarget C,
                      DensePart part) {
  for (std::ptrdiff_t k = 0; k < depth; k += kDepth) {
    const std::ptrdiff_t terms = std::min(kDepth, depth - k);
    for (std::ptrdiff_t top = 0; top < C.rows; top += kRows) {
      const std::ptrdiff_t rows = std::min(kRows, C.rows - top);
      const Rows piece(part_of(A, top, k), rows, terms, C.columns >= kReused);
      subtract_rows(level, piece, part_of(B, k, 0), terms, top, rows, C, part);
    }
  }
}

void subtract_multiple(Isa level, double a, const double* x, double* y, std::ptrdiff_t size) {
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) return subtract_multiple_avx2(a, x, y, size);
#endif
  if (level == Isa::portable) return subtract_multiple_by<Product::rounded>(a, x, y, size);
  subtract_multiple_by<Product::fused>(a, x, y, size);
}

void solve_unit_lower(Isa level, DenseView L, DenseTarget X) {
  if (X.rows <= kTriangle) return solve_small(level, L, X);
  const std::ptrdiff_t half = (X.rows / 2 + kTriangle - 1) / kTriangle * kTriangle;
  const DenseTarget first{X.entries, half, X.columns, X.stride};
  const DenseTarget second{X.at(half, 0), X.rows - half, X.columns, X.stride};
  solve_unit_lower(level, L, first);
  subtract_product(level, part_of(L, half, 0), {X.entries, 1, X.stride}, half, second);
  solve_unit_lower(level, part_of(L, half, half), second);
}

}  // namespace signorini
