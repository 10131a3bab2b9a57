#include "solvers/anticipation/node_sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/block_kernels.h"

namespace signorini {

namespace {

/// Blocks of a matrix that make a task worth its start (about 10 µs of work).
constexpr Index kTaskBlocks = 2000;

using kernel::BlockView;
using kernel::Product;
using kernel::Source;

/// Block rows per task when matrices are cut.
constexpr std::size_t kRowGrain = 512;

/// The blocks of A that `keep(row, column)` names.
template <class Keep>
BlockSparseMatrix select_blocks(const BlockSparseMatrix& A, TaskArena* arena, const Keep& keep) {
  BlockSparseMatrix part;
  part.block_rows = A.block_rows;
  part.block_columns = A.block_columns;
  part.row_begin.assign(A.block_rows + 1, 0);
  const auto each_kept = [&](std::size_t i, auto&& visit) {
    for (Index b = A.row_begin[i]; b < A.row_begin[i + 1]; ++b) {
      if (keep(static_cast<Index>(i), A.column[b])) visit(b);
    }
  };
  for_each_chunk(arena, A.block_rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) each_kept(i, [&](Index) { ++part.row_begin[i + 1]; });
  });
  std::partial_sum(part.row_begin.begin(), part.row_begin.end(), part.row_begin.begin());
  part.column.resize(part.row_begin.back());
  part.values.assign(9 * part.column.size() + BlockSparseMatrix::kPadding, 0.0);
  for_each_chunk(arena, A.block_rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Index next = part.row_begin[i];
      each_kept(i, [&](Index b) {
        part.column[next] = A.column[b];
        std::copy_n(A.block(b), 9, part.block(next++));
      });
    }
  });
  return part;
}

/// What a forward sweep over the node blocks reads and writes; y = lowerᵀ x where it is asked for.
struct ForwardSweep {
  BlockView lower;
  const double* inverse;
  const double* b;
  const double* upper;  ///< · old x
  double* x;
  double* y;
};

template <bool with_upper, Product product>
void forward_plain(const ForwardSweep& sweep, std::ptrdiff_t first, std::ptrdiff_t last) {
  const auto& [lower, inverse, b, upper, x, y] = sweep;
  for (std::ptrdiff_t i = first; i < last; ++i) {
    kernel::PlainSums sums;
    kernel::add_blocks<product>(lower, lower.begin[i], lower.begin[i + 1], x, sums);
    double s[3];
    for (int c = 0; c < 3; ++c) s[c] = b[3 * i + c] - upper[3 * i + c] - sums.left_to_right(c);
    double* xi = x + 3 * i;
    for (int c = 0; c < 3; ++c) xi[c] = kernel::row_from_the_right<product>(inverse + 9 * i, s, c);
    if constexpr (!with_upper) continue;
    std::fill_n(y + 3 * i, 3, 0.0);
    for (std::ptrdiff_t e = lower.begin[i]; e < lower.begin[i + 1]; ++e)
      kernel::add_transposed<product>(lower.values + 9 * e, xi,
                                      y + 3 * static_cast<std::ptrdiff_t>(lower.column[e]));
  }
}

#ifdef SIGNORINI_X86
template <bool with_upper, Source source>
SIGNORINI_AVX2 void forward_avx2(const ForwardSweep& sweep, std::ptrdiff_t first, std::ptrdiff_t last) {
  const auto& [lower, inverse, b, upper, x, y] = sweep;
  for (std::ptrdiff_t i = first; i < last; ++i) {
    const __m256d zero = _mm256_setzero_pd();
    kernel::RowSums sums{zero, zero, zero};
    kernel::add_blocks<source>(lower, lower.begin[i], lower.begin[i + 1], x, sums);
    double s[4];
    _mm256_storeu_pd(s, _mm256_add_pd(_mm256_add_pd(sums.column0, sums.column1), sums.column2));
    for (int c = 0; c < 3; ++c) s[c] = b[3 * i + c] - upper[3 * i + c] - s[c];
    const double* D = inverse + 9 * i;
    const __m256d xi =
        _mm256_fmadd_pd(_mm256_loadu_pd(D), _mm256_broadcast_sd(s),
                        _mm256_fmadd_pd(_mm256_loadu_pd(D + 3), _mm256_broadcast_sd(s + 1),
                                        _mm256_mul_pd(_mm256_loadu_pd(D + 6), _mm256_broadcast_sd(s + 2))));
    kernel::store3(x + 3 * i, xi);
    if constexpr (!with_upper) continue;
    kernel::store3(y + 3 * i, zero);
    const __m256d x0 = _mm256_permute4x64_pd(xi, 0x00), x1 = _mm256_permute4x64_pd(xi, 0x55),
                  x2 = _mm256_permute4x64_pd(xi, 0xAA);
    for (std::ptrdiff_t e = lower.begin[i]; e < lower.begin[i + 1]; ++e) {
      const double* a = lower.values + 9 * e;
      const std::ptrdiff_t j = lower.column[e];
      kernel::add_transposed(_mm256_loadu_pd(a), _mm256_loadu_pd(a + 3), _mm256_loadu_pd(a + 6), x0, x1, x2,
                             y + 3 * j);
    }
  }
}
#endif

