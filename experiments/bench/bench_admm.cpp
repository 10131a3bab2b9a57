// An iteration of `admm` beside the bytes that it must stream: it solves with one factor of W + t S, which reads the
// factor, and never W itself.
//
// iteration/<kind>/<contacts>: with a penalty that does not change.
//   bytes      of an iteration: the numbers of the factor for both triangular solves, and kVectors vectors of 3m numbers
//   GB_per_s   bytes / time of an iteration;  of_read: over the bandwidth of reading as many bytes, in the same run
//   solve      share of the solve with the factor in the iteration
//   bytes_W    of W, which a method with a product per iteration would read
// read/<megabytes>: the yardstick alone, the fastest of several plain sums over so much memory (memory_bandwidth.h).
//
// net, rings: factor_problems.h. Indices of a sparse factor come on top: a ratio below 1 is what they and the dependences
// of a triangular solve cost.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "contact/delassus_operator.h"
#include "factor_problems.h"
#include "interleaved.h"
#include "memory_bandwidth.h"
#include "solvers/first_order/admm.h"
#include "solvers/relaxation/gauss_seidel.h"

namespace signorini::bench {
namespace {

/// Read or written in an iteration: y, r̂ before, z, shift (a third), weights, c, q; r̂, u; x, y⁺, z⁺.
constexpr double kVectors = 12.0;

/// As `Admm` has them.
struct Setting {
  explicit Setting(const ContactProblem& problem) {
    ReducedProblem reduced = assemble_reduced(problem);
    scale = reduced.q.cwiseAbs().maxCoeff();
    data = make_gauss_seidel_data(std::move(reduced.W), std::move(reduced.q), problem.mu, FrictionLaw::cone,
                                  TangentStep::scalar);
    std::vector<InverseMass> inverse_mass;
    for (const Matrix3& W_kk : data.diagonal) inverse_mass.push_back(inverse_mass_of(W_kk));
    cones.prepare(FrictionLaw::cone, data.mu, std::move(inverse_mass));
    resolvent.prepare(data.W, span_of(std::as_const(data.q)), cones);
    settings.penalty = Penalty::fixed;
    iteration.prepare(settings, cones, resolvent);
    r.assign(cones.rows(), 0.0);
    iteration.start(r, span_of(std::as_const(data.q)), scale, counters);
  }

  GaussSeidelData data;
  ContactCones cones;
  DelassusResolvent resolvent;
  AdmmSettings settings;
  AdmmIteration iteration;
  SolveCounters counters;
  std::vector<double> r;
  double scale = 1.0;
};

double read_seconds(const std::vector<double>& seconds, std::size_t first) {
  return *std::min_element(seconds.begin() + static_cast<std::ptrdiff_t>(first), seconds.end());
}

void iteration(benchmark::State& state, MakeProblem problem) {
  Setting setting(problem(static_cast<Index>(state.range(0))));
  const PencilFactor& factor = setting.resolvent.pencil();
  const double numbers = static_cast<double>(factor.fill()) * (factor.is_symmetric() ? 2.0 : 1.0);
  const double bytes = sizeof(double) * (numbers + kVectors * static_cast<double>(setting.r.size()));
  const std::vector<double> memory(static_cast<std::size_t>(bytes / sizeof(double)), 1.0);
  const std::vector<double> right(setting.r.size(), 1.0);
  std::vector<double> x(right);
  std::vector<std::function<void()>> candidates{
      [&] { benchmark::DoNotOptimize(setting.iteration.iterate(setting.r).estimate); },
      [&] {
        std::copy(right.begin(), right.end(), x.begin());
        factor.solve(x);
      }};
  for (const Reader read : readers())
    candidates.emplace_back([read, &memory] { benchmark::DoNotOptimize(read(memory)); });
  const Start how = bytes > 64e6 ? Start::cold : Start::warm;
  const std::vector<double> seconds = least_seconds(state, how, candidates);
  const double bandwidth = bytes / read_seconds(seconds, 2);
  state.counters["iteration_s"] = seconds[0];
  state.counters["bytes"] = bytes;
  state.counters["bytes_W"] =
      static_cast<double>(setting.data.W.blocks()) * (9 * sizeof(double) + sizeof(Index));
  state.counters["GB_per_s"] = bytes / seconds[0] / 1e9;
  state.counters["read_GB_per_s"] = bandwidth / 1e9;
  state.counters["of_read"] = bytes / seconds[0] / bandwidth;
  state.counters["solve"] = seconds[1] / seconds[0];
  state.counters["order"] = static_cast<double>(factor.size());
  state.counters["fill"] = static_cast<double>(factor.fill());
}

void read(benchmark::State& state) {
  const std::vector<double> memory(static_cast<std::size_t>(state.range(0)) * 1'000'000 / sizeof(double),
                                   1.0);
  std::vector<std::function<void()>> candidates;
  for (const Reader one : readers())
    candidates.emplace_back([one, &memory] { benchmark::DoNotOptimize(one(memory)); });
  const std::vector<double> seconds = least_seconds(state, Start::warm, candidates);
  state.counters["GB_per_s"] =
      static_cast<double>(memory.size() * sizeof(double)) / read_seconds(seconds, 0) / 1e9;
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(1000)->Arg(10'000)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(iteration, net, net)->Apply(sizes);
BENCHMARK_CAPTURE(iteration, rings, rings)->Apply(sizes);
BENCHMARK(read)->Arg(8)->Arg(800)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
