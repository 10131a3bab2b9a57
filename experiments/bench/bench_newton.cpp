// A step of `newton` and of `prox-newton` beside the factorisation that it makes, in turn within one run.
//
// <method>/<kind>/<contacts>: from the iterate after kBefore full steps from r = 0. Its time is that of a start there
// with one step less that of the start alone.
//   share      factorisation of the step's matrix / step
//   analysed   the same with the analysis of its pattern, which a step takes whose closed contacts are others / the
//              factorisation alone
//   order      rows of the matrix: three per closed contact
//   fill       numbers in L and U;  entries: in the matrix
//
// net, rings: factor_problems.h.

#include <benchmark/benchmark.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "contact/delassus_operator.h"
#include "factor_problems.h"
#include "interleaved.h"
#include "linalg/sparse_lu.h"
#include "solvers/newton/full_newton.h"
#include "solvers/newton/proximal_newton.h"

namespace signorini::bench {
namespace {

constexpr double kRegularisation = 0.01, kShift = 0.1;  // defaults of `newton` and `prox-newton`
constexpr int kBefore = 3;

/// The equations of a problem, and unit-free impulses on the way to its solution.
struct Setting {
  explicit Setting(const ContactProblem& problem) {
    ReducedProblem reduced = assemble_reduced(problem);
    const double scale = reduced.q.cwiseAbs().maxCoeff();
    data = make_gauss_seidel_data(std::move(reduced.W), std::move(reduced.q), problem.mu, FrictionLaw::cone,
                                  natural_tangent_step(FrictionLaw::cone));
    system.prepare(data);
    system.begin(scale);
    FullNewton steps;
    steps.prepare(system);
    x.assign(system.rows(), 0.0);
    steps.start(x, kRegularisation);
    for (int i = 0; i < kBefore; ++i) {
      if (!steps.step()) throw std::runtime_error("a matrix of Newton's method is singular");
    }
    x.assign(steps.iterate().begin(), steps.iterate().end());
  }

  GaussSeidelData data;
  NewtonSystem system;
  std::vector<double> x;
};

template <class Method>
void step(benchmark::State& state, MakeProblem problem, double parameter) {
  Setting setting(problem(static_cast<Index>(state.range(0))));
  Method method;
  method.prepare(setting.system);
  const auto start = [&] { method.start(setting.x, parameter); };
  start();
  method.step();  // its pattern is known from here on
  const SparseColumns A = setting.system.matrix();
  SparseLu known, fresh;
  if (!known.analyse(A)) throw std::runtime_error("the matrix is structurally singular");
  const std::vector<std::function<void()>> candidates{[&] {
                                                        start();
                                                        method.step();
                                                      },
                                                      start,
                                                      [&] { benchmark::DoNotOptimize(known.factor(A)); },
                                                      [&] {
                                                        fresh.analyse(A);
                                                        benchmark::DoNotOptimize(fresh.factor(A));
                                                      }};
  const std::vector<double> seconds = least_seconds(state, Start::warm, candidates);
  const double step_seconds = seconds[0] - seconds[1];
  state.counters["step_s"] = step_seconds;
  state.counters["factor_s"] = seconds[2];
  state.counters["share"] = seconds[2] / step_seconds;
  state.counters["analysed"] = seconds[3] / seconds[2];
  state.counters["order"] = static_cast<double>(A.rows());
  state.counters["entries"] = static_cast<double>(A.nonZeros());
  state.counters["fill"] = static_cast<double>(known.fill());
}

void newton(benchmark::State& state, MakeProblem problem) {
  step<FullNewton>(state, problem, kRegularisation);
}
void prox_newton(benchmark::State& state, MakeProblem problem) {
  step<ProximalNewton>(state, problem, kShift);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(1000)->Arg(4000)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(newton, net, net)->Apply(sizes);
BENCHMARK_CAPTURE(newton, rings, rings)->Apply(sizes);
BENCHMARK_CAPTURE(prox_newton, net, net)->Apply(sizes);
BENCHMARK_CAPTURE(prox_newton, rings, rings)->Apply(sizes);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