/// Rows [first, last), with the kernel of this processor.
template <bool with_upper>
void forward_rows(const ForwardSweep& sweep, std::ptrdiff_t first, std::ptrdiff_t last) {
  const Isa level = isa();
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) {
    if (kernel::source_of(sweep.lower) == Source::cache)
      return forward_avx2<with_upper, Source::cache>(sweep, first, last);
    return forward_avx2<with_upper, Source::memory>(sweep, first, last);
  }
#endif
  if (level == Isa::portable) return forward_plain<with_upper, Product::rounded>(sweep, first, last);
  forward_plain<with_upper, Product::fused>(sweep, first, last);
}

}  // namespace

void NodeSweep::prepare(const PrimalSystem& system, TaskArena* arena) {
  if (!system.same_matrix()) cut_matrix(system, arena);
}

void NodeSweep::cut_matrix(const PrimalSystem& system, TaskArena* arena) {
  std::vector<char> paired(system.M.block_rows, 0);
  for (const PrimalSystem::Pair& pair : system.pairs) paired[pair.first] = paired[pair.second] = 1;
  // in cache the product on its own is 3 % faster
  symmetric_ = system.folded() && is_symmetric(system.M, arena);
  lower_ = select_blocks(system.M, arena, [&](Index i, Index j) { return j < i && paired[i] == 0; });
  upper_ = select_blocks(system.M, arena, [&](Index i, Index j) { return j > i && paired[i] == 0; });
  inverse_.assign(9 * system.inverse.size() + BlockSparseMatrix::kPadding, 0.0);
  for (std::size_t i = 0; i < system.inverse.size(); ++i)
    std::copy_n(system.inverse[i].data(), 9, inverse_.begin() + 9 * i);
  cut_rows();
}

/// Cuts between node blocks that nothing in `lower_` crosses, far enough apart to make tasks.
void NodeSweep::cut_rows() {
  const Index rows = lower_.block_rows;
  std::vector<Index> reach(rows + 1, rows);  // smallest column of the rows i, i + 1, …
  for (Index i = rows; i-- > 0;) {
    const Index first = lower_.row_begin[i];
    const Index column = first < lower_.row_begin[i + 1] ? lower_.column[first] : i;
    reach[i] = std::min(reach[i + 1], column);
  }
  row_task_.assign(1, 0);
  for (Index i = 1; i < rows; ++i) {
    const Index work = lower_.row_begin[i] - lower_.row_begin[row_task_.back()];
    if (reach[i] >= i && work >= kTaskBlocks) row_task_.push_back(i);
  }
  row_task_.push_back(rows);
}

template <bool with_upper>
void NodeSweep::sweep_nodes(const PrimalSystem& system, std::span<const double> b,
                            std::span<const double> upper_times_dv, std::span<double> dv, std::span<double> y,
                            TaskArena* arena) const {
  const ForwardSweep sweep{kernel::view_of(lower_), inverse_.data(), b.data(),
                           upper_times_dv.data(),   dv.data(),       y.data()};
  for_each_task(arena, row_task_.size() - 1, [&](std::size_t task) {
    forward_rows<with_upper>(sweep, row_task_[task], row_task_[task + 1]);
  });
  // nothing couples to a pair: its own equations are solved at once
  for (const PrimalSystem::Pair& pair : system.pairs) {
    Eigen::Matrix<double, 6, 1> x;
    const Index node[2] = {pair.first, pair.second};
    for (int half = 0; half < 2; ++half)
      x.segment<3>(3 * half) = Eigen::Map<const Vector3>(b.data() + 3 * node[half]);
    x = (pair.inverse * x).eval();
    for (int half = 0; half < 2; ++half)
      Eigen::Map<Vector3>(dv.data() + 3 * node[half]) = x.segment<3>(3 * half);
  }
}

void NodeSweep::forward(const PrimalSystem& system, std::span<const double> b,
                        std::span<const double> upper_times_dv, std::span<double> dv, std::span<double> y,
                        TaskArena* arena) const {
  if (symmetric_) return sweep_nodes<true>(system, b, upper_times_dv, dv, y, arena);
  sweep_nodes<false>(system, b, upper_times_dv, dv, {}, arena);
  multiply_upper(dv, y, arena);
}

void NodeSweep::multiply_upper(std::span<const double> dv, std::span<double> y, TaskArena* arena) const {
  for_each_task(arena, row_task_.size() - 1, [&](std::size_t task) {
    multiply_rows(upper_, row_task_[task], row_task_[task + 1], dv, y);
  });
}

}  // namespace signorini
