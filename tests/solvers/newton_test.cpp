// Pieces of Newton methods against finite differences and identities; `newton`, `prox-newton` and `ipm` on problems
// with known answers.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <random>

#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/newton/contact_piece.h"
#include "solvers/newton/newton_system.h"
#include "solvers/newton/second_order_cone.h"
#include "solvers/registry.h"

namespace signorini::newton_test {
namespace {

Vector3 random_vector(std::mt19937& engine) {
  std::uniform_real_distribution<double> entry(-1.0, 1.0);
  return {entry(engine), entry(engine), entry(engine)};
}

/// dF of central differences against A_r dr + A_u du. F is piecewise smooth: points whose piece changes within the
/// difference are skipped.
template <class Law>
void compare_with_differences() {
  std::mt19937 engine(7);
  constexpr double kStep = 1e-6;
  int compared = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const ContactSteps rho{0.7, 0.4};
    const double mu = 0.6;
    Vector3 r = random_vector(engine);
    const Vector3 u = random_vector(engine), dr = random_vector(engine), du = random_vector(engine);
    r[0] += 0.5;
    const ContactPiece piece = contact_piece<Law>(mu, rho, r, u);
    const auto at = [&](double t) -> Vector3 {
      return contact_residual<Law>(mu, rho, r + t * dr, u + t * du);
    };
    EXPECT_LE((piece.F - at(0.0)).norm(), 1e-15);
    const Vector3 forward = (at(kStep) - at(0.0)) / kStep, backward = (at(0.0) - at(-kStep)) / kStep;
    if ((forward - backward).norm() > 1e-4 || piece.open) continue;
    const Vector3 linear = piece.by_r * dr + piece.by_u * du;
    // second derivatives are bounded by μ/|t| ≲ 10² here
    EXPECT_LE((0.5 * (forward + backward) - linear).norm(), 1e-4) << "trial " << trial;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(ContactPiece, IsTheDerivativeOfTheEquations) {
  compare_with_differences<FrictionCone>();
  compare_with_differences<FrictionPyramid>();
}

TEST(ContactPiece, WithoutFrictionTheTangentialImpulseVanishes) {
  const ContactPiece piece =
      contact_piece<FrictionCone>(0.0, {1.0, 1.0}, Vector3(1.0, 0.0, 0.0), Vector3(0.0, 0.0, 0.0));
  EXPECT_FALSE(piece.open);
  EXPECT_EQ(piece.by_u.bottomRows<2>().norm(), 0.0);
  EXPECT_EQ(piece.by_r(1, 1), 1.0);
}

Vector3 inside_the_cone(std::mt19937& engine) {
  Vector3 x = random_vector(engine);
  x[0] = x.tail<2>().norm() + std::abs(x[0]) + 0.01;
  return x;
}

TEST(SecondOrderCone, TheScalingTakesBothPointsToOne) {
  std::mt19937 engine(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Vector3 x = inside_the_cone(engine), z = inside_the_cone(engine), v = random_vector(engine);
    const NesterovTodd scaling(x, z);
    const double size = x.norm() + z.norm();
    // a few dozen operations, divided by the distance from the border, at least 1e-2
    const double tolerance = 1e-10 * size;
    EXPECT_LE((scaling.scale(x) - scaling.unscale(z)).norm(), tolerance);
    EXPECT_LE((scaling.squared() * x - z).norm(), tolerance);
    EXPECT_LE((scaling.unscale(scaling.scale(v)) - v).norm(), tolerance);
    EXPECT_LE((scaling.scale(scaling.scale(v)) - scaling.squared() * v).norm(), 1e-8 * size);
    EXPECT_LE((jordan_product(x, jordan_quotient(x, v)) - v).norm(), tolerance);
  }
}

TEST(SecondOrderCone, TheLongestStepEndsOnTheBorder) {
  std::mt19937 engine(5);
  int bounded = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3 x = inside_the_cone(engine), d = random_vector(engine);
    const double t = longest_lorentz_step(x, d);
    if (std::isinf(t)) {
      const Vector3 far = x + 1e6 * d;
      EXPECT_GE(far[0] + 1e-6, far.tail<2>().norm());
      continue;
    }
    ++bounded;
    EXPECT_NEAR(lorentz_det(x + t * d), 0.0, 1e-9 * (x + t * d).squaredNorm() + 1e-12);
    EXPECT_GT(lorentz_det(x + 0.999 * t * d), 0.0);
  }
  EXPECT_GT(bounded, 50);
}

/// x = (½, ∓¼ …) with d pointing straight out: the border is at ‖x_T‖ = x_0.
TEST(SecondOrderCone, AKnownStep) {
  EXPECT_NEAR(longest_lorentz_step({1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}), 0.5, 1e-15);
  EXPECT_NEAR(longest_lorentz_step({1.0, 0.0, 0.0}, {-1.0, 1.0, 0.0}), 0.5, 1e-15);
  EXPECT_TRUE(std::isinf(longest_lorentz_step({1.0, 0.0, 0.0}, {1.0, 0.5, 0.0})));
}

struct Answer {
  std::vector<double> r;
  SolveReport report;
  Residuals errors;
};

Answer answer(const char* name, const OptionMap& options, const ContactProblem& problem, double residual,
              int iterations = 500) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  Answer a;
  a.r.assign(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  a.report = solver->solve(a.r, stop, nullptr);
  a.errors = Referee(problem).measure(a.r, {});
  return a;
}

/// A linear problem once the states are right: one step from sticking or open states ends it.
TEST(Newton, StickingContactsTakeTwoSteps) {
  const zoo::Specimen specimen = zoo::specimen("h2_stack");
  const Answer a = answer("newton", {}, specimen.problem, 1e-12);
  EXPECT_EQ(enum_name(a.report.status), "converged");
  EXPECT_LE(a.report.iterations, 8);
  EXPECT_NEAR(a.r[0], 3.0, 1e-10);
  EXPECT_NEAR(a.r[3], 2.0, 1e-10);
}

TEST(ProxNewton, ReachesRoundingWhereSweepsDoNot) {
  struct Asked {
    const char* name;
    double residual;
  };
  // the velocities of the stack are known to the unit roundoff times its condition, 1e6, and a few operations
  for (const Asked& asked : {Asked{"stack_mass_ratio_1e6", 1e-9}, Asked{"planted_rough", 1e-12},
                             Asked{"four_legged_plate", 1e-12}, Asked{"planted_duplicates", 1e-12}}) {
    const Answer a = answer("prox-newton", {}, zoo::specimen(asked.name).problem, asked.residual);
    EXPECT_EQ(enum_name(a.report.status), "converged") << asked.name;
    EXPECT_LE(a.errors.residual, asked.residual) << asked.name;
  }
}

/// More contacts than the dense path takes: the sparse factor gives the same answer.
TEST(ProxNewton, SolvesProblemsBeyondTheDenseFactor) {
  PlantedOptions options;
  options.contacts = 200;
  options.seed = 5;
  const PlantedProblem planted = make_planted_problem(options);
  for (const char* name : {"newton", "prox-newton", "ipm"}) {
    const Answer a = answer(name, {}, planted.problem, 1e-10);
    EXPECT_EQ(enum_name(a.report.status), "converged") << name;
    EXPECT_LE(a.errors.residual, 1e-10) << name;
  }
}

/// The published method without crossover: Acary et al. (2023) stop at 1e-8 of another measure; with contacts that stick
/// the residual here ends between 1e-4 and 1e-9.
TEST(Ipm, WithoutCrossoverGoesFarAndEndsHonestly) {
  const zoo::Specimen specimen = zoo::specimen("planted_cone");
  const Answer a = answer("ipm", {{"crossover", "0"}}, specimen.problem, 1e-14);
  EXPECT_NE(enum_name(a.report.status), "converged");
  EXPECT_LE(a.errors.residual, 1e-4);
}

TEST(Ipm, RefusesThePyramid) { EXPECT_THROW(make_solver("ipm", {{"law", "pyramid"}}), UsageError); }

TEST(NewtonOptions, AreChecked) {
  EXPECT_THROW(make_solver("newton", {{"regularisation", "-1"}}), UsageError);
  EXPECT_THROW(make_solver("newton", {{"patience", "0"}}), UsageError);
  EXPECT_THROW(make_solver("prox-newton", {{"shift", "0"}}), UsageError);
  EXPECT_THROW(make_solver("ipm", {{"crossover", "-1"}}), UsageError);
}

}  // namespace
}  // namespace signorini::newton_test
