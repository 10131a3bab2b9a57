#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

#include "base/clock.h"
#include "contact/planted_problem.h"
#include "solvers/region_tasks.h"
#include "solvers/registry.h"

// Detached regions as tasks: threads, the cost of many tiny regions, and split against whole on one thread.
// Every run is a fixed number of iterations, so that all rows of a group do the same arithmetic. `fastest` is
// the shortest single solve in seconds: on a machine that also does other things, compare that one.

namespace signorini {
namespace {

constexpr int kIterations = 50;

const ContactProblem& planted(int regions, int contacts_per_region, double stiffness = 0.0) {
  static std::map<std::tuple<int, int, double>, std::unique_ptr<ContactProblem>> cache;
  auto& problem = cache[{regions, contacts_per_region, stiffness}];
  if (!problem) {
    PlantedOptions options;
    options.regions = regions;
    options.contacts = regions * contacts_per_region;
    options.stiffness = stiffness;
    problem = std::make_unique<ContactProblem>(make_planted_problem(options).problem);
  }
  return *problem;
}

void run(benchmark::State& state, Solver& solver, const ContactProblem& problem) {
  StopRule stop;
  stop.fixed_iterations = true;
  stop.max_iterations = kIterations;
  solver.prepare(problem);
  std::vector<double> r(3 * problem.contacts());
  double fastest = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    std::fill(r.begin(), r.end(), 0.0);
    const Stopwatch watch;
    benchmark::DoNotOptimize(solver.solve(r, stop, nullptr).iterations);
    fastest = std::min(fastest, watch.seconds());
  }
  state.counters["fastest"] = fastest;
  state.counters["per_contact_iteration"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * problem.contacts() * kIterations,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Speed-up by threads: compare real times of the rows of one problem.
void threads(benchmark::State& state, const char* name) {
  const ContactProblem& problem = planted(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const auto solver = make_region_solver(name, {}, {RegionMode::points, static_cast<int>(state.range(2))});
  run(state, *solver, problem);
}
void thread_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"regions", "contacts", "threads"})->UseRealTime();
  for (const int contacts : {5, 20, 50, 200, 1000}) {
    for (const int count : {1, 2, 4}) b->Args({24, contacts, count});
  }
  for (const int count : {1, 2, 4}) b->Args({5000, 4, count});
}
BENCHMARK_CAPTURE(threads, pgs, "pgs")->Apply(thread_sizes);

/// Split against whole on one thread: sparse kernel, and the O(n²) kernel of Lazarevych 2010 with every block
/// of W stored, zero or not (`dense`). `ca` is dense per island: its work is the same either way, only its
/// memory is nearer when split.
void split(benchmark::State& state, const char* name, const OptionMap& options, RegionMode mode) {
  const ContactProblem& problem = planted(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const auto solver = make_region_solver(name, options, {mode, 1});
  run(state, *solver, problem);
}
void split_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"regions", "contacts"});
  for (const int regions : {4, 8, 20}) b->Args({regions, 40});
}
const OptionMap kSparse;
const OptionMap kDense{{"kernel", "dense"}};
BENCHMARK_CAPTURE(split, pgs_whole, "pgs", kSparse, RegionMode::none)->Apply(split_sizes)->Args({5000, 4});
BENCHMARK_CAPTURE(split, pgs_regions, "pgs", kSparse, RegionMode::points)
    ->Apply(split_sizes)
    ->Args({5000, 4});
BENCHMARK_CAPTURE(split, dense_whole, "pgs", kDense, RegionMode::none)->Apply(split_sizes);
BENCHMARK_CAPTURE(split, dense_regions, "pgs", kDense, RegionMode::points)->Apply(split_sizes);
BENCHMARK_CAPTURE(split, ca_whole, "ca", kSparse, RegionMode::none)->Apply(split_sizes);
BENCHMARK_CAPTURE(split, ca_regions, "ca", kSparse, RegionMode::points)->Apply(split_sizes);

/// Set-up: partition, extraction and preparation of every region, explicit (points) and implicit (islands).
void prepare(benchmark::State& state, double stiffness, RegionMode mode) {
  const ContactProblem& problem = planted(24, 200, stiffness);
  const auto solver = make_region_solver("pgs", {}, {mode, static_cast<int>(state.range(0))});
  for (auto _ : state) solver->prepare(problem);
}
BENCHMARK_CAPTURE(prepare, points, 0.0, RegionMode::points)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();
BENCHMARK_CAPTURE(prepare, islands, 1.0, RegionMode::islands)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();

/// Set-up of many tiny regions, as a snapshot of a few falling bodies has them: whole against regions.
void prepare_small(benchmark::State& state, RegionMode mode) {
  const ContactProblem& problem = planted(static_cast<int>(state.range(0)), 2);
  const auto solver = make_region_solver("pgs", {}, {mode, static_cast<int>(state.range(1))});
  for (auto _ : state) solver->prepare(problem);
  state.counters["per_contact"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * problem.contacts(),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void small_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"regions", "threads"})->UseRealTime();
  for (const int regions : {20, 2000}) b->Args({regions, 1})->Args({regions, 2});
}
BENCHMARK_CAPTURE(prepare_small, whole, RegionMode::none)->Apply(small_sizes);
BENCHMARK_CAPTURE(prepare_small, regions, RegionMode::points)->Apply(small_sizes);
BENCHMARK_CAPTURE(prepare, islands_whole, 1.0, RegionMode::none)->ArgName("threads")->Arg(1)->UseRealTime();

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
