// Newton's method on velocities in global form: its pieces against their definitions, body-newton against Newton on W,
// sap against answers on paper.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/global_newton/contact_matrix.h"
#include "solvers/global_newton/coulomb_piece.h"
#include "solvers/global_newton/sap_cone.h"
#include "solvers/newton/contact_piece.h"
#include "solvers/registry.h"

namespace signorini::global_newton_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;

struct Answer {
  SolveReport report;
  Vector r;
  Residuals errors;
};

StopRule to(double residual, int iterations = 1000) {
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  return stop;
}

Answer answer(std::string_view name, const OptionMap& options, const ContactProblem& problem,
              const StopRule& stop) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  Answer result;
  result.r = Vector::Zero(3 * problem.contacts());
  result.report = solver->solve(span_of(result.r), stop, nullptr);
  result.errors = Referee(problem).measure(span_of(result.r), solver->common().spec());
  return result;
}

ContactProblem planted(int contacts, double stiffness, std::uint64_t seed, double mu = 0.5) {
  PlantedOptions options;
  options.contacts = contacts;
  options.stiffness = stiffness;
  options.seed = seed;
  options.mu = mu;
  return make_planted_problem(options).problem;
}

Vector3 random_vector(Rng& rng) { return {rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1)}; }

/// f of coulomb_piece.h.
Vector3 equations(FrictionLaw law, const InverseMass& w, double mu, const Vector3& r, const Vector3& u) {
  const double p = r[0] - u[0] / w.normal;
  if (p <= 0.0) return r;
  Vector3 f;
  f[0] = u[0];
  const Vector2 t = r.tail<2>() - u.tail<2>() / w.tangent;
  f.tail<2>() = w.tangent * (r.tail<2>() - project_tangent(law, t, mu * p));
  return f;
}

/// A step that the elimination gives lowers f by the share of it that is taken: f(r + h dr, u + h du) = (1 − h) f.
TEST(CoulombPiece, IsANewtonStepOfTheEquations) {
  Rng rng(3);
  const InverseMass w{0.7, 1.3};
  int seen[3] = {0, 0, 0};
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (int i = 0; i < 400; ++i) {
      const Vector3 r = random_vector(rng), u = random_vector(rng), omega = random_vector(rng);
      const double mu = rng.uniform(0.1, 1.5), beta = rng.uniform(0.01, 1.0);
      const CoulombPiece piece = coulomb_piece(law, w, mu, beta, r, u);
      ++seen[static_cast<int>(piece.state)];
      const Vector3 dr = piece.F - piece.C * omega;
      const Vector3 du = omega + beta * dr;
      const double h = 1e-7;
      const Vector3 f = equations(law, w, mu, r, u);
      const Vector3 left = equations(law, w, mu, r + h * dr, u + h * du) - (1.0 - h) * f;
      // second order in the step, the curvature of the projection being 1/‖t‖, and the rounding of numbers of order one
      const double step = h * (1.0 + dr.norm() + du.norm());
      EXPECT_LE(left.norm(), 1e3 * step * step + 1e2 * kEps) << "draw " << i << ", " << enum_name(law);
    }
  }
  for (const int times : seen) EXPECT_GT(times, 50);
}

/// C and F are A_r and A_u of `newton` (contact_piece.h), eliminated: (A_r + β A_u) C = A_u, (A_r + β A_u) F = −f.
TEST(CoulombPiece, IsTheContactPieceOfNewtonEliminated) {
  Rng rng(5);
  const InverseMass w{0.7, 1.3};
  int closed = 0;
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (int i = 0; i < 400; ++i) {
      const Vector3 r = random_vector(rng), u = random_vector(rng);
      const double mu = rng.uniform(0.1, 1.5), beta = rng.uniform(0.01, 1.0);
      const CoulombPiece piece = coulomb_piece(law, w, mu, beta, r, u);
      const ContactPiece linear = with_law(law, [&](auto type) {
        return contact_piece<decltype(type)>(mu, {1.0 / w.normal, 1.0 / w.tangent}, r, u);
      });
      ASSERT_EQ(piece.state == FrictionState::open, linear.open) << "draw " << i;
      if (linear.open) {
        EXPECT_EQ(piece.F, Vector3(-r));
        continue;
      }
      ++closed;
      const Matrix3 pivot = linear.by_r + beta * linear.by_u;
      // products of numbers of order 1/β at most
      const double tolerance = 1e2 * kEps * (1.0 + 1.0 / beta);
      EXPECT_LE((pivot * piece.C - linear.by_u).norm(), tolerance) << "draw " << i;
      EXPECT_LE((pivot * piece.F + linear.F).norm(), tolerance * (1.0 + r.norm() + u.norm())) << "draw " << i;
    }
  }
  EXPECT_GT(closed, 200);
}

