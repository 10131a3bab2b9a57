#include "linalg/supernodal_solve.h"

#include <algorithm>

#include "base/check.h"

namespace signorini {

namespace {

/// Four right-hand sides at once. GCC and Clang split it where the processor has shorter registers.
using Lanes [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
constexpr std::size_t kLanes = kSupernodalLanes;

/// The dense matrix of one supernode: its diagonal block above the rows of other supernodes.
struct Supernode {
  const double* L;     ///< column by column
  std::size_t height;  ///< rows of `L`
  std::size_t columns;
  std::size_t first;     ///< column of the whole factor
  const Index* outside;  ///< the rows below the diagonal block
  std::size_t outsiders() const { return height - columns; }
};

Supernode supernode(const SupernodalFactor& factor, std::size_t s) {
  const std::size_t first = factor.first[s], columns = factor.first[s + 1] - factor.first[s];
  const std::size_t rows = factor.row_begin[s];
  return {factor.value + factor.value_begin[s], factor.row_begin[s + 1] - rows, columns, first,
          factor.row + rows + columns};
}

/// y_r −= Σ_k a[k·stride + r] x_k for `Rows` rows r, k ascending, on `Chunks`·kLanes right-hand sides from one on. x: rows of
/// `width` numbers, one after the other.
template <std::size_t Rows, std::size_t Chunks>
[[gnu::always_inline]] inline void subtract(const double* a, std::size_t stride, std::size_t count,
                                            const double* x, std::size_t width, double* const* y) {
  Lanes sum[Rows][Chunks];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t c = 0; c < Chunks; ++c) sum[r][c] = *reinterpret_cast<const Lanes*>(y[r] + c * kLanes);
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t c = 0; c < Chunks; ++c)
        sum[r][c] -= a[k * stride + r] * *reinterpret_cast<const Lanes*>(x + k * width + c * kLanes);
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t c = 0; c < Chunks; ++c) *reinterpret_cast<Lanes*>(y[r] + c * kLanes) = sum[r][c];
  }
}

/// y_r −= Σ_k a[r·stride + k] x_row(k), summed from zero, k ascending; the rest as above.
template <std::size_t Rows, std::size_t Chunks>
[[gnu::always_inline]] inline void subtract_transposed(const double* a, std::size_t stride, std::size_t count,
                                                       const double* x, const Index* row, std::size_t width,
                                                       double* y) {
  Lanes sum[Rows][Chunks] = {};
  for (std::size_t k = 0; k < count; ++k) {
    const double* const from = x + static_cast<std::size_t>(row[k]) * width;
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t c = 0; c < Chunks; ++c)
        sum[r][c] += a[r * stride + k] * *reinterpret_cast<const Lanes*>(from + c * kLanes);
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t c = 0; c < Chunks; ++c)
      *reinterpret_cast<Lanes*>(y + r * width + c * kLanes) -= sum[r][c];
  }
}

/// Calls work.template run<Chunks>(c) for pieces of the right-hand sides, `Most` chunks wide where there are as many.
template <std::size_t Most, class Work>
[[gnu::always_inline]] inline void for_each_piece(std::size_t width, const Work& work) {
  std::size_t c = 0;
  for (; c + Most * kLanes <= width; c += Most * kLanes) work.template operator()<Most>(c);
  for (; c < width; c += kLanes) work.template operator()<1>(c);
}

constexpr std::size_t kRows = 4, kChunks = 2, kLongChunks = 6;

[[gnu::always_inline]] inline void divide(double* x, std::size_t width, double by) {
  for (std::size_t c = 0; c < width; c += kLanes) *reinterpret_cast<Lanes*>(x + c) /= by;
}

/// X_i −= Σ_k L_ik X_k over the columns k < `count` of the supernode, for `Rows` of its rows from `i` on.
template <std::size_t Rows>
[[gnu::always_inline]] inline void eliminate(const Supernode& s, std::size_t i, std::size_t count, double* X,
                                             std::size_t width) {
  double* const own = X + s.first * width;
  double* y[Rows];
  for (std::size_t r = 0; r < Rows; ++r) {
    const std::size_t at = i + r;
    y[r] =
        at < s.columns ? own + at * width : X + static_cast<std::size_t>(s.outside[at - s.columns]) * width;
  }
  for_each_piece<kChunks>(
      width, [&]<std::size_t Chunks>(std::size_t c) __attribute__((always_inline)) {
        double* piece[Rows];
        for (std::size_t r = 0; r < Rows; ++r) piece[r] = y[r] + c;
        subtract<Rows, Chunks>(s.L + i, s.height, count, own + c, width, piece);
      });
}

