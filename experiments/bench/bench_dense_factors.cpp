// Dense factors whose bits depend on the matrix alone, beside those of Eigen, in turn within one run.
//
// cholesky/<order>, lu/<order>: matrices of random numbers, 70 % of which are zero in lu_sparse/<order>.
//   ours_s      seconds of `cholesky_in_order` (with a copy of the matrix) or `DenseLu`
//   x_eigen     those of Eigen's LLT or PartialPivLU over ours
//   GFlop_s     ours; n³/3 or 2 n³/3 operations

#include <benchmark/benchmark.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/rng.h"
#include "interleaved.h"
#include "linalg/dense_cholesky.h"
#include "linalg/dense_lu.h"

namespace signorini::bench {
namespace {

Matrix random_matrix(Index order, double zeros) {
  Rng rng(1);
  Matrix A(order, order);
  for (double& entry : A.reshaped()) entry = rng.uniform(0.0, 1.0) < zeros ? 0.0 : rng.uniform(-1.0, 1.0);
  A.diagonal().array() += 1.0;
  return A;
}

void report(benchmark::State& state, double operations,
            const std::vector<std::function<void()>>& candidates) {
  const std::vector<double> seconds = least_seconds(state, Start::warm, candidates);
  state.counters["ours_s"] = seconds[0];
  state.counters["x_eigen"] = seconds[1] / seconds[0];
  state.counters["GFlop_s"] = 1e-9 * operations / seconds[0];
}

void cholesky(benchmark::State& state) {
  const Index order = static_cast<Index>(state.range(0));
  const Matrix half = random_matrix(order, 0.0);
  Matrix A = half * half.transpose(), L = A;
  A.diagonal().array() += order;
  Eigen::LLT<Matrix> eigen(order);
  const double n = order;
  report(state, n * n * n / 3.0,
         {[&] {
            L = A;
            if (!cholesky_in_order(L)) throw std::runtime_error("not positive definite");
          },
          [&] { eigen.compute(A); }});
}

void lu_of(benchmark::State& state, double zeros) {
  const Index order = static_cast<Index>(state.range(0));
  const Matrix A = random_matrix(order, zeros);
  DenseLu ours;
  Eigen::PartialPivLU<Matrix> eigen(order);
  const double n = order;
  report(state, 2.0 * n * n * n / 3.0,
         {[&] {
            if (!ours.factor(A)) throw std::runtime_error("singular");
          },
          [&] { eigen.compute(A); }});
}
void lu(benchmark::State& state) { lu_of(state, 0.0); }
void lu_sparse(benchmark::State& state) { lu_of(state, 0.7); }

void orders(benchmark::internal::Benchmark* benchmark) {
  for (const int order : {8, 16, 32, 64, 150, 240, 400, 1000}) benchmark->Arg(order);
  benchmark->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(cholesky)->Apply(orders);
BENCHMARK(lu)->Apply(orders);
BENCHMARK(lu_sparse)->Apply(orders);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