TEST(CoulombPiece, SlipKeepsTheNextImpulseOnItsBound) {
  Rng rng(4);
  const InverseMass w{1.0, 2.0};
  int slipping = 0;
  for (int i = 0; i < 200; ++i) {
    const Vector3 r = random_vector(rng), u = random_vector(rng), omega = random_vector(rng);
    const CoulombPiece piece = coulomb_piece(FrictionLaw::cone, w, 0.4, 0.1, r, u);
    if (piece.state != FrictionState::sliding) continue;
    ++slipping;
    const Vector2 e = (r.tail<2>() - u.tail<2>() / w.tangent).normalized();
    const Vector3 next = r + piece.F - piece.C * omega;
    EXPECT_NEAR(e.dot(next.tail<2>()), 0.4 * next[0], 1e3 * kEps);
  }
  EXPECT_GT(slipping, 30);
}

TEST(CoulombPiece, GivesNoImpulseWhereNothingMovesOrNothingRubs) {
  const Vector3 r(1.0, 0.2, -0.3), u(-1.0, 0.5, 0.1);
  const CoulombPiece fixed = coulomb_piece(FrictionLaw::cone, {0.0, 1.0}, 0.5, 0.1, r, u);
  EXPECT_EQ(fixed.F, Vector3(-r));
  EXPECT_TRUE(fixed.C.isZero(0.0));
  for (const CoulombPiece& piece : {coulomb_piece(FrictionLaw::cone, {1.0, 1.0}, 0.0, 0.1, r, u),
                                    coulomb_piece(FrictionLaw::pyramid, {1.0, 0.0}, 0.5, 0.1, r, u)}) {
    EXPECT_EQ(piece.F.tail<2>(), -r.tail<2>());
    EXPECT_TRUE(piece.C.bottomRows<2>().isZero(0.0));
    EXPECT_EQ(piece.C(0, 0), 10.0);
  }
}

/// Two bodies, of which contacts touch one: K is that of the touched body alone.
TEST(ContactMatrix, IsMPlusHCHtOnTouchedBodies) {
  ContactProblem problem = planted(20, 1.0, 5);
  const Index own = problem.dofs(), other = 9;
  SparseRows M(own + other, own + other);
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < own; ++i) {
    for (SparseRows::InnerIterator e(problem.M, i); e; ++e) entries.emplace_back(i, e.index(), e.value());
  }
  for (Index i = 0; i < other; ++i) entries.emplace_back(own + i, own + i, 2.0);
  M.setFromTriplets(entries.begin(), entries.end());
  problem.M = M;
  problem.H.conservativeResize(own + other, problem.H.cols());
  problem.f.conservativeResizeLike(Vector::Zero(own + other));
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::exact, nullptr);

  Rng rng(6);
  std::vector<Matrix3> C(problem.contacts());
  Matrix blocks = Matrix::Zero(3 * problem.contacts(), 3 * problem.contacts());
  for (Index k = 0; k < problem.contacts(); ++k) {
    for (double& c : C[k].reshaped()) c = rng.uniform(-1.0, 1.0);
    if (k % 4 == 0) C[k].setZero();  // open
    C[k] = C[k] * C[k].transpose() + 0.2 * (C[k] - C[k].transpose());
    blocks.block<3, 3>(3 * k, 3 * k) = C[k];
  }
  const Matrix H(problem.H);
  const Matrix expected = Matrix(problem.M) + H * blocks * H.transpose();

  ContactMatrix matrix;
  matrix.prepare(system, Symmetry::general);
  ASSERT_EQ(matrix.order(), own);
  ASSERT_TRUE(matrix.factor(C));
  EXPECT_LE((Matrix(matrix.matrix()) - expected.topLeftCorner(own, own)).norm(),
            1e2 * kEps * expected.norm());

  Vector b(own + other), x(own + other);
  for (double& value : b) value = rng.uniform(-1.0, 1.0);
  matrix.solve(span_of(std::as_const(b)), span_of(x));
  EXPECT_LE((expected * x - b).head(own).norm(), 1e4 * kEps * expected.norm() * x.norm());
  EXPECT_TRUE(x.tail(other).isZero(0.0));
}

