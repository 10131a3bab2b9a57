// The stop of Verschoor and Jalba 2019, by every method that has it.
#include "solvers/thresholds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "solvers/primal_system.h"
#include "solvers/registry.h"

namespace signorini::thresholds_test {
namespace {

struct Method {
  const char* name;
  OptionMap options;
};

/// Every method with the stop, and the free sweeps of ica.
std::vector<Method> methods() {
  return {{"cr-full", {{"stop", "paper"}}},  {"cr-diag", {{"stop", "paper"}}},
          {"sp-cr", {{"stop", "paper"}}},    {"sp-active-set", {{"stop", "paper"}}},
          {"ica", {{"stop", "thresholds"}}}, {"ica", {{"stop", "thresholds"}, {"start", "swept"}}}};
}

std::unique_ptr<Solver> build(const Method& method, const std::string& eps1, const std::string& eps2) {
  OptionMap options = method.options;
  options["judge"] = "own";
  options["eps1"] = eps1;
  options["eps2"] = eps2;
  return make_solver(method.name, options);
}

ContactProblem planted(std::uint64_t seed = 3) {
  PlantedOptions options;
  options.contacts = 20;
  options.stiffness = 20.0;
  options.seed = seed;
  return make_planted_problem(options).problem;
}

StopRule no_residual() {
  StopRule stop;
  stop.residual = 0.0;
  stop.max_iterations = 20000;
  return stop;
}

struct Answer {
  SolveReport report;
  std::vector<double> r;
};

Answer solve(Solver& solver, const ContactProblem& problem) {
  solver.prepare(problem);
  Answer answer;
  answer.r.assign(3 * problem.contacts(), 0.0);
  answer.report = solver.solve(answer.r, no_residual(), nullptr);
  return answer;
}

// M v = H r + f and what the contacts ask, by the factor of M: the answer of every method is as good as its thresholds
// say, whatever it believes of its own velocity.
TEST(Thresholds, EndEveryMethodAtTheirOwnAccuracy) {
  const ContactProblem problem = planted();
  const Referee referee(problem);
  for (const Method& method : methods()) {
    int before = 0;
    double worst = 0.0;
    for (const char* eps : {"1e-3", "1e-6", "1e-9"}) {
      const auto solver = build(method, eps, eps);
      const Answer answer = solve(*solver, problem);
      EXPECT_EQ(enum_name(answer.report.status), "converged") << method.name << ", eps " << eps;
      EXPECT_EQ(answer.report.message, "paper's rule") << method.name << ", eps " << eps;
      EXPECT_GT(answer.report.iterations, before) << method.name << ", eps " << eps;
      before = answer.report.iterations;
      worst = referee.measure(answer.r, {}).residual;
      // both thresholds are met as velocities: over the least mass (0.1 kg here at least) and over dt
      EXPECT_LE(worst * referee.velocity_scale(), 1e3 * std::stod(eps) / problem.dt)
          << method.name << ", eps " << eps;
    }
    EXPECT_LE(worst, 1e-5) << method.name;
  }
}

TEST(Thresholds, AreRefusedWhereTheyMeanNothing) {
  ContactProblem timeless = planted();
  timeless.dt = 0.0;
  for (const Method& method : methods()) {
    const auto solver = build(method, "1e-3", "1e-3");
    EXPECT_NE(solver->unsupported_reason(timeless).find("time step"), std::string::npos) << method.name;
    EXPECT_THROW(build(method, "0", "1e-3"), UsageError) << method.name;
    EXPECT_THROW(build(method, "1e-3", "-1"), UsageError) << method.name;
    EXPECT_THROW(build(method, "nan", "1e-3"), UsageError) << method.name;
  }
  // a factor of M gives the free velocity, so that there is nothing to sweep for
  EXPECT_THROW(make_solver("ica", {{"start", "swept"}, {"judge", "exact"}}), UsageError);
}

// A timed run of n iterations knows no rule.
TEST(Thresholds, DoNotEndAFixedNumberOfIterations) {
  const ContactProblem problem = planted();
  for (const Method& method : methods()) {
    const auto solver = build(method, "1", "1");
    solver->prepare(problem);
    StopRule fixed;
    fixed.residual = 1e-6;
    fixed.fixed_iterations = true;
    fixed.max_iterations = 17;
    std::vector<double> r(3 * problem.contacts(), 0.0);
    EXPECT_EQ(solver->solve(r, fixed, nullptr).iterations, 17) << method.name;
  }
}

// v₀ = v⁻ and the pull f − M v⁻ instead of the free velocity: another start of the same problem.
TEST(Thresholds, TheStartOfTheStepGivesTheAnswerOfTheFreeVelocity) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ContactProblem problem = planted(seed);
    problem.v_minus = Vector::LinSpaced(problem.M.rows(), -1.0, 1.0);
    const auto answer = [&problem, seed](const char* name, OptionMap options) {
      options["judge"] = "own";
      const auto solver = make_solver(name, options);
      solver->prepare(problem);
      std::vector<double> r(3 * problem.contacts(), 0.0);
      StopRule stop;
      stop.residual = 1e-10;
      stop.max_iterations = 20000;
      EXPECT_EQ(enum_name(solver->solve(r, stop, nullptr).status), "converged") << name << ", seed " << seed;
      return Vector(Eigen::Map<Vector>(r.data(), static_cast<Eigen::Index>(r.size())));
    };
    const Vector free = answer("ica", {{"start", "free"}});
    const double size = free.cwiseAbs().maxCoeff();
    // one answer each to 1e-10 of the velocities; W's condition is below 1e3 here
    EXPECT_LE((answer("ica", {{"start", "swept"}}) - free).cwiseAbs().maxCoeff(), 1e-6 * size)
        << "seed " << seed;
  }
}

