// What changing states cost: iterations of conjugate residuals on recorded snapshots, beside those of the linear
// system with the final states frozen.
//
//   bench_active_set [--cold] [--frozen] [--detail] [--tolerance T] [--frames N] [--solver NAME]
//                    [--set KEY=VALUE]... FILE.h5...
//
// switching  the solvers (--solver: one instead of cr-full and cr-diag), from the recorded start (--cold: zero)
// frozen     with --frozen: states and sliding impulses of an answer of residual 1e-9; from the free velocity
//            and λ = 0
// --detail: a line per snapshot with the iterations of each, frozen Full and Diag last. --set: options of the
// solvers.
// Either ends where the referee's error is at most T (default 1e-4). Iterations: mean, median, most; and the
// snapshots that were not solved within 4 000 iterations, which count as 4 000.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "contact/residuals.h"
#include "krylov/conjugate_residuals.h"
#include "record/recording_file.h"
#include "solvers/active_set/saddle_system.h"
#include "solvers/registry.h"

namespace signorini::bench {
namespace {

constexpr int kMost = 4000;

struct Run {
  int iterations = kMost;
  bool solved = false;
};

/// Iterations of the frozen system until its impulses have the asked residual.
Run frozen(const ContactProblem& problem, const Vector& answer, FrictionLaw law, bool full,
           double tolerance) {
  PrimalSystem system;
  system.prepare(problem, law, Judge::exact, nullptr);
  SolveCounters counters;
  SaddleSystem saddle;
  saddle.prepare(system, StateRules{}, full, counters);
  const std::vector<double> start(system.v_free.begin(), system.v_free.end());
  saddle.start(system, span_of(answer), start, true);
  // everything but states and sliding impulses as if nothing were known
  saddle.change_states([](ActiveSet& states) { std::fill(states.lambda.begin(), states.lambda.end(), 0.0); });
  saddle.v = start;
  saddle.refresh();
  ConjugateResiduals method;
  method.resize(saddle);
  method.begin(full);
  method.restart(saddle);
  Run run;
  for (int k = 1; k <= kMost; ++k) {
    const KrylovStep step = method.step(saddle);
    if (saddle.residual <= (full ? 0.2 : 0.3) * tolerance * system.scale) return {k, true};
    if (step.stuck) return run;
    if (step.mended) {
      method.restart(saddle);
    } else if (!method.turn(saddle)) {
      return run;
    }
  }
  return run;
}

Run switching(const ContactProblem& problem, std::string_view solver_name, const OptionMap& options,
              bool cold, double tolerance) {
  const auto solver = make_solver(solver_name, options);
  solver->prepare(problem);
  std::vector<double> r(3 * problem.contacts(), 0.0);
  if (!cold && problem.warm_start.size() == count(r))
    std::copy(problem.warm_start.begin(), problem.warm_start.end(), r.begin());
  StopRule stop;
  stop.residual = tolerance;
  stop.max_iterations = kMost;
  const SolveReport report = solver->solve(r, stop, nullptr);
  const bool solved = report.status == SolveStatus::converged;
  return {solved ? report.iterations : kMost, solved};
}

void print(const std::string& label, const std::vector<Run>& runs) {
  if (runs.empty()) return;
  std::vector<int> n;
  int failed = 0;
  for (const Run& run : runs) {
    n.push_back(run.iterations);
    failed += run.solved ? 0 : 1;
  }
  std::sort(n.begin(), n.end());
  const double mean = std::accumulate(n.begin(), n.end(), 0.0) / static_cast<double>(n.size());
  fmt::print("{:32} mean {:7.1f}  median {:5}  most {:5}  not solved {} of {}\n", label, mean,
             n[n.size() / 2], n.back(), failed, n.size());
}

int run(int argc, char** argv) {
  bool cold = false, with_frozen = false, detail = false;
  double tolerance = 1e-4;
  std::size_t frames = 1000;
  OptionMap options;
  std::vector<std::string> files, solvers{"cr-full", "cr-diag"};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--cold") {
      cold = true;
    } else if (word == "--frozen") {
      with_frozen = true;
    } else if (word == "--detail") {
      detail = true;
    } else if (word == "--tolerance") {
      tolerance = std::stod(argv[++i]);
    } else if (word == "--frames") {
      frames = std::stoul(argv[++i]);
    } else if (word == "--solver") {
      solvers = {argv[++i]};
    } else if (word == "--set") {
      const std::string pair = argv[++i];
      options[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    } else {
      files.push_back(word);
    }
  }
  std::vector<Run> still[2];
  std::vector<std::vector<Run>> moving(solvers.size());
  for (const std::string& file : files) {
    const RecordingReader reader(file);
    const auto ids = reader.frames();
    const std::size_t every = std::max<std::size_t>(1, ids.size() / frames);
    for (std::size_t i = every - 1; i < ids.size(); i += every) {
      const Frame frame = reader.read(ids[i]);
      const ContactProblem& problem = frame.problem;
      if (problem.contacts() == 0) continue;
      std::vector<int> seen;
      for (std::size_t s = 0; s < solvers.size(); ++s) {
        moving[s].push_back(switching(problem, solvers[s], options, cold, tolerance));
        seen.push_back(moving[s].back().iterations);
      }
      if (with_frozen) {
        Vector answer = Vector::Zero(3 * problem.contacts());
        const auto solver = make_solver("cr-full", {{"bounds", "adaptive"}});
        solver->prepare(problem);
        StopRule stop;
        stop.residual = 1e-9;
        stop.max_iterations = 20000;
        if (solver->solve(span_of(answer), stop, nullptr).status != SolveStatus::converged) {
          fmt::print("{} {}: no answer\n", file, ids[i]);
          continue;
        }
        for (int full = 0; full < 2; ++full)
          still[full].push_back(frozen(problem, answer, FrictionLaw::cone, full == 1, tolerance));
        seen.push_back(still[1].back().iterations);
        seen.push_back(still[0].back().iterations);
      }
      if (detail)
        fmt::print("{} {} contacts {}: {}\n", file, ids[i], problem.contacts(), fmt::join(seen, " "));
    }
  }
  print("frozen, Full", still[1]);
  print("frozen, Diag", still[0]);
  for (std::size_t s = 0; s < solvers.size(); ++s) print(solvers[s], moving[s]);
  return 0;
}

}  // namespace
}  // namespace signorini::bench

int main(int argc, char** argv) { return signorini::bench::run(argc, argv); }
