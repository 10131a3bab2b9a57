#include "base/check.h"
#include "linalg/block_kernels.h"
#include "linalg/block_sparse_matrix.h"

namespace signorini {
namespace {

using kernel::BlockView;
using kernel::Product;
using kernel::Source;

template <Product product>
void multiply_plain(const BlockView& A, const double* x, double* y) {
  for (std::ptrdiff_t i = 0; i < A.rows; ++i) {
    kernel::PlainSums sums;
    kernel::add_blocks<product>(A, A.begin[i], A.begin[i + 1], x, sums);
    for (int c = 0; c < 3; ++c) y[3 * i + c] = sums.left_to_right(c);
  }
}

#ifdef SIGNORINI_X86
template <Source source>
SIGNORINI_AVX2 void multiply_avx2(const BlockView& A, const double* x, double* y) {
  for (std::ptrdiff_t i = 0; i < A.rows; ++i) {
    const __m256d zero = _mm256_setzero_pd();
    kernel::RowSums sums{zero, zero, zero};
    kernel::add_blocks<source>(A, A.begin[i], A.begin[i + 1], x, sums);
    kernel::store3(y + 3 * i, _mm256_add_pd(_mm256_add_pd(sums.column0, sums.column1), sums.column2));
  }
}
#endif

}  // namespace

namespace {

void multiply_view(Isa level, const BlockView& view, Source source, const double* x, double* y) {
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) {
    if (source == Source::cache) return multiply_avx2<Source::cache>(view, x, y);
    return multiply_avx2<Source::memory>(view, x, y);
  }
#endif
  static_cast<void>(source);
  if (level == Isa::portable) return multiply_plain<Product::rounded>(view, x, y);
  multiply_plain<Product::fused>(view, x, y);
}

}  // namespace

void multiply(Isa level, const BlockSparseMatrix& A, std::span<const double> x, std::span<double> y) {
  SIGNORINI_CHECK(count(x) == 3 * A.block_columns);
  SIGNORINI_CHECK(count(y) == 3 * A.block_rows);
  const BlockView view = kernel::view_of(A);
  multiply_view(level, view, kernel::source_of(view), x.data(), y.data());
}

void multiply_rows(const BlockSparseMatrix& A, Index begin, Index end, std::span<const double> x,
                   std::span<double> y) {
  SIGNORINI_CHECK(count(x) == 3 * A.block_columns);
  SIGNORINI_CHECK(count(y) == 3 * A.block_rows);
  SIGNORINI_CHECK(begin >= 0 && begin <= end && end <= A.block_rows);
  const BlockView whole = kernel::view_of(A);
  // Row pointers are absolute, so a part of the rows is a matrix of its own.
  const BlockView rows{whole.begin + begin, whole.column, whole.values, end - begin};
  multiply_view(isa(), rows, kernel::source_of(whole), x.data(), y.data() + 3 * begin);
}

void multiply(const BlockSparseMatrix& A, std::span<const double> x, std::span<double> y) {
  multiply(isa(), A, x, y);
}

void multiply(TaskArena* arena, const BlockSparseMatrix& A, std::span<const double> x, std::span<double> y) {
  constexpr std::size_t kGrain = 512;  // rows of W: with eight blocks each about 10 µs
  if (arena == nullptr) return multiply(A, x, y);
  arena->for_chunks(A.block_rows, kGrain, [&](std::size_t begin, std::size_t end) {
    multiply_rows(A, static_cast<Index>(begin), static_cast<Index>(end), x, y);
  });
}

}  // namespace signorini
