// What it would cost to give the same bits on every processor, those without FMA too: the product y = A x and the sweep of pgs (cone,
// scalar step) written once, with vectors that the compiler turns into AVX2 or SSE2, one order of additions and no fused
// multiplications, beside the kernels in use.
//
//   ns            per block (product) or contact (sweep), of the kernel in use with AVX2 and FMA
//   x_one_avx2    time of the one source with AVX2 over it
//   x_one_sse2    the same with SSE2; the bits of both are compared
//   x_portable    time of the plain C++ that is in use where there is no AVX2, over it
//
// in_cache: 1,000 rows of 9 blocks (0.7 MB); from_memory: 10⁶ rows (740 MB). chain, scattered: see bench_gauss_seidel.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <random>

#include "contact_matrix.h"
#include "interleaved.h"
#include "linalg/block_kernels.h"
#include "solvers/relaxation/gauss_seidel.h"

#ifdef SIGNORINI_X86

// Vectors of four doubles stay in registers of inlined functions, whatever their calling convention.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace signorini::bench {
namespace {

using kernel::BlockView;
using kernel::Source;

typedef double V4 __attribute__((vector_size(32)));
typedef double V2 __attribute__((vector_size(16)));

#define SIGNORINI_INLINE __attribute__((always_inline)) inline

template <class V>
SIGNORINI_INLINE V load(const double* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class V>
SIGNORINI_INLINE void store(double* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

template <Source source>
SIGNORINI_INLINE void ask_for(const double* a) {
  if constexpr (source == Source::cache) {
    __builtin_prefetch(a + 256, 0, 3);
  } else {
    __builtin_prefetch(a + 512, 0, 2);
  }
}

struct Sums {
  V4 column0, column1, column2;
};

template <Source source>
SIGNORINI_INLINE void add_blocks(const BlockView& A, std::ptrdiff_t begin, std::ptrdiff_t end,
                                 const double* x, Sums& sums) {
  for (std::ptrdiff_t b = begin; b < end; ++b) {
    const double* a = A.values + 9 * b;
    const double* v = x + 3 * static_cast<std::ptrdiff_t>(A.column[b]);
    ask_for<source>(a);
    sums.column0 += load<V4>(a) * v[0];
    sums.column1 += load<V4>(a + 3) * v[1];
    sums.column2 += load<V4>(a + 6) * v[2];
  }
}

template <Source source>
SIGNORINI_INLINE void product(const BlockView& A, const double* x, double* y) {
  for (std::ptrdiff_t i = 0; i < A.rows; ++i) {
    Sums sums{};
    add_blocks<source>(A, A.begin[i], A.begin[i + 1], x, sums);
    const V4 sum = (sums.column0 + sums.column1) + sums.column2;
    store(y + 3 * i, V2{sum[0], sum[1]});
    y[3 * i + 2] = sum[2];
  }
}

template <Source source>
SIGNORINI_INLINE double sweep(const GaussSeidelData& data, double* r) {
  constexpr double kTiny = 1e-300;
  const BlockView A = kernel::view_of(data.W);
  double largest = 0.0, poison = 0.0;
  for (std::ptrdiff_t k = 0; k < A.rows; ++k) {
    const GaussSeidelContact& c = data.contact[static_cast<std::size_t>(k)];
    double* rk = r + 3 * k;
    Sums sums{load<V4>(c.q), V4{}, V4{}};
    const std::ptrdiff_t upper = data.upper_begin[static_cast<std::size_t>(k)];
    add_blocks<source>(A, upper, A.begin[k + 1], r, sums);
    add_blocks<source>(A, A.begin[k], upper, r, sums);
    const V4 u = sums.column0 + (sums.column1 + sums.column2);

    const double old_normal = rk[0];
    const V2 old = load<V2>(rk + 1), by_normal = load<V2>(c.by_normal);
    const double normal = std::max(0.0, old_normal - u[0] * c.step[0]);
    rk[0] = normal;
    const V2 rest = old + by_normal * old_normal;
    const V2 stepped = rest - __builtin_shufflevector(u, u, 1, 2) * load<V2>(c.step + 1);
    const V2 before = stepped - by_normal * normal;
    const double bound = normal * c.mu;
    const V2 squares = before * before;
    const double s = squares[0] + squares[1];
    const double factor = (bound * (1.0 / std::max(s, kTiny))) * std::sqrt(s);
    const V2 tangent = before * (s > bound * bound ? factor : 1.0);
    store(rk + 1, tangent);

    const double e_N = (normal - old_normal) * c.inverse_mass[0];
    const V2 e_T = (tangent - old) * load<V2>(c.inverse_mass + 1);
    const double correction = e_N * e_N + (e_T[0] * e_T[0] + e_T[1] * e_T[1]);
    poison += 0.0 * correction;
    largest = std::max(largest, correction);
  }
  return std::sqrt(largest) + poison;
}

__attribute__((target("avx2"))) void product_avx2(const BlockView& A, Source source, const double* x,
                                                  double* y) {
  source == Source::cache ? product<Source::cache>(A, x, y) : product<Source::memory>(A, x, y);
}
void product_sse2(const BlockView& A, Source source, const double* x, double* y) {
  source == Source::cache ? product<Source::cache>(A, x, y) : product<Source::memory>(A, x, y);
}
__attribute__((target("avx2"))) double sweep_avx2(const GaussSeidelData& data, Source source, double* r) {
  return source == Source::cache ? sweep<Source::cache>(data, r) : sweep<Source::memory>(data, r);
}
double sweep_sse2(const GaussSeidelData& data, Source source, double* r) {
  return source == Source::cache ? sweep<Source::cache>(data, r) : sweep<Source::memory>(data, r);
}

constexpr Index kPerRow = 9;

void tell(benchmark::State& state, const std::vector<double>& seconds, Index parts) {
  state.counters["ns"] = seconds[0] * 1e9 / parts;
  state.counters["x_one_avx2"] = seconds[1] / seconds[0];
  state.counters["x_one_sse2"] = seconds[2] / seconds[0];
  state.counters["x_portable"] = seconds[3] / seconds[0];
}

Start start_of(const benchmark::State& state) { return state.range(0) > 10'000 ? Start::cold : Start::warm; }

void products(benchmark::State& state) {
  const auto rows = static_cast<Index>(state.range(0));
  const BlockSparseMatrix A = contact_matrix(rows, kPerRow, Order::scattered);
  const BlockView view = kernel::view_of(A);
  const Source source = kernel::source_of(view);
  const Vector x = Vector::Random(3 * rows);
  Vector in_use(3 * rows), avx2(3 * rows), sse2(3 * rows), portable(3 * rows);
  const std::vector<double> seconds = least_seconds(
      state, start_of(state),
      std::vector<std::function<void()>>{[&] { multiply(Isa::avx2, A, span_of(x), span_of(in_use)); },
                                         [&] { product_avx2(view, source, x.data(), avx2.data()); },
                                         [&] { product_sse2(view, source, x.data(), sse2.data()); },
                                         [&] { multiply(Isa::portable, A, span_of(x), span_of(portable)); }});
  if (avx2 != sse2) state.SkipWithError("the bits differ");
  if ((avx2 - in_use).norm() > 1e-12 * in_use.norm()) state.SkipWithError("the products differ");
  tell(state, seconds, A.blocks());
}

void sweeps(benchmark::State& state, Order order) {
  const auto contacts = static_cast<Index>(state.range(0));
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> velocity(-1.0, 1.0);
  Vector q(3 * contacts);
  for (Index i = 0; i < 3 * contacts; ++i) q[i] = velocity(engine) - (i % 3 == 0 ? 0.8 : 0.0);
  const GaussSeidelData data =
      make_gauss_seidel_data(contact_matrix(contacts, kPerRow, order), q, Vector::Constant(contacts, 0.5),
                             FrictionLaw::cone, TangentStep::scalar);
  const Source source = kernel::source_of(kernel::view_of(data.W));
  Vector in_use = Vector::Zero(3 * contacts), avx2 = in_use, sse2 = in_use, portable = in_use;
  const std::vector<double> seconds = least_seconds(
      state, start_of(state),
      std::vector<std::function<void()>>{
          [&] { benchmark::DoNotOptimize(gauss_seidel_sweep(Isa::avx2, data, span_of(in_use))); },
          [&] { benchmark::DoNotOptimize(sweep_avx2(data, source, avx2.data())); },
          [&] { benchmark::DoNotOptimize(sweep_sse2(data, source, sse2.data())); },
          [&] { benchmark::DoNotOptimize(gauss_seidel_sweep(Isa::portable, data, span_of(portable))); }});
  if (avx2 != sse2) state.SkipWithError("the bits differ");
  if ((avx2 - in_use).norm() > 1e-6 * in_use.norm()) state.SkipWithError("the sweeps differ");
  tell(state, seconds, contacts);
}

BENCHMARK(products)->Name("product/in_cache")->Arg(1000)->UseManualTime();
BENCHMARK(products)->Name("product/from_memory")->Arg(1'000'000)->UseManualTime()->Iterations(20);
BENCHMARK_CAPTURE(sweeps, chain_in_cache, Order::chain)->Arg(1000)->UseManualTime();
BENCHMARK_CAPTURE(sweeps, scattered_in_cache, Order::scattered)->Arg(1000)->UseManualTime();
BENCHMARK_CAPTURE(sweeps, scattered_from_memory, Order::scattered)
    ->Arg(1'000'000)
    ->UseManualTime()
    ->Iterations(20);

}  // namespace
}  // namespace signorini::bench

#endif

BENCHMARK_MAIN();
