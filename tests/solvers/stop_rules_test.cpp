// What ends a solve, what it is called, and which questions are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

namespace signorini::stop_rules_test {
namespace {

struct Outcome {
  SolveReport report;
  std::vector<double> r;
  LawSpec law;
};

Outcome run(std::string_view name, const OptionMap& options, const ContactProblem& problem,
            const StopRule& stop) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  Outcome outcome;
  outcome.law = solver->common().spec();
  outcome.r.assign(3 * problem.contacts(), 0.0);
  outcome.report = solver->solve(outcome.r, stop, nullptr);
  return outcome;
}

StopRule to(double residual, int iterations = 10000) {
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  return stop;
}

std::string refusal(std::string_view name, const OptionMap& options) {
  try {
    make_solver(name, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// Solvers on velocities take no W alone.
bool takes(const SolverEntry& entry, const ContactProblem& problem) {
  return make_solver(entry.name)->unsupported_reason(problem).empty();
}

TEST(StopRules, TheResidualIsRelativeToTheScaleThatIsAskedFor) {
  const PlantedProblem planted = make_planted_problem({});
  const Referee referee(planted.problem);
  for (const SolverEntry& entry : solver_registry()) {
    StopRule strict = to(1e-4);
    strict.velocity_scale = 1e-3 * referee.velocity_scale();
    const Outcome outcome = run(entry.name, {}, planted.problem, strict);
    EXPECT_EQ(enum_name(outcome.report.status), "converged") << entry.name;
    EXPECT_LE(referee.measure(outcome.r, outcome.law).residual, 1e-7) << entry.name;
  }
}

/// Squares of speeds below 1e-154 m/s vanish in double precision.
TEST(StopRules, NobodyIsConvergedByUnderflow) {
  for (const double factor : {1e-100, 1e-129, 1e-131, 1e-145, 1e-160, 1e-170, 1e-290}) {
    ContactProblem problem = make_planted_problem({}).problem;
    problem.f *= factor;
    problem.w *= factor;
    const Referee referee(problem);
    for (const SolverEntry& entry : solver_registry()) {
      const Outcome outcome = run(entry.name, {}, problem, to(1e-6, 300));
      if (enum_name(outcome.report.status) != "converged") continue;
      EXPECT_LE(referee.measure(outcome.r, outcome.law).residual, 1e-6) << entry.name << " at " << factor;
    }
  }
}

TEST(StopRules, WithoutAToleranceOnlyTheLimitsAct) {
  const PlantedProblem planted = make_planted_problem({});
  for (const char* name : {"pgs", "ca"}) {
    const Outcome outcome = run(name, {}, planted.problem, to(0.0, 321));
    EXPECT_EQ(outcome.report.iterations, 321) << name;
    EXPECT_EQ(enum_name(outcome.report.status), "iteration_limit") << name;
    EXPECT_EQ(outcome.report.products, 321) << name << ": no error was asked for, none may be paid for";
  }
}

TEST(StopRules, AFixedNumberOfSweepsPaysForNothingElse) {
  const PlantedProblem planted = make_planted_problem({});
  StopRule stop = to(1e-6, 40);
  stop.fixed_iterations = true;
  const Outcome outcome = run("pgs", {}, planted.problem, stop);
  EXPECT_EQ(outcome.report.iterations, 40);
  EXPECT_EQ(outcome.report.products, 40);
}

TEST(StopRules, AFixedNumberOfConjugateGradientStepsPaysTwoProductsEach) {
  const PlantedProblem planted = make_planted_problem({});
  StopRule stop = to(1e-6, 10);
  stop.fixed_iterations = true;
  const Outcome outcome = run("pcg", {}, planted.problem, stop);
  EXPECT_EQ(outcome.report.iterations, 10);
  EXPECT_EQ(outcome.report.products, 21);  // one for the start
  EXPECT_TRUE(std::isnan(outcome.report.own_residual)) << "measured although nobody asked";
}

TEST(StopRules, AContactThatNothingCanOpenIsStalled) {
  // Two fixed bodies approaching at 1 m/s: W vanishes, no impulse helps.
  const zoo::PointWorld world{
      {2.0}, {{0, 0, -2}}, {{-1, -1, zoo::floor_frame(), 0.5, {-1, 0, 0}}, {0, -1, zoo::floor_frame(), 0.5}}};
  for (const SolverEntry& entry : solver_registry()) {
    const Outcome outcome = run(entry.name, {}, world.build(), to(1e-6, 100000));
    EXPECT_EQ(enum_name(outcome.report.status), "stalled") << entry.name;
    // the other contact is solved, to roundings, which `admm-global` may magnify a hundred times
    EXPECT_NEAR(outcome.r[3], 4.0, 1e3 * 4.0 * std::numeric_limits<double>::epsilon()) << entry.name;
    EXPECT_NEAR(outcome.report.own_residual, 0.5, 1e-12) << entry.name;
  }
}

TEST(StopRules, AContactThatCannotMoveSidewaysStillCarries) {
  // A body on a rail: W_TT = 0, with and without a tangential velocity that nothing can change.
  for (const double drift : {0.0, 0.3}) {
    const ContactProblem problem = zoo::make_dual(zoo::vector_of({2, 0, 0}).asDiagonal().toDenseMatrix(),
                                                  zoo::vector_of({-1, drift, 0}), zoo::vector_of({0.5}));
    for (const SolverEntry& entry : solver_registry()) {
      if (!takes(entry, problem)) continue;
      for (const char* law : {"cone", "pyramid"}) {
        if (!(std::string_view(law) == "cone" ? entry.traits.cone : entry.traits.pyramid)) continue;
        const Outcome outcome = run(entry.name, {{"law", law}}, problem, to(1e-12, 1000));
        EXPECT_EQ(enum_name(outcome.report.status), "converged") << entry.name << " " << law;
        // the asked residual times U/W_NN = 0.5 kg m/s, and what is lost on the path through M instead of W
        EXPECT_NEAR(outcome.r[0], 0.5, 1e-12) << entry.name << " " << law;
        EXPECT_LE(std::hypot(outcome.r[1], outcome.r[2]), 0.25 * std::sqrt(2.0) + 1e-12)
            << entry.name << " " << law;
      }
    }
  }
}

TEST(StopRules, DivergenceLeavesFiniteImpulses) {
  // W_NN = [[1, −3], [−3, 1]] is indefinite: both impulses grow by nine per sweep without end.
  Matrix W = Matrix::Identity(6, 6);
  W(0, 3) = W(3, 0) = -3.0;
  const ContactProblem problem =
      zoo::make_dual(W, zoo::vector_of({-1, 0, 0, -1, 0, 0}), zoo::vector_of({0.5, 0.5}));
  for (const SolverEntry& entry : solver_registry()) {
    if (!takes(entry, problem)) continue;
    for (const bool fixed : {false, true}) {
      StopRule stop = to(1e-6, 100000);
      stop.fixed_iterations = fixed;
      const Outcome outcome = run(entry.name, {}, problem, stop);
      const std::string_view status = enum_name(outcome.report.status);
      // asked for a number of iterations, a method that moves without end uses them up
      const bool used_up = fixed && status == "iteration_limit";
      EXPECT_TRUE(status == "diverged" || status == "stalled" || used_up) << entry.name << ": " << status;
      for (const double x : outcome.r) EXPECT_TRUE(std::isfinite(x)) << entry.name;
    }
  }
  EXPECT_EQ(enum_name(run("pgs", {}, problem, to(1e-6, 100000)).report.status), "diverged");
}

TEST(PaperRules, CapTheSweepsAndTheConjugateGradientSteps) {
  const zoo::Specimen hard =
      zoo::specimen("planted_rough");  // five contacts that Gauss–Seidel does not solve
  const OptionMap never{{"stop", "paper"}, {"eps", "0"}, {"delta", "0"}};
  EXPECT_EQ(run("pgs", never, hard.problem, to(1e-12)).report.iterations, 100);
  OptionMap fewer = never;
  fewer["n_max"] = "17";
  EXPECT_EQ(run("pgs", fewer, hard.problem, to(1e-12)).report.iterations, 17);
  const Outcome cg = run("pcg", {{"stop", "paper"}, {"eps", "0"}, {"delta", "0"}, {"form", "true"}},
                         hard.problem, to(1e-12));
  EXPECT_EQ(cg.report.iterations, 2 * 15);
  const OptionMap combined{{"stop", "paper"}, {"tol_cg", "0"}, {"eps_cg", "0"},
                           {"delta_cg", "0"}, {"eps_gs", "0"}, {"delta_gs", "0"}};
  const Outcome both = run("pcg-pgs", combined, hard.problem, to(1e-12));
  EXPECT_EQ(both.report.phase_iterations[0], 2 * 15);
  EXPECT_EQ(both.report.iterations, 2 * 15 + 100);
}

TEST(PaperRules, EachThresholdEndsTheLoopOnItsOwn) {
  const PlantedProblem planted = make_planted_problem({});
  for (const char* name : {"pgs", "pcg"}) {
    for (const char* key : {"eps", "delta"}) {
      OptionMap options{{"stop", "paper"}, {"eps", "0"}, {"delta", "0"}};
      options[key] = "1e-3";
      const Outcome loose = run(name, options, planted.problem, to(1e-14));
      EXPECT_EQ(loose.report.message, "paper's rule") << name << " " << key;
      EXPECT_EQ(enum_name(loose.report.status), "stalled")
          << name << " " << key;  // far from the 1e-14 asked for
      options[key] = "1e-6";
      const Outcome tight = run(name, options, planted.problem, to(1e-14));
      EXPECT_GT(tight.report.iterations, loose.report.iterations) << name << " " << key;
      EXPECT_LT(tight.report.own_residual, loose.report.own_residual) << name << " " << key;
      // with no residual asked for, the paper's own rule is what convergence means
      EXPECT_EQ(enum_name(run(name, options, planted.problem, to(0.0)).report.status), "converged")
          << name << " " << key;
    }
  }
}

TEST(PaperRules, TheBestIterateIsKept) {
  // Algorithm 2 as printed wanders off: the answer is the best of all iterates, not the last.
  const PlantedProblem planted = make_planted_problem({});
  const Referee referee(planted.problem);
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= 60; ++k) {
    StopRule stop = to(1e-12, k);
    stop.fixed_iterations = true;
    best = std::min(best,
                    referee.measure(run("pcg", {{"form", "printed"}}, planted.problem, stop).r, {}).residual);
  }
  const Outcome kept = run("pcg", {{"form", "printed"}}, planted.problem, to(1e-12, 60));
  // two ways to compute u: through W and through M
  EXPECT_NEAR(referee.measure(kept.r, {}).residual, best, 1e-12);
}

TEST(Registry, HoldsTheContractNamesWithHelpForEveryOption) {
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_registry()) {
    names.emplace_back(entry.name);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.source.empty());
    const std::vector<OptionDescription> rows = entry.describe();
    EXPECT_GE(rows.size(), 3U);
    OptionMap copy;
    for (const OptionDescription& row : rows) {
      EXPECT_FALSE(row.help.empty()) << entry.name << " " << row.key;
      copy[row.key] = row.value;
    }
    // the printed defaults are the defaults
    EXPECT_EQ(make_solver(entry.name, copy)->options(), make_solver(entry.name)->options());
    EXPECT_EQ(make_solver(entry.name)->name(), entry.name);
  }
  for (const char* name : {"pgs", "pcg", "pcg-pgs", "ca", "ica", "ica-cr", "cr-diag", "cr-full", "minres",
                           "sp-active-set", "sp-cr", "body-newton", "sap", "reference"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(Registry, RefusesWhatDoesNotExistAndNamesTheNearest) {
  EXPECT_EQ(refusal("pgss", {}), "unknown solver 'pgss' (did you mean 'pgs'?)");
  EXPECT_EQ(refusal("pgs", {{"tangant", "scalar"}}),
            "solver 'pgs': unknown option 'tangant' (did you mean 'tangent'?)");
  EXPECT_NE(refusal("pcg", {{"beta", "hs"}}), "");
  EXPECT_NE(refusal("pgs", {{"eps", "-1"}}), "");
  EXPECT_NE(refusal("pgs", {{"n_max", "0"}}), "");
  EXPECT_NE(refusal("pcg-pgs", {{"tol_cg", "-1"}}), "");
  EXPECT_NE(refusal("pcg-pgs", {{"delta_cg", "1e-9"}}), "") << "the CG phase must not be the stricter one";
}

/// 7517² blocks of 76 bytes are 3.9995 GiB, 7518² are 4.0005 GiB.
TEST(DenseKernel, RefusesWhatDoesNotFit) {
  for (const char* name : {"pgs", "pcg", "pcg-pgs"}) {
    const auto dense = make_solver(name, {{"kernel", "dense"}});
    EXPECT_EQ(dense->island_refusal(7517), "") << name;
    EXPECT_NE(
        dense->island_refusal(7518).find("a dense W of 7518 contacts would need 4 GiB, more than 4 GiB"),
        std::string::npos)
        << name;
    EXPECT_EQ(make_solver(name)->island_refusal(7518), "") << name;
  }
  EXPECT_EQ(make_solver("ca")->island_refusal(7517), "");
  EXPECT_NE(make_solver("ca")->island_refusal(7518), "");
  // `ca` stores the blocks of each island alone
  const ContactProblem two = make_planted_problem({.contacts = 8000, .regions = 2}).problem;
  EXPECT_NE(make_solver("pgs", {{"kernel", "dense"}})->unsupported_reason(two), "");
  EXPECT_EQ(make_solver("ca")->unsupported_reason(two), "");
}

}  // namespace
}  // namespace signorini::stop_rules_test