TEST(ContactMatrix, TakesACholeskyFactorWhereItIsLargeAndPositiveDefinite) {
  const ContactProblem problem = planted(240, 1.0, 7);
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::exact, nullptr);
  const std::vector<Matrix3> C(problem.contacts(), 2.0 * Matrix3::Identity());
  Vector b(static_cast<Eigen::Index>(system.size())), by_lu = b, by_cholesky = b;
  for (Eigen::Index i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + static_cast<double>(i));
  ContactMatrix general, definite;
  general.prepare(system, Symmetry::general);
  definite.prepare(system, Symmetry::positive_definite);
  ASSERT_GT(general.order(), 600);
  ASSERT_TRUE(general.factor(C) && definite.factor(C));
  general.solve(span_of(std::as_const(b)), span_of(by_lu));
  definite.solve(span_of(std::as_const(b)), span_of(by_cholesky));
  EXPECT_LE((by_lu - by_cholesky).norm(), 1e-10 * by_lu.norm());
  const std::vector<Matrix3> indefinite(problem.contacts(), -1e3 * Matrix3::Identity());
  EXPECT_FALSE(definite.factor(indefinite));
  EXPECT_TRUE(definite.factor(C));
}

/// One iteration from r = 0 is (A_r + A_u (W + β)) dr = −f with dense matrices.
TEST(BodyNewton, TakesTheStepsOfNewtonOnTheDelassusOperator) {
  const ContactProblem problem = planted(8, 1.0, 9);
  const Referee referee(problem);
  const Eigen::Index n = 3 * problem.contacts();
  const Vector q = referee.q();
  Matrix W(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    std::vector<double> unit(n, 0.0);
    unit[i] = 1.0;
    W.col(i) = referee.relative_velocity(unit) - q;
  }
  double largest = 0.0;
  std::vector<InverseMass> w;
  for (Eigen::Index k = 0; k < n / 3; ++k) w.push_back(inverse_mass_of(W.block<3, 3>(3 * k, 3 * k)));
  for (Eigen::Index k = 0; k < n / 3; ++k)
    largest = std::max(largest, contact_error(FrictionLaw::cone, w[k], problem.mu[k],
                                              Vector3::Zero().eval().data(), q.data() + 3 * k));
  const double alpha = std::min(1e-2, 0.01 * largest / q.cwiseAbs().maxCoeff());
  // dr = F − C (W dr), contact by contact
  Matrix C = Matrix::Zero(n, n);
  Vector F(n);
  for (Eigen::Index k = 0; k < n / 3; ++k) {
    const double beta = alpha * (w[k].normal + 2.0 * w[k].tangent) / 3.0;
    const CoulombPiece piece =
        coulomb_piece(FrictionLaw::cone, w[k], problem.mu[k], beta, Vector3::Zero(), q.segment<3>(3 * k));
    C.block<3, 3>(3 * k, 3 * k) = piece.C;
    F.segment<3>(3 * k) = piece.F;
  }
  const Vector expected = (Matrix::Identity(n, n) + C * W).partialPivLu().solve(F);

  StopRule once = to(1e-8, 1);
  once.fixed_iterations = true;
  const Answer first = answer("body-newton", {}, problem, once);
  EXPECT_EQ(first.report.counters.factorisations, 1);
  // C is 1/α times W⁻¹: five digits of sixteen are spent there, two of them come back by the second solve
  EXPECT_LE((first.r - expected).norm(), 1e-9 * expected.norm());
}

TEST(BodyNewton, NeedsAHandfulOfFactorisationsWhereItConverges) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Answer found = answer("body-newton", {}, planted(40, 5.0, seed), to(1e-10));
    EXPECT_EQ(enum_name(found.report.status), "converged") << seed;
    EXPECT_LE(found.report.iterations, 15) << seed;
    EXPECT_EQ(found.report.counters.factorisations, found.report.iterations) << seed;
    EXPECT_EQ(found.report.phase_iterations[0], found.report.iterations) << seed;
  }
}

