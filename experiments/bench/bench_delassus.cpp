/// Cost of the Delassus operator against the number of contacts, for explicit (M block diagonal) and implicit
/// M: assembly of W, one product with the assembled W, one matrix-free product Hᵀ M⁻¹ (H r), and the
/// referee's setup. Counters: blocks of W per contact, and seconds per contact for the slope. The factor of one body of 1,536 to
/// 24,000 dofs. Solves with that of one large body, for the three directions of 16 contacts: together, and one after the other by CHOLMOD.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "linalg/spd_factor.h"
#include "linked_rings.h"

namespace signorini {
namespace {

/// One detached region per 50 contacts: bodies of about 160 dofs.
PlantedProblem make_problem(const benchmark::State& state) {
  PlantedOptions options;
  options.contacts = static_cast<int>(state.range(0));
  options.regions = std::max(1, options.contacts / 50);
  options.stiffness = state.range(1) == 0 ? 0.0 : 1.0;
  return make_planted_problem(options);
}

void count_contacts(benchmark::State& state, double blocks) {
  const auto contacts = static_cast<double>(state.range(0));
  state.counters["per_contact"] = benchmark::Counter(
      contacts, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["blocks_per_contact"] = blocks / contacts;
  state.SetLabel(state.range(1) == 0 ? "explicit" : "implicit");
}

void plant(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_problem(state).r.data());
  count_contacts(state, 0.0);
}

void assemble(benchmark::State& state) {
  const PlantedProblem planted = make_problem(state);
  double blocks = 0.0;
  for (auto _ : state) {
    const BlockSparseMatrix W = assemble_delassus(planted.problem);
    blocks = W.blocks();
    benchmark::DoNotOptimize(W.values.data());
  }
  count_contacts(state, blocks);
}

void product_assembled(benchmark::State& state) {
  const PlantedProblem planted = make_problem(state);
  const BlockSparseMatrix W = assemble_delassus(planted.problem);
  Vector u(planted.r.size());
  for (auto _ : state) {
    multiply(W, span_of(planted.r), span_of(u));
    benchmark::DoNotOptimize(u.data());
  }
  count_contacts(state, W.blocks());
}

void product_matrix_free(benchmark::State& state) {
  const PlantedProblem planted = make_problem(state);
  const DelassusOperator W(planted.problem);
  Vector u(planted.r.size());
  for (auto _ : state) {
    W.apply(span_of(planted.r), span_of(u));
    benchmark::DoNotOptimize(u.data());
  }
  count_contacts(state, 0.0);
}

void referee_setup(benchmark::State& state) {
  const PlantedProblem planted = make_problem(state);
  for (auto _ : state) {
    const Referee referee(planted.problem);
    benchmark::DoNotOptimize(referee.velocity_scale());
  }
  count_contacts(state, 0.0);
}

/// Setup of an implicit problem of many bodies in contact: factors, W and q.
void assemble_rings(benchmark::State& state) {
  const ContactProblem problem =
      bench::linked_rings(static_cast<Index>(state.range(0)), static_cast<Index>(state.range(1)), 100.0);
  TaskArena arena(static_cast<int>(state.range(2)));
  for (auto _ : state) {
    const ReducedProblem reduced = assemble_reduced(problem, &arena);
    benchmark::DoNotOptimize(reduced.W.values.data());
  }
  state.counters["per_body"] =
      benchmark::Counter(static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// A net of `side`² nodes of three dofs, as of a cloth, and unit pushes at 16 of them.
struct Net {
  explicit Net(Index side) : pushes(Matrix::Zero(3 * side * side, 48)) {
    std::vector<Eigen::Triplet<double, Index>> entries;
    const auto couple = [&](Index a, Index b) {
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 3; ++j) {
          const double k = i == j ? 1.0 : 0.3;
          for (const Index node : {a, b}) entries.emplace_back(3 * node + i, 3 * node + j, k);
          entries.emplace_back(3 * a + i, 3 * b + j, -k);
          entries.emplace_back(3 * b + i, 3 * a + j, -k);
        }
      }
    };
    for (Index y = 0; y < side; ++y) {
      for (Index x = 0; x < side; ++x) {
        for (Index i = 0; i < 3; ++i)
          entries.emplace_back(3 * (y * side + x) + i, 3 * (y * side + x) + i, 0.1);
        if (x + 1 < side) couple(y * side + x, y * side + x + 1);
        if (y + 1 < side) couple(y * side + x, (y + 1) * side + x);
        if (x + 2 < side) couple(y * side + x, y * side + x + 2);
        if (y + 2 < side) couple(y * side + x, (y + 2) * side + x);
      }
    }
    M.resize(pushes.rows(), pushes.rows());
    M.setFromTriplets(entries.begin(), entries.end());
    for (Index k = 0; k < 48; ++k) pushes(3 * ((k / 3) * 37 % (side * side)) + k % 3, k) = 1.0;
  }
  SparseRows M;
  Matrix pushes;
};

void solve_together(benchmark::State& state) {
  const Net net(static_cast<Index>(state.range(0)));
  const SpdFactor factor(net.M);
  for (auto _ : state) benchmark::DoNotOptimize(factor.solve_columns(net.pushes).data());
}

void solve_one_by_one(benchmark::State& state) {
  const Net net(static_cast<Index>(state.range(0)));
  const SpdFactor factor(net.M);
  Vector x(net.M.rows());
  for (auto _ : state) {
    for (Index k = 0; k < net.pushes.cols(); ++k) {
      const Vector b = net.pushes.col(k);
      factor.solve(span_of(b), span_of(x));
      benchmark::DoNotOptimize(x.data());
    }
  }
}

/// A grid of `side`³ nodes of three dofs, as of a deformable body.
SparseRows body(Index side) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  const Index nodes = side * side * side;
  for (Index a = 0; a < nodes; ++a)
    for (Index i = 0; i < 3; ++i) {
      entries.emplace_back(3 * a + i, 3 * a + i, 20.0);
      for (const Index step : {Index{1}, side, side * side}) {
        const bool inside = step == 1      ? a % side + 1 < side
                            : step == side ? a / side % side + 1 < side
                                           : a + step < nodes;
        if (!inside) continue;
        for (Index j = 0; j < 3; ++j) {
          entries.emplace_back(3 * a + i, 3 * (a + step) + j, -1.0);
          entries.emplace_back(3 * (a + step) + j, 3 * a + i, -1.0);
        }
      }
    }
  SparseRows M(3 * nodes, 3 * nodes);
  M.setFromTriplets(entries.begin(), entries.end());
  return M;
}

void factor_body(benchmark::State& state) {
  const SparseRows M = body(static_cast<Index>(state.range(0)));
  double fill = 0.0;
  for (auto _ : state) fill = static_cast<double>(SpdFactor(M).fill());
  state.counters["dofs"] = static_cast<double>(M.rows());
  state.counters["numbers_per_dof"] = fill / static_cast<double>(M.rows());
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int kind : {0, 1}) {
    for (const int contacts : {1000, 10000, 100000}) {
      if (kind == 0 || contacts <= 10000) benchmark->Args({contacts, kind});
    }
  }
  benchmark->Unit(benchmark::kMillisecond);
}

BENCHMARK(plant)->Apply(sizes);
BENCHMARK(assemble)->Apply(sizes);
BENCHMARK(product_assembled)->Apply(sizes);
BENCHMARK(product_matrix_free)->Apply(sizes);
BENCHMARK(referee_setup)->Apply(sizes);
BENCHMARK(assemble_rings)
    ->ArgsProduct({{120}, {5, 10, 20}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(factor_body)->Arg(8)->Arg(16)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK(solve_together)->Arg(30)->Arg(60)->Unit(benchmark::kMillisecond);
BENCHMARK(solve_one_by_one)->Arg(30)->Arg(60)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
