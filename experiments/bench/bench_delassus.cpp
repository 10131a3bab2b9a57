/// Cost of the Delassus operator against the number of contacts, for explicit (M block diagonal) and implicit
/// M: assembly of W, one product with the assembled W, one matrix-free product Hᵀ M⁻¹ (H r), and the
/// referee's setup. Counters: blocks of W per contact, and seconds per contact for the slope.

#include <benchmark/benchmark.h>

#include <algorithm>

#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/residuals.h"
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

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
