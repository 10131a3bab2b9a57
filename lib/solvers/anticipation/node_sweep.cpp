#include "solvers/anticipation/node_sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/block_kernels.h"
#include "linalg/connected_components.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Blocks of a matrix that make a task worth its start (about 10 µs of work).
constexpr Index kTaskBlocks = 2000;

using kernel::BlockView;
using kernel::Source;

/// Block rows per task when matrices are cut.
constexpr std::size_t kRowGrain = 512;

/// The blocks of A that `keep(row, column)` names.
template <class Keep>
BlockSparseMatrix select_blocks(const BlockSparseMatrix& A, TaskArena* arena, const Keep& keep) {
  BlockSparseMatrix part;
  part.block_rows = A.block_rows;
  part.block_columns = A.block_columns;
  part.row_begin.assign(at(A.block_rows) + 1, 0);
  const auto each_kept = [&](std::size_t i, auto&& visit) {
    for (Index b = A.row_begin[i]; b < A.row_begin[i + 1]; ++b) {
      if (keep(static_cast<Index>(i), A.column[at(b)])) visit(b);
    }
  };
  for_each_chunk(arena, at(A.block_rows), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) each_kept(i, [&](Index) { ++part.row_begin[i + 1]; });
  });
  std::partial_sum(part.row_begin.begin(), part.row_begin.end(), part.row_begin.begin());
  part.column.resize(at(part.row_begin.back()));
  part.values.assign(9 * part.column.size() + BlockSparseMatrix::kPadding, 0.0);
  for_each_chunk(arena, at(A.block_rows), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Index next = part.row_begin[i];
      each_kept(i, [&](Index b) {
        part.column[at(next)] = A.column[at(b)];
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

template <bool with_upper>
void forward_portable(const ForwardSweep& sweep, std::ptrdiff_t first, std::ptrdiff_t last) {
  const auto& [lower, inverse, b, upper, x, y] = sweep;
  for (std::ptrdiff_t i = first; i < last; ++i) {
    double s[3] = {b[3 * i] - upper[3 * i], b[3 * i + 1] - upper[3 * i + 1], b[3 * i + 2] - upper[3 * i + 2]};
    for (std::ptrdiff_t e = lower.begin[i]; e < lower.begin[i + 1]; ++e) {
      const double* a = lower.values + 9 * e;
      const double* v = x + 3 * static_cast<std::ptrdiff_t>(lower.column[e]);
      for (int c = 0; c < 3; ++c) s[c] -= a[c] * v[0] + a[3 + c] * v[1] + a[6 + c] * v[2];
    }
    const double* D = inverse + 9 * i;
    double* xi = x + 3 * i;
    for (int c = 0; c < 3; ++c) xi[c] = D[c] * s[0] + D[3 + c] * s[1] + D[6 + c] * s[2];
    if constexpr (!with_upper) continue;
    std::fill_n(y + 3 * i, 3, 0.0);
    for (std::ptrdiff_t e = lower.begin[i]; e < lower.begin[i + 1]; ++e) {
      const double* a = lower.values + 9 * e;
      double* yj = y + 3 * static_cast<std::ptrdiff_t>(lower.column[e]);
      for (int c = 0; c < 3; ++c) yj[c] += a[3 * c] * xi[0] + a[3 * c + 1] * xi[1] + a[3 * c + 2] * xi[2];
    }
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
      kernel::add_transposed(_mm256_loadu_pd(a), _mm256_loadu_pd(a + 3), _mm256_loadu_pd(a + 6), x0, x1, x2,
                             y + 3 * static_cast<std::ptrdiff_t>(lower.column[e]));
    }
  }
}
#endif

/// Rows [first, last), with the kernel of this processor.
template <bool with_upper>
void forward_rows(const ForwardSweep& sweep, std::ptrdiff_t first, std::ptrdiff_t last) {
#ifdef SIGNORINI_X86
  if (isa() == Isa::avx2) {
    if (kernel::source_of(sweep.lower) == Source::cache)
      return forward_avx2<with_upper, Source::cache>(sweep, first, last);
    return forward_avx2<with_upper, Source::memory>(sweep, first, last);
  }
#endif
  forward_portable<with_upper>(sweep, first, last);
}

}  // namespace

void NodeSweep::prepare(const PrimalSystem& system, TaskArena* arena) {
  if (!system.same_matrix()) cut_matrix(system, arena);
  diagonal_.resize(at(system.contacts()));
  inverse_mass_.resize(diagonal_.size());
  for (Index k = 0; k < system.contacts(); ++k) {
    diagonal_[at(k)] = system.W_D_diagonal[at(k)];
    inverse_mass_[at(k)] = inverse_mass_of(diagonal_[at(k)]);
  }
  by_nodes_ = system.couples_by_nodes();
  if (by_nodes_) coupling_.prepare(system);
  find_regions(system);
}

void NodeSweep::cut_matrix(const PrimalSystem& system, TaskArena* arena) {
  std::vector<char> paired(at(system.M.block_rows), 0);
  for (const PrimalSystem::Pair& pair : system.pairs) paired[at(pair.first)] = paired[at(pair.second)] = 1;
  // in cache the product on its own is 3 % faster
  symmetric_ = system.folded() && is_symmetric(system.M, arena);
  lower_ = select_blocks(system.M, arena, [&](Index i, Index j) { return j < i && paired[at(i)] == 0; });
  upper_ = select_blocks(system.M, arena, [&](Index i, Index j) { return j > i && paired[at(i)] == 0; });
  inverse_.assign(9 * system.inverse.size() + BlockSparseMatrix::kPadding, 0.0);
  for (std::size_t i = 0; i < system.inverse.size(); ++i)
    std::copy_n(system.inverse[i].data(), 9, inverse_.begin() + static_cast<std::ptrdiff_t>(9 * i));
  cut_rows();
}

/// Cuts between node blocks that nothing in `lower_` crosses, far enough apart to make tasks.
void NodeSweep::cut_rows() {
  const Index rows = lower_.block_rows;
  std::vector<Index> reach(at(rows) + 1, rows);  // smallest column of the rows i, i + 1, …
  for (Index i = rows; i-- > 0;) {
    const Index first = lower_.row_begin[at(i)];
    const Index column = first < lower_.row_begin[at(i) + 1] ? lower_.column[at(first)] : i;
    reach[at(i)] = std::min(reach[at(i) + 1], column);
  }
  row_task_.assign(1, 0);
  for (Index i = 1; i < rows; ++i) {
    const Index work = lower_.row_begin[at(i)] - lower_.row_begin[at(row_task_.back())];
    if (reach[at(i)] >= i && work >= kTaskBlocks) row_task_.push_back(i);
  }
  row_task_.push_back(rows);
}

void NodeSweep::find_regions(const PrimalSystem& system) {
  const Components components = by_nodes_ ? coupling_.components() : connected_components(system.W_D);
  region_begin_.assign(at(components.count) + 1, 0);
  for (const Index region : components.label) ++region_begin_[at(region) + 1];
  for (std::size_t i = 1; i < region_begin_.size(); ++i) region_begin_[i] += region_begin_[i - 1];
  region_contacts_.resize(components.label.size());
  std::vector<Index> next(region_begin_.begin(), region_begin_.end() - 1);
  for (std::size_t k = 0; k < components.label.size(); ++k)
    region_contacts_[at(next[at(components.label[k])]++)] = static_cast<Index>(k);
  outcome_.assign(at(components.count), {});
  seen_.assign(at(components.count), {});
  region_task_.assign(1, 0);
  Index work = 0;
  for (Index region = 0; region < components.count; ++region) {
    for (Index c = region_begin_[at(region)]; c < region_begin_[at(region) + 1]; ++c) {
      const Index k = region_contacts_[at(c)];
      work += by_nodes_ ? coupling_.size_of(k) : system.W_D.row_begin[at(k) + 1] - system.W_D.row_begin[at(k)];
    }
    if (work < kTaskBlocks / 4) continue;  // a sweep is repeated several times
    region_task_.push_back(region + 1);
    work = 0;
  }
  if (region_task_.back() != components.count) region_task_.push_back(components.count);
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
      x.segment<3>(3 * half) = Eigen::Map<const Vector3>(b.data() + 3 * at(node[half]));
    x = (pair.inverse * x).eval();
    for (int half = 0; half < 2; ++half)
      Eigen::Map<Vector3>(dv.data() + 3 * at(node[half])) = x.segment<3>(3 * half);
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

namespace {

/// r_k and u_k of one contact while it repeats N, T1, T2.
struct LocalContact {
  Vector3 r;
  Vector3 u;
  const Matrix3& D;
  InverseMass inverse_mass;
  double mu;
  double inverse_omega;  // 1/ω

  void move(int j, double change) {
    r[j] += change;
    u += (inverse_omega * change) * D.col(j);
  }
  void normal() { move(0, std::max(-r[0], -u[0] / (inverse_omega * inverse_mass.normal))); }
  /// Both tangents at once where they share a bound, else one after the other.
  template <class Law>
  void tangents() {
    if constexpr (Law::kPartSize == 1) {
      for (int j = 1; j < 3; ++j) {
        if (!(D(j, j) > 0.0)) continue;
        const double bound = mu * r[0];
        move(j, std::clamp(r[j] - u[j] / (inverse_omega * D(j, j)), -bound, bound) - r[j]);
      }
    } else {
      if (!(inverse_mass.tangent > 0.0)) return;
      const Vector2 stepped = r.tail<2>() - u.tail<2>() / (inverse_omega * inverse_mass.tangent);
      const Vector2 change = Law::project_tangent(stepped, mu * r[0]) - r.tail<2>();
      move(1, change[0]);
      move(2, change[1]);
    }
  }
};

}  // namespace

namespace {

/// Row k of W times r.
Vector3 row_times(const BlockSparseMatrix& W, std::size_t k, std::span<const double> r) {
  Vector3 u = Vector3::Zero();
  for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
    u +=
        Eigen::Map<const Matrix3>(W.block(b)) * Eigen::Map<const Vector3>(r.data() + 3 * at(W.column[at(b)]));
  }
  return u;
}

}  // namespace

NodeSweep::Seen NodeSweep::sweep_region(const PrimalSystem& system, double inverse_omega,
                                        std::span<const double> q, int repetitions, Index region,
                                        std::span<double> r) {
  Seen seen;
  double poison = 0.0;
  for (Index place = region_begin_[at(region)]; place < region_begin_[at(region) + 1]; ++place) {
    const std::size_t k = at(region_contacts_[at(place)]);
    Eigen::Map<Vector3> rk(r.data() + 3 * k);
    if (!(inverse_mass_[k].normal > 0.0)) {
      rk.setZero();  // (W_D)_NN = 0: it moves nothing
      continue;
    }
    const Vector3 u = by_nodes_ ? coupling_.velocity(static_cast<Index>(k)) : row_times(system.W_D, k, r);
    LocalContact c{rk,
                   inverse_omega * u + Eigen::Map<const Vector3>(q.data() + 3 * k),
                   diagonal_[k],
                   inverse_mass_[k],
                   system.mu[static_cast<Eigen::Index>(k)],
                   inverse_omega};
    seen.closing = std::max(seen.closing, -c.u[0]);
    for (int i = 0; i < repetitions; ++i) {
      const Vector3 before = c.r;
      c.normal();
      with_law(system.law, [&c](auto law) { c.template tangents<decltype(law)>(); });
      if (c.r == before) break;
    }
    const Vector3 change = c.r - rk;
    rk = c.r;
    if (by_nodes_) coupling_.add(static_cast<Index>(k), change);
    const double normal = change[0] * c.inverse_mass.normal;
    const double tangent = change.tail<2>().norm() * c.inverse_mass.tangent;
    const double correction = inverse_omega * std::hypot(normal, tangent);
    poison += 0.0 * correction;
    seen.correction = std::max(seen.correction, correction);
    seen.normal = std::max(seen.normal, inverse_omega * std::abs(normal));
    seen.tangent = std::max(seen.tangent, inverse_omega * tangent);
  }
  seen.correction += poison;
  return seen;
}

/// The inner loop of Otaduy 2009 section 5.5: one sweep over all contacts after the other.
NodeSweep::Inner NodeSweep::sweep_until_settled(const PrimalSystem& system, double inverse_omega,
                                                std::span<const double> q, int repetitions,
                                                const InnerRule& rule, std::span<double> r,
                                                TaskArena* arena) {
  const auto settled = [&rule](double now, double before) {
    return std::abs(now - before) <= rule.share * before;
  };
  Inner all;
  Seen before;
  while (all.sweeps < rule.limit) {
    for_each_task(arena, region_task_.size() - 1, [&](std::size_t task) {
      for (Index region = region_task_[task]; region < region_task_[task + 1]; ++region)
        seen_[at(region)] = sweep_region(system, inverse_omega, q, repetitions, region, r);
    });
    Seen now;
    double poison = 0.0;
    for (const Seen& seen : seen_) {
      poison += 0.0 * seen.correction;
      now.correction = std::max(now.correction, seen.correction);
      now.normal = std::max(now.normal, seen.normal);
      now.tangent = std::max(now.tangent, seen.tangent);
      now.closing = std::max(now.closing, seen.closing);
    }
    now.correction += poison;
    if (all.sweeps++ == 0) all.first = now.correction;
    if (!(now.correction > rule.enough)) break;
    if (all.sweeps > 1 && settled(now.normal, before.normal) && settled(now.tangent, before.tangent) &&
        now.closing <= rule.closing)
      break;
    before = now;
  }
  return all;
}

NodeSweep::Inner NodeSweep::local(const PrimalSystem& system, double omega, std::span<const double> q,
                                  int repetitions, const InnerRule& rule, std::span<double> r,
                                  TaskArena* arena) {
  const double inverse_omega = 1.0 / omega;
  if (by_nodes_) coupling_.start(r);
  if (rule.changes) return sweep_until_settled(system, inverse_omega, q, repetitions, rule, r, arena);
  for_each_task(arena, region_task_.size() - 1, [&](std::size_t task) {
    for (Index region = region_task_[task]; region < region_task_[task + 1]; ++region) {
      Inner& inner = outcome_[at(region)];
      inner = {};
      for (int sweep = 0; sweep < rule.limit; ++sweep) {
        const double correction = sweep_region(system, inverse_omega, q, repetitions, region, r).correction;
        ++inner.sweeps;
        if (sweep == 0) inner.first = correction;
        if (!(correction > rule.enough)) break;
      }
    }
  });
  Inner all;
  double poison = 0.0;
  for (const Inner& inner : outcome_) {
    poison += 0.0 * inner.first;
    all.first = std::max(all.first, inner.first);
    all.sweeps = std::max(all.sweeps, inner.sweeps);
  }
  all.first += poison;
  return all;
}

}  // namespace signorini