/// Loops of contacts with strong friction: full steps circle, nearby problems lead to the answer.
TEST(BodyNewton, ProximalStepsSolveWhatFullStepsDoNot) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    PlantedOptions options;
    options.contacts = 40;
    options.sharing = 0.7;
    options.mu = 1.0;
    options.seed = seed;
    const ContactProblem problem = make_planted_problem(options).problem;
    const Answer full = answer("body-newton", {{"globalise", "none"}, {"patience", "25"}}, problem, to(1e-8));
    EXPECT_EQ(enum_name(full.report.status), "stalled") << seed;
    EXPECT_GT(full.errors.residual, 1e-2) << seed;
    const Answer proximal = answer("body-newton", {}, problem, to(1e-8));
    EXPECT_EQ(enum_name(proximal.report.status), "converged") << seed;
    EXPECT_GT(proximal.report.phase_iterations[1], 0) << seed;
    EXPECT_LE(proximal.report.phase_iterations[0], full.report.phase_iterations[0]) << seed;
  }
}

TEST(BodyNewton, StartsFromImpulsesWithoutAFactorOfM) {
  const ContactProblem problem = planted(12, 1.0, 3);
  for (const char* judge : {"exact", "own"}) {
    const Answer found = answer("body-newton", {{"judge", judge}}, problem, to(1e-10));
    const auto again = make_solver("body-newton", {{"judge", judge}});
    again->prepare(problem);
    Vector r = 0.99 * found.r;
    const SolveReport report = again->solve(span_of(r), to(1e-10), nullptr);
    EXPECT_EQ(enum_name(report.status), "converged") << judge;
    EXPECT_LE(report.iterations, 2) << judge;
    EXPECT_LE((r - found.r).norm(), 1e-7 * r.norm()) << judge;
  }
}

TEST(BodyNewton, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(make_solver("body-newton", {{"patience", "0"}}), UsageError);
  EXPECT_THROW(make_solver("body-newton", {{"alpha_min", "0"}}), UsageError);
  EXPECT_THROW(make_solver("body-newton", {{"alpha_min", "1"}}), UsageError);
}

/// Admissible, and no admissible impulse is nearer in the norm of R: R (γ − y) lies in the dual cone and is
/// orthogonal to γ.
TEST(SapCone, ProjectsInTheNormOfR) {
  Rng rng(8);
  const ConeRegularisation R{0.3, 0.05};
  for (int i = 0; i < 300; ++i) {
    const Vector3 y = random_vector(rng);
    const double mu = rng.uniform(0.05, 2.0);
    const Vector3 gamma = project_in_norm(R, mu, y).gamma;
    EXPECT_LE(gamma.tail<2>().norm(), mu * gamma[0] + 4 * kEps);
    const Vector3 left = R.diagonal().cwiseProduct(gamma - y);
    EXPECT_NEAR(left.dot(gamma), 0.0, 8 * kEps);
    EXPECT_LE(mu * left.tail<2>().norm(), left[0] + 8 * kEps);
  }
}

/// Influence decays geometrically up a stack: y of 1e-200 is ordinary there, and its square is 0.
TEST(SapCone, GIsPositiveSemidefiniteForNumbersOfAnySize) {
  Rng rng(10);
  const ConeRegularisation R{0.3, 0.05};
  for (int power = 0; power <= 323; ++power) {
    const Vector3 y = std::pow(10.0, -power) * random_vector(rng);
    const Matrix3 G = project_in_norm(R, rng.uniform(0.05, 2.0), y).G;
    ASSERT_TRUE(G.allFinite()) << power;
    const auto values = Eigen::SelfAdjointEigenSolver<Matrix3>(G).eigenvalues();
    EXPECT_GE(values[0], -1e-14) << power;
    EXPECT_LE(values[2], (1.0 + 1e-14) / R.tangent) << power;
  }
}

TEST(Sap, SolvesATallStack) {
  const Answer answer_of_stack =
      answer("sap", {}, make_pile_problem({.of = PileKind::brick_tower, .contacts = 1500}), to(1e-4));
  EXPECT_EQ(answer_of_stack.report.status, SolveStatus::converged);
}

TEST(SapCone, KnowsItsDerivative) {
  Rng rng(9);
  const ConeRegularisation R{0.3, 0.05};
  for (int i = 0; i < 300; ++i) {
    const Vector3 y = random_vector(rng), step = random_vector(rng);
    const double mu = rng.uniform(0.05, 2.0), h = 1e-7;
    const Matrix3 G = project_in_norm(R, mu, y).G;
    EXPECT_EQ(G, Matrix3(G.transpose()));
    EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix3>(G).eigenvalues()[0], -1e-14);
    const Vector3 difference =
        project_in_norm(R, mu, y + h * step).gamma - project_in_norm(R, mu, y - h * step).gamma;
    // central differences: rounding ε/h, curvature at most 1/‖y_T‖²
    const double allowed = 1e-8 + h * h / std::pow(y.tail<2>().norm(), 2);
    EXPECT_LE((difference / (2.0 * h) - G * R.diagonal().cwiseProduct(step)).norm(), allowed) << "draw " << i;
  }
}

