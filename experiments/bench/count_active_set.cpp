// What changing states cost: iterations of conjugate residuals on recorded snapshots, beside those of the linear
// system with the final states frozen.
//
//   count_active_set [--cold] [--frozen] [--detail] [--tolerance T] [--frames N] [--solver NAME]
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
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "contact/residuals.h"
#include "guarded.h"
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
  const std::vector<double> start(system.origin.begin(), system.origin.end());
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

struct Settings {
  bool cold = false, frozen = false, detail = false;
  double tolerance = 1e-4;
  long frames = 1000;
  OptionMap options;
  std::vector<std::string> files, solvers{"cr-full", "cr-diag"};
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw_usage("count_active_set: {} needs a value", word);
      return argv[++i];
    };
    const auto number = [&] {
      const std::string text = value();
      char* end = nullptr;
      const double result = std::strtod(text.c_str(), &end);
      if (!(result > 0.0) || *end != '\0')
        throw_usage("count_active_set: {} {} is not a positive number", word, text);
      return result;
    };
    if (word == "--cold") {
      settings.cold = true;
    } else if (word == "--frozen") {
      settings.frozen = true;
    } else if (word == "--detail") {
      settings.detail = true;
    } else if (word == "--tolerance") {
      settings.tolerance = number();
    } else if (word == "--frames") {
      settings.frames = static_cast<long>(std::ceil(number()));
    } else if (word == "--solver") {
      settings.solvers = {value()};
    } else if (word == "--set") {
      const std::string pair = value();
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos) throw_usage("count_active_set: --set {} is not KEY=VALUE", pair);
      settings.options[pair.substr(0, equals)] = pair.substr(equals + 1);
    } else if (word.starts_with("-")) {
      throw_usage("count_active_set: {} is no option; the head of count_active_set.cpp names them", word);
    } else {
      settings.files.push_back(word);
    }
  }
  if (settings.files.empty()) throw_usage("count_active_set: which recordings (FILE.h5)?");
  return settings;
}

int run(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const auto& [cold, with_frozen, detail, tolerance, frames, options, files, solvers] = settings;
  std::vector<Run> still[2];
  std::vector<std::vector<Run>> moving(solvers.size());
  for (const std::string& file : files) {
    const RecordingReader reader(file);
    const auto ids = reader.frames();
    const std::size_t every = std::max<std::size_t>(1, ids.size() / static_cast<std::size_t>(frames));
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

int main(int argc, char** argv) { return signorini::bench::guarded(signorini::bench::run, argc, argv); }
