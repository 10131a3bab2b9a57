// y = A x with 3×3 blocks, beside Eigen's product with the same matrix as scalar CSR and beside the read
// bandwidth.
//
//   ns_per_block   time of our product over the number of blocks of the full matrix
//   x_eigen        Eigen's time / ours
//   of_read        bytes that our product must touch per second / bytes per second of the fastest plain sum
//
// in_cache: 1000 block rows of 9 blocks (0.7 MB); from_memory: 10⁶ block rows (740 MB).

#include <benchmark/benchmark.h>

#include "contact_matrix.h"
#include "interleaved.h"
#include "linalg/symmetric_block_matrix.h"
#include "memory_bandwidth.h"

namespace signorini::bench {
namespace {

constexpr Index kPerRow = 9;

enum class Storage { full, symmetric };

template <class Matrix>
double bytes_of(const Matrix& A) {
  const double blocks = static_cast<double>(A.blocks());
  const double rows = static_cast<double>(A.block_rows);
  return blocks * (9 * sizeof(double) + sizeof(Index)) + rows * (sizeof(Index) + 2 * 3 * sizeof(double));
}

void block_product(benchmark::State& state, Storage storage) {
  const auto rows = static_cast<Index>(state.range(0));
  BlockSparseMatrix full = contact_matrix(rows, kPerRow, Order::scattered);
  SymmetricBlockMatrix upper;
  if (storage == Storage::symmetric) {
    const SparseRows both =
        to_scalar(full).selfadjointView<Eigen::Upper>();  // the lower triangle from the upper
    full = to_blocks(both);
    upper = fold_symmetric(full, full.block_rows).value();
  }
  const double blocks = static_cast<double>(full.blocks());
  const SparseRows csr = to_scalar(full);
  const Vector x = Vector::Ones(csr.cols());
  Vector y(csr.rows()), by_eigen(csr.rows());
  const std::span<const double> in = span_of(std::as_const(x));
  const std::span<double> out = span_of(y);

  std::vector<std::function<void()>> candidates;
  if (storage == Storage::full) {
    candidates.emplace_back([&] { multiply(full, in, out); });
  } else {
    candidates.emplace_back([&] { multiply(upper, in, out); });
  }
  candidates.emplace_back([&] { by_eigen.noalias() = csr * x; });
  for (const Reader read : readers()) {
    candidates.emplace_back([read, &full] { benchmark::DoNotOptimize(read(full.values)); });
  }
  const std::vector<double> seconds =
      least_seconds(state, state.range(0) > 10'000 ? Start::cold : Start::warm, candidates);
  if ((y - by_eigen).norm() > 1e-12 * by_eigen.norm()) state.SkipWithError("the two products differ");

  const double read_seconds = *std::min_element(seconds.begin() + 2, seconds.end());
  const double bandwidth = static_cast<double>(full.values.size() * sizeof(double)) / read_seconds;
  const double bytes = storage == Storage::full ? bytes_of(full) : bytes_of(upper);
  state.counters["ns_per_block"] = seconds[0] * 1e9 / blocks;
  state.counters["x_eigen"] = seconds[1] / seconds[0];
  state.counters["GB_per_s"] = bytes / seconds[0] / 1e9;
  state.counters["read_GB_per_s"] = bandwidth / 1e9;
  state.counters["of_read"] = bytes / seconds[0] / bandwidth;
  state.SetLabel(std::string(enum_name(isa())));
}

BENCHMARK_CAPTURE(block_product, full_in_cache, Storage::full)->Arg(1000)->UseManualTime();
BENCHMARK_CAPTURE(block_product, symmetric_in_cache, Storage::symmetric)->Arg(1000)->UseManualTime();
BENCHMARK_CAPTURE(block_product, full_from_memory, Storage::full)
    ->Arg(1'000'000)
    ->UseManualTime()
    ->Iterations(20)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(block_product, symmetric_from_memory, Storage::symmetric)
    ->Arg(1'000'000)
    ->UseManualTime()
    ->Iterations(20)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