/// Of the models of a point of unit mass: w = 1/√3.
constexpr double kMeanInverseMass = 1.0 / std::numbers::sqrt3;

/// A point of 2 kg falls at 2 m/s: u_N = r_N/2 − 2 = −R_N r_N.
TEST(Sap, ModelSinksIntoTheFloor) {
  const Answer model = answer("sap", {{"law_form", "model"}}, zoo::specimen("h1").problem, to(1e-8));
  const double R = 0.5 * kMeanInverseMass / (4.0 * std::numbers::pi * std::numbers::pi);
  EXPECT_NEAR(model.r[0], 2.0 / (0.5 + R), 1e-6 * model.r[0]);
  EXPECT_EQ(enum_name(model.report.status), "stalled");
  EXPECT_EQ(model.report.message, "paper's model");
  EXPECT_NEAR(model.errors.residual, R * model.r[0] / 2.0, 1e-6);
  EXPECT_NEAR(model.report.own_residual, model.errors.residual, 1e-12);
}

/// One kilogram at 5 m/s sideways and 10 m/s down, μ = 0.3. On the ray γ = g (1, −μ t) the minimum is where (u + Rγ)
/// is orthogonal to it: (g − 10 + R_N g) − μ (5 − μ g − μ R_T g) = 0. Coulomb's law: g = 10.
TEST(Sap, ModelLiftsASlidingPointAndTheExactLawDoesNot) {
  const zoo::Specimen sliding = zoo::specimen("h3_sliding");
  const Answer model = answer("sap", {{"law_form", "model"}}, sliding.problem, to(1e-8));
  const double R_N = kMeanInverseMass / (4.0 * std::numbers::pi * std::numbers::pi),
               R_T = 1e-3 * kMeanInverseMass;
  const double mu = 0.3;
  const double g = (10.0 + mu * 5.0) / (1.0 + R_N + mu * mu * (1.0 + R_T));
  EXPECT_NEAR(model.r[0], g, 1e-6 * g);
  EXPECT_NEAR(model.r.tail<2>().norm(), mu * g, 1e-6 * g);
  const Answer exact = answer("sap", {}, sliding.problem, to(1e-10));
  EXPECT_EQ(enum_name(exact.report.status), "converged");
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(exact.r[i], sliding.cone[i], 1e-8);
}

TEST(Sap, LineSearchesFindTheSameModel) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const ContactProblem problem = planted(30, 2.0, seed);
    const Answer exact = answer("sap", {{"law_form", "model"}, {"eps_r", "1e-12"}}, problem, to(1e-8));
    const Answer backwards =
        answer("sap", {{"law_form", "model"}, {"eps_r", "1e-12"}, {"line_search", "backtracking"}}, problem,
               to(1e-8));
    EXPECT_EQ(exact.report.message, "paper's model");
    EXPECT_EQ(backwards.report.message, "paper's model");
    EXPECT_LE((exact.r - backwards.r).norm(), 1e-8 * exact.r.norm()) << seed;
  }
}

/// The error of the model is that of its two regularisations and of the lift; without sliding and with less of them
/// it falls in proportion.
TEST(Sap, ModelErrorFallsWithItsRegularisation) {
  const ContactProblem problem = zoo::specimen("h4_incline_sticking").problem;
  const auto residual = [&](const char* beta, const char* sigma) {
    return answer("sap", {{"law_form", "model"}, {"beta", beta}, {"sigma", sigma}, {"eps_r", "1e-12"}},
                  problem, to(1e-14))
        .errors.residual;
  };
  // β² and σ by a hundredth: the error by a hundredth, up to terms of second order in R/W = 1.5 %
  EXPECT_NEAR(residual("0.1", "1e-5") / residual("1", "1e-3"), 0.01, 0.001);
}

TEST(Sap, RefusesThePyramidAndOptionsThatMakeNoSense) {
  EXPECT_THROW(make_solver("sap", {{"law", "pyramid"}}), UsageError);
  for (const char* key : {"beta", "sigma", "eps_r", "forcing"}) {
    EXPECT_THROW(make_solver("sap", {{key, "0"}}), UsageError) << key;
    EXPECT_THROW(make_solver("sap", {{key, "nan"}}), UsageError) << key;
  }
}

}  // namespace
}  // namespace signorini::global_newton_test