[[gnu::always_inline]] inline void forward(const Supernode& s, double* X, std::size_t width) {
  double* const own = X + s.first * width;
  std::size_t i = 0;
  for (; i + kRows <= s.columns; i += kRows) {
    eliminate<kRows>(s, i, i, X, width);
    for (std::size_t r = i; r < i + kRows; ++r) {  // the columns of these rows, which come last
      for (std::size_t k = i; k < r; ++k) {
        const double* const from = own + k * width;
        for (std::size_t c = 0; c < width; c += kLanes)
          *reinterpret_cast<Lanes*>(own + r * width + c) -=
              s.L[k * s.height + r] * *reinterpret_cast<const Lanes*>(from + c);
      }
      divide(own + r * width, width, s.L[r * s.height + r]);
    }
  }
  for (; i < s.columns; ++i) {
    eliminate<1>(s, i, i, X, width);
    divide(own + i * width, width, s.L[i * s.height + i]);
  }
  for (; i + kRows <= s.height; i += kRows) eliminate<kRows>(s, i, s.columns, X, width);
  for (; i < s.height; ++i) eliminate<1>(s, i, s.columns, X, width);
}

template <std::size_t Rows>
[[gnu::always_inline]] inline void collect(const Supernode& s, std::size_t i, double* X, std::size_t width) {
  for_each_piece<kChunks>(
      width, [&]<std::size_t Chunks>(std::size_t c) __attribute__((always_inline)) {
        subtract_transposed<Rows, Chunks>(s.L + i * s.height + s.columns, s.height, s.outsiders(), X + c,
                                          s.outside, width, X + (s.first + i) * width + c);
      });
}

[[gnu::always_inline]] inline void backward(const Supernode& s, double* X, std::size_t width) {
  double* const own = X + s.first * width;
  std::size_t i = 0;
  for (; i + kRows <= s.columns; i += kRows) collect<kRows>(s, i, X, width);
  for (; i < s.columns; ++i) collect<1>(s, i, X, width);
  for (i = s.columns; i-- > 0;) {
    const double* const below = s.L + i * s.height + i + 1;
    for_each_piece<kLongChunks>(
        width, [&]<std::size_t Chunks>(std::size_t c) __attribute__((always_inline)) {
          double* const y = own + i * width + c;
          subtract<1, Chunks>(below, 1, s.columns - i - 1, own + (i + 1) * width + c, width, &y);
        });
    divide(own + i * width, width, s.L[i * s.height + i]);
  }
}

[[gnu::always_inline]] inline bool is_zero(const Supernode& s, const double* X, std::size_t width) {
  const double* const own = X + s.first * width;
  return std::all_of(own, own + s.columns * width, [](double x) { return x == 0.0; });
}

[[gnu::always_inline]] inline void lower(const SupernodalFactor& factor, double* X, std::size_t width) {
  for (std::size_t s = 0; s + 1 < factor.first.size(); ++s) {
    const Supernode node = supernode(factor, s);
    if (!is_zero(node, X, width)) forward(node, X, width);
  }
}

[[gnu::always_inline]] inline void upper(const SupernodalFactor& factor, double* X, std::size_t width,
                                         std::span<const char> needed) {
  for (std::size_t s = factor.first.size() - 1; s-- > 0;) {
    if (needed.empty() || needed[s] != 0) backward(supernode(factor, s), X, width);
  }
}

#ifdef SIGNORINI_X86
// without FMA: the bits are those of the portable ones
[[gnu::target("avx2")]] void lower_avx2(const SupernodalFactor& factor, double* X, std::size_t width) {
  lower(factor, X, width);
}
[[gnu::target("avx2")]] void upper_avx2(const SupernodalFactor& factor, double* X, std::size_t width,
                                        std::span<const char> needed) {
  upper(factor, X, width, needed);
}
#endif

}  // namespace

void solve_lower(const SupernodalFactor& L, double* X, std::size_t width, Isa isa) {
  SIGNORINI_CHECK(width % kLanes == 0 && !L.first.empty());
#ifdef SIGNORINI_X86
  if (isa == Isa::avx2) return lower_avx2(L, X, width);
#endif
  lower(L, X, width);
}

void solve_upper(const SupernodalFactor& L, double* X, std::size_t width, std::span<const char> needed,
                 Isa isa) {
  SIGNORINI_CHECK(width % kLanes == 0 && !L.first.empty());
#ifdef SIGNORINI_X86
  if (isa == Isa::avx2) return upper_avx2(L, X, width, needed);
#endif
  upper(L, X, width, needed);
}

std::size_t supernode_of(const SupernodalFactor& L, Index row) {
  const auto above = std::upper_bound(L.first.begin(), L.first.end(), row);
  return static_cast<std::size_t>(above - L.first.begin()) - 1;
}

void need_ancestors(const SupernodalFactor& L, std::span<char> needed) {
  for (std::size_t s = 0; s < needed.size(); ++s) {
    const Supernode node = supernode(L, s);
    if (needed[s] == 0 || node.outsiders() == 0) continue;
    needed[supernode_of(L, node.outside[0])] = 1;
  }
}

}  // namespace signorini
