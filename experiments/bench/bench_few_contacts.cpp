// `auto` beside the solvers that it consists of, on problems of few contacts: a new solver, its set-up and a solve to
// kTolerance, in turn within one run.
//
// few_contacts/<contacts>: planted problems, mass points in sliding, sticking and open contact.
//   auto_s            seconds of `auto`
//   x_pgs, x_nncg,
//   x_anderson        theirs over those of `auto`
//   x_best            the least of these

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "contact/planted_problem.h"
#include "interleaved.h"
#include "solvers/registry.h"

namespace signorini::bench {
namespace {

constexpr double kTolerance = 1e-6;

void few_contacts(benchmark::State& state) {
  PlantedOptions options;
  options.contacts = static_cast<Index>(state.range(0));
  options.seed = 1;
  const ContactProblem problem = make_planted_problem(options).problem;
  std::vector<double> r(3 * problem.contacts());
  StopRule stop;
  stop.residual = kTolerance;
  stop.max_iterations = 100000;
  const auto solve_with = [&](const char* name) {
    return [&, name] {
      const auto solver = make_solver(name);
      solver->prepare(problem);
      std::fill(r.begin(), r.end(), 0.0);
      if (solver->solve(r, stop, nullptr).status != SolveStatus::converged)
        throw std::runtime_error(std::string(name) + " does not arrive");
    };
  };
  constexpr std::array names{"pgs", "nncg", "anderson"};
  std::vector<std::function<void()>> candidates{solve_with("auto")};
  for (const char* name : names) candidates.emplace_back(solve_with(name));
  const std::vector<double> seconds = least_seconds(state, Start::warm, candidates);
  state.counters["auto_s"] = seconds[0];
  double best = seconds[1];
  for (std::size_t i = 0; i < names.size(); ++i) {
    best = std::min(best, seconds[i + 1]);
    state.counters[std::string("x_") + names[i]] = seconds[i + 1] / seconds[0];
  }
  state.counters["x_best"] = best / seconds[0];
}
BENCHMARK(few_contacts)->Arg(4)->Arg(16)->Arg(64)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