TEST(Thresholds, PullIsWhatTheStartOfTheStepLeavesOfTheImpulse) {
  ContactProblem problem = planted();
  problem.v_minus = Vector::LinSpaced(problem.M.rows(), -1.0, 1.0);
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr, Origin::start);
  const Vector expected = problem.f - problem.M * problem.v_minus;
  ASSERT_GE(system.pull.size(), expected.size());
  const double rounding = 1e-14 * problem.f.cwiseAbs().maxCoeff() +
                          1e-14 * Matrix(problem.M).cwiseAbs().rowwise().sum().maxCoeff();
  for (Eigen::Index i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(system.pull[i], expected[i], rounding) << i;
    EXPECT_EQ(system.origin[i], problem.v_minus[i]) << i;
  }
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
  EXPECT_EQ(system.pull.size(), 0);
}

// Sweeps without a contact impulse are a phase of their own, and are paid once a step.
TEST(Thresholds, IcaCountsTheSweepsForTheFreeVelocityOnceAStep) {
  const ContactProblem problem = planted();
  const auto solver = build({"ica", {{"stop", "thresholds"}, {"start", "swept"}}}, "1e-6", "1e-6");
  Answer first = solve(*solver, problem);
  EXPECT_GT(first.report.phase_iterations[1], 0);
  EXPECT_GT(first.report.phase_iterations[0], 0);
  EXPECT_EQ(first.report.phase_iterations[0] + first.report.phase_iterations[1], first.report.iterations);

  solver->update_contacts(problem);
  const SolveReport again = solver->solve(first.r, no_residual(), nullptr);
  EXPECT_EQ(again.phase_iterations[1], 0);
  EXPECT_LT(again.iterations, first.report.iterations);
  EXPECT_EQ(enum_name(again.status), "converged");
}

// Contacts that nothing presses: the sweeps alone give the answer.
TEST(Thresholds, IcaNeedsOnlyTheFreeSweepsWhereEverythingSeparates) {
  ContactProblem problem = planted();
  for (Eigen::Index k = 0; k < problem.w.size(); k += 3) problem.w[k] = 1e3;
  const auto solver = build({"ica", {{"stop", "thresholds"}, {"start", "swept"}}}, "1e-9", "1e-9");
  const Answer answer = solve(*solver, problem);
  EXPECT_EQ(answer.report.message, "paper's rule");
  EXPECT_EQ(answer.report.phase_iterations[0], 0);
  for (const double x : answer.r) EXPECT_EQ(x, 0.0);
}

// Algorithm 1, line 22, second test: rows that contradict each other leave a residual, but no slope. A node between two
// floors that both push by 1 m/s; the best compromise is rest.
TEST(Thresholds, LeastSquaresEndsWhereRowsContradictEachOther) {
  ContactProblem problem = planted();
  const Eigen::Index m = problem.contacts();
  Matrix H(problem.H.rows(), 3 * m + 3);
  H << Matrix(problem.H), -Matrix(problem.H).middleCols<3>(0);
  problem.H = H.sparseView();
  problem.w.conservativeResize(3 * m + 3);
  problem.w[0] = -1.0;
  problem.w.tail<3>() << -1.0, 0.0, 0.0;
  problem.mu.setZero(m + 1);  // with friction the bounds grow with the impulses, which have no limit here
  for (const char* name : {"cr-full", "cr-diag"}) {
    const OptionMap options{{"judge", "own"}, {"stop", "paper"}, {"eps1", "1e-6"}, {"eps2", "1e-6"}};
    StopRule stop = no_residual();
    stop.max_iterations = 3000;
    const auto status = [&](bool least_squares) {
      OptionMap all = options;
      all["least_squares"] = least_squares ? "true" : "false";
      const auto solver = make_solver(name, all);
      solver->prepare(problem);
      std::vector<double> r(3 * problem.contacts(), 0.0);
      const SolveReport report = solver->solve(r, stop, nullptr);
      for (const double x : r) EXPECT_TRUE(std::isfinite(x)) << name;
      return report.status;
    };
    EXPECT_NE(enum_name(status(false)), "converged") << name;
    EXPECT_EQ(enum_name(status(true)), "converged") << name;
  }
}

}  // namespace
}  // namespace signorini::thresholds_test
