#include "contact/residuals.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "contact/align_tangents.h"
#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"

namespace signorini::residuals_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr LawSpec kCone{FrictionLaw::cone, PyramidFrame::fixed};
constexpr LawSpec kPyramid{FrictionLaw::pyramid, PyramidFrame::fixed};
constexpr LawSpec kAligned{FrictionLaw::pyramid, PyramidFrame::aligned};
constexpr LawSpec kRotated{FrictionLaw::pyramid, PyramidFrame::rotated};

Residuals measure(const ContactProblem& problem, const Vector& r, LawSpec law = kCone) {
  return Referee(problem).measure(span_of(r), law);
}

std::vector<double> contact_errors(const ContactProblem& problem, const Vector& r, LawSpec law) {
  std::vector<double> errors(problem.contacts());
  Referee(problem).contact_errors(span_of(r), law, errors);
  return errors;
}

Vector random_impulses(const ContactProblem& problem, std::uint64_t seed) {
  Rng rng(seed);
  Vector r(3 * problem.contacts());
  for (double& x : r) x = 1e-2 * rng.normal();
  return r;
}

// ---- the measures, written once more as the formulas stand in the header, with their divisions by ρ ----

struct Literal {
  Matrix W;
  Vector q;
  Vector mu;
  Vector r;

  Vector u() const { return W * r + q; }
  double scale() const { return q.cwiseAbs().maxCoeff(); }
  Matrix3 block(Eigen::Index k) const { return W.block<3, 3>(3 * k, 3 * k); }
  double rho_N(Eigen::Index k) const { return 1.0 / block(k)(0, 0); }
  double rho_T(Eigen::Index k) const {
    const Eigen::Matrix2d B = block(k).bottomRightCorner<2, 2>();
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> solver(0.5 * (B + B.transpose()));
    return 1.0 / solver.eigenvalues()[1];
  }

  double alart_curnier(Eigen::Index k, FrictionLaw law) const {
    const Vector3 v = u().segment<3>(3 * k);
    const Vector3 p = r.segment<3>(3 * k);
    const double p_N = std::max(0.0, p[0] - rho_N(k) * v[0]);
    const double e_N = (p[0] - p_N) / rho_N(k);
    const Vector2 trial = p.tail<2>() - rho_T(k) * v.tail<2>();
    const double bound = mu[k] * p_N;
    Vector2 projected = trial;
    if (law == FrictionLaw::pyramid) {
      projected = trial.cwiseMin(bound).cwiseMax(-bound);
    } else if (trial.norm() > bound) {
      projected = trial * (bound / trial.norm());
    }
    const Vector2 e_T = (p.tail<2>() - projected) / rho_T(k);
    return std::sqrt(e_N * e_N + e_T.squaredNorm()) / scale();
  }

  double natural_map(Eigen::Index k) const {
    const FrictionCone cone{mu[k]};
    const double rho = std::min(rho_N(k), rho_T(k));
    const Vector3 p = r.segment<3>(3 * k);
    return (p - cone.project(p - rho * cone.de_saxce(u().segment<3>(3 * k)))).norm() / rho / scale();
  }

  /// The error of Siconos 4.x: natural map with ρ = 1 over max(‖q‖, ‖r‖, ‖u‖), 2-norms.
  double siconos() const {
    double sum = 0.0;
    for (Eigen::Index k = 0; k < mu.size(); ++k) {
      const Vector3 v = u().segment<3>(3 * k);
      const Vector3 x = r.segment<3>(3 * k) - Vector3(v[0] + mu[k] * v.tail<2>().norm(), v[1], v[2]);
      const double tangential = x.tail<2>().norm();
      Vector3 p = x;
      if (mu[k] * tangential <= -x[0]) {
        p.setZero();
      } else if (tangential > mu[k] * x[0]) {
        p[0] = (mu[k] * tangential + x[0]) / (mu[k] * mu[k] + 1.0);
        p.tail<2>() = x.tail<2>() * (mu[k] * p[0] / tangential);
      }
      sum += (r.segment<3>(3 * k) - p).squaredNorm();
    }
    return std::sqrt(sum) / std::max({q.norm(), r.norm(), u().norm()});
  }

  double fischer_burmeister(FrictionLaw law) const {
    const auto phi = [](double x, double y) { return std::abs(x + y - std::sqrt(x * x + y * y)); };
    double worst = 0.0;
    for (Eigen::Index k = 0; k < mu.size(); ++k) {
      const Vector3 v = u().segment<3>(3 * k);
      const Vector3 p = r.segment<3>(3 * k);
      const double W_NN = block(k)(0, 0);
      worst = std::max(worst, phi(W_NN * p[0], v[0]));
      if (law == FrictionLaw::cone) {
        worst = std::max(worst, phi(W_NN * (mu[k] * p[0] - p.tail<2>().norm()), v.tail<2>().norm()));
      } else {
        for (int j = 1; j < 3; ++j)
          worst = std::max(worst, phi(W_NN * (mu[k] * p[0] - std::abs(p[j])), std::abs(v[j])));
      }
    }
    return worst;
  }
};

Literal literal(const ContactProblem& problem, const Vector& r) {
  const ReducedProblem reduced = assemble_reduced(problem);
  return {Matrix(to_scalar(reduced.W)), reduced.q, problem.mu, r};
}

TEST(Referee, AgreesWithTheFormulasOnRandomImpulses) {
  for (const double stiffness : {0.0, 2.0}) {
    PlantedOptions options;
    options.stiffness = stiffness;
    const ContactProblem problem = make_planted_problem(options).problem;
    const Referee referee(problem);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Vector r = random_impulses(problem, seed);
      const Literal formulas = literal(problem, r);
      for (const LawSpec law : {kCone, kPyramid}) {
        const std::vector<double> errors = contact_errors(problem, r, law);
        double natural = 0.0;
        double worst = 0.0;
        for (Eigen::Index k = 0; k < problem.mu.size(); ++k) {
          // Both sides sum the same few hundred products in another order: 1e-12 is 1e4 ε of numbers near 1.
          EXPECT_NEAR(errors[k], formulas.alart_curnier(k, law.law), 1e-12);
          natural = std::max(natural, formulas.natural_map(k));
          worst = std::max(worst, errors[k]);
        }
        const Residuals found = referee.measure(span_of(r), law);
        EXPECT_EQ(found.residual, worst);
        EXPECT_NEAR(found.fischer_burmeister, formulas.fischer_burmeister(law.law), 1e-12 * formulas.scale());
        if (law.law == FrictionLaw::cone) {
          EXPECT_NEAR(found.natural_map, natural, 1e-12);
          EXPECT_NEAR(found.siconos_error, formulas.siconos(), 1e-12);
        } else {
          EXPECT_TRUE(std::isnan(found.natural_map));
          EXPECT_TRUE(std::isnan(found.siconos_error));
        }
      }
    }
  }
}

TEST(Referee, GivesKnownResidualsToWrongHandAnswers) {
  // H1: r = 0 leaves u_N = −2 = −U; half the impulse leaves u_N = −1.
  EXPECT_DOUBLE_EQ(measure(zoo::h1().problem, zoo::vector_of({0, 0, 0})).residual, 1.0);
  EXPECT_DOUBLE_EQ(measure(zoo::h1().problem, zoo::vector_of({2, 0, 0})).residual, 0.5);
  // Twice the impulse separates: u_N = 2, W r = 4, the smaller of both counts.
  EXPECT_DOUBLE_EQ(measure(zoo::h1().problem, zoo::vector_of({8, 0, 0})).residual, 1.0);
  // H6 with the answer of a sweep that projects at its end, (0, 1): u = (2, 1), e = (0, min(2·1, 1)).
  EXPECT_DOUBLE_EQ(measure(zoo::h6_dual().problem, zoo::vector_of({0, 0, 0, 1, 0, 0})).residual, 1.0);
  EXPECT_DOUBLE_EQ(measure(zoo::h6().problem, zoo::vector_of({0, 0, 0, 1, 0, 0})).residual, 1.0);
  // H3 with the pyramid's answer under the cone: u = (0, 0, 1), e_T = (−3, −3) − 3 (−3, −4)/5 = (−1.2, −0.6),
  // U = 10.
  EXPECT_NEAR(measure(zoo::h3().problem, zoo::h3().pyramid).residual, 0.1 * std::sqrt(1.8), 8 * kEpsilon);
}

/// H5 solved componentwise, eq. 7 taken literally: r_T = −½ (3, 1)/√10 is 34.7° off the maximum dissipation.
TEST(Referee, SeesTheAngleOfComponentwiseFriction) {
  const double root = std::sqrt(10.0);
  const Vector r = zoo::vector_of({1, -1.5 / root, -0.5 / root});
  const Residuals found = measure(zoo::h5_dual().problem, r);
  EXPECT_NEAR(found.dissipation_angle, 34.7, 0.05);  // printed with one decimal
  EXPECT_GT(found.residual, 0.1);
  EXPECT_NEAR(measure(zoo::h5_dual().problem, zoo::h5_cone()).dissipation_angle, 0.0, 1e-12);
}

TEST(Referee, QuantifiesThePyramidsExcessOverTheCone) {
  const Residuals found = measure(zoo::h3().problem, zoo::h3().pyramid, kPyramid);
  EXPECT_LE(found.residual, 8 * kEpsilon);
  EXPECT_NEAR(found.cone_violation, (std::sqrt(18.0) - 3.0) / 10.0, 8 * kEpsilon);
  EXPECT_NEAR(found.dissipation_angle, 45.0, 1e-12);
  EXPECT_EQ(measure(zoo::h3().problem, zoo::h3().cone).cone_violation, 0.0);
  EXPECT_EQ(measure(zoo::h3().problem, zoo::vector_of({0, 1, 0})).cone_violation, kInfinity);
}

TEST(Referee, MeasuresPenetrationInMetres) {
  ContactProblem problem = zoo::h1().problem;
  EXPECT_DOUBLE_EQ(measure(problem, zoo::vector_of({0, 0, 0})).penetration, 2e-3);
  EXPECT_EQ(measure(problem, zoo::vector_of({4, 0, 0})).penetration, 0.0);
  problem.dt = 0.0;
  EXPECT_TRUE(std::isnan(measure(problem, zoo::vector_of({0, 0, 0})).penetration));
}

/// u = 2 r + q with the given u, dt = 1 ms, mu = 1/2.
ContactProblem with_velocities(const Vector& r, const Vector& u) {
  ContactProblem problem;
  problem.W.resize(r.size(), r.size());
  problem.W.setIdentity();
  problem.W *= 2.0;
  problem.q = u - 2.0 * r;
  problem.mu = Vector::Constant(r.size() / 3, 0.5);
  problem.dt = 1e-3;
  return problem;
}

TEST(Referee, SplitsTheFischerBurmeisterErrorByClass) {
  // sticks although it slips by (0.3, 0.4); slides with 0.4 of its friction missing; pushes while it parts
  const Vector r = zoo::vector_of({4, 0.5, 0, 2, -0.6, 0, 1.5, 0, 0});
  const Vector u = zoo::vector_of({0, 0.3, 0.4, 0, 3, 0, 4, 0, 0});
  ContactProblem problem = with_velocities(r, u);
  const Residuals found = measure(problem, r);
  EXPECT_NEAR(found.fb_normal, 1e-3 * (3.0 + 4.0 - 5.0), 1e-15);
  EXPECT_NEAR(found.fb_static, 1e-3 * 0.5, 1e-15);
  EXPECT_NEAR(found.fb_kinetic, 1e-3 * (0.8 + 3.0 - std::sqrt(0.64 + 9.0)), 1e-15);
  problem.dt = 0.0;
  const Residuals unknown = measure(problem, r);
  EXPECT_TRUE(std::isnan(unknown.fb_normal) && std::isnan(unknown.fb_static) &&
              std::isnan(unknown.fb_kinetic));
}

TEST(Referee, TakesThePyramidsTangentsOneByOneInTheClasses) {
  // t1 slides with 0.4 of its friction missing, t2 sticks and slips by 0.25
  const Vector r = zoo::vector_of({2, -0.6, 0.5});
  const Residuals found = measure(with_velocities(r, zoo::vector_of({0, 3, 0.25})), r, kPyramid);
  EXPECT_NEAR(found.fb_static, 1e-3 * 0.25, 1e-15);
  EXPECT_NEAR(found.fb_kinetic, 1e-3 * (0.8 + 3.0 - std::sqrt(0.64 + 9.0)), 1e-15);
}

TEST(Referee, ScalesMultipliersByTheNodesOwnMasses) {
  // M couples two nodes: D = 2 I and S = 1/2, but W_NN = 2/3. r_N = 6: S r_N = 3, u_N = 4.
  Matrix M = 2.0 * Matrix::Identity(6, 6);
  M.topRightCorner(3, 3) = M.bottomLeftCorner(3, 3) = -Matrix::Identity(3, 3);
  Matrix H = Matrix::Zero(6, 3);
  H.topRows(3).setIdentity();
  ContactProblem problem =
      zoo::make_primal(M, H, Vector::Zero(6), zoo::vector_of({0, 1e-9, 0}), zoo::vector_of({0.5}));
  problem.dt = 1e-3;
  EXPECT_NEAR(measure(problem, zoo::vector_of({6, 0, 0})).fb_normal, 1e-3 * (3.0 + 4.0 - 5.0), 1e-15);
}

TEST(Referee, FindsNoErrorOfAnyClassInAnAnswer) {
  const Residuals found = measure(zoo::h3().problem, zoo::h3().cone);
  EXPECT_LE(found.fb_normal, 1e-12);
  EXPECT_LE(found.fb_static, 1e-12);
  EXPECT_LE(found.fb_kinetic, 1e-12);
}

TEST(Referee, MeasuresTheEquationOfAReturnedVelocity) {
  const zoo::Specimen h2 = zoo::h2();
  const Referee referee(h2.problem);
  Vector v = referee.velocity(span_of(h2.cone));
  EXPECT_TRUE(std::isnan(referee.measure(span_of(h2.cone), kCone).equation));
  EXPECT_LE(referee.measure(span_of(h2.cone), kCone, span_of(std::as_const(v))).equation, 8 * kEpsilon);
  v[5] += 0.25;  // D⁻¹ M e = e, U = 1
  EXPECT_NEAR(referee.measure(span_of(h2.cone), kCone, span_of(std::as_const(v))).equation, 0.25,
              8 * kEpsilon);
  v[5] = std::nan("");
  EXPECT_EQ(referee.measure(span_of(h2.cone), kCone, span_of(std::as_const(v))).equation, kInfinity);
}

TEST(Referee, NeverPassesNumbersThatAreNotFinite) {
  const PlantedProblem planted = make_planted_problem({});
  const Referee referee(planted.problem);
  // 1e308 is finite itself but its velocity is not.
  for (const double bad : {std::nan(""), kInfinity, -kInfinity, 1e308}) {
    Vector r = planted.r;
    r.segment<3>(15).setConstant(bad);
    for (const LawSpec law : {kCone, kPyramid, kAligned}) {
      const Residuals found = referee.measure(span_of(std::as_const(r)), law);
      EXPECT_EQ(found.residual, kInfinity) << bad;
      EXPECT_TRUE(std::isnan(found.natural_map) && std::isnan(found.siconos_error) &&
                  std::isnan(found.fischer_burmeister));
      EXPECT_TRUE(std::isnan(found.penetration) && std::isnan(found.cone_violation) &&
                  std::isnan(found.equation));
      EXPECT_TRUE(std::isnan(found.dissipation_angle) && std::isnan(found.fb_normal) &&
                  std::isnan(found.fb_static) && std::isnan(found.fb_kinetic));
      std::vector<double> errors(20, 0.0);
      referee.contact_errors(span_of(std::as_const(r)), law, errors);
      EXPECT_EQ(*std::min_element(errors.begin(), errors.end()), kInfinity);
    }
  }
}

/// A diverged iterate is never close: the residual grows with r, where ρ = 1 measures may shrink.
TEST(Referee, CannotBePassedByADivergedIterate) {
  const PlantedProblem planted = make_planted_problem({});
  for (const double factor : {1e3, 1e9, 1e30, 1e150}) {
    const Vector r = factor * random_impulses(planted.problem, 5);
    EXPECT_GT(measure(planted.problem, r).residual, 1.0) << factor;
  }
}

TEST(Referee, AcceptsNoContacts) {
  for (const ContactProblem& problem : {zoo::nothing().problem, zoo::no_contacts().problem}) {
    const Residuals found = measure(problem, Vector());
    EXPECT_EQ(found.residual, 0.0);
    EXPECT_EQ(found.siconos_error, 0.0);
    EXPECT_EQ(Referee(problem).velocity_scale(), 1.0);
  }
  EXPECT_EQ(Referee(zoo::no_contacts().problem).velocity({}), zoo::vector_of({0, 0, -2}));
}

/// A contact between fixed bodies: r changes nothing, only its closing velocity counts.
TEST(Referee, CountsOnlyTheClosingVelocityOfFixedContacts) {
  ContactProblem problem = zoo::fixed_fixed().problem;
  for (const double r_N : {0.0, 3.0, -1e6}) {
    const Vector r = zoo::vector_of({r_N, 2 * r_N, r_N, 4, 0, 0});
    for (const LawSpec law : {kCone, kPyramid, kAligned})
      EXPECT_LE(measure(problem, r, law).residual, 4 * kEpsilon);
    EXPECT_LE(measure(problem, r).natural_map, 4 * kEpsilon);
  }
  problem.w[0] = -0.1;  // U = 2
  EXPECT_DOUBLE_EQ(measure(problem, zoo::vector_of({5, 0, 0, 4, 0, 0})).residual, 0.05);
}

/// Two masses of 1 kg on the floor, one at 1,000 m/s, one at 1 mm/s: only the fast one is solved.
TEST(Referee, SeesASlowIslandBesideAFastOne) {
  ContactProblem problem;
  problem.mu = Vector::Zero(2);
  problem.W = Matrix::Identity(6, 6).sparseView();
  problem.q = zoo::vector_of({-1000, 0, 0, -1e-3, 0, 0});
  const Vector fast = zoo::vector_of({1000, 0, 0, 0, 0, 0}), both = zoo::vector_of({1000, 0, 0, 1e-3, 0, 0});
  const std::vector<Index> apart{0, 1}, together{0, 0};
  const Residuals found = Referee(problem, apart).measure(span_of(fast), kCone);
  EXPECT_DOUBLE_EQ(found.residual, 1e-6);
  EXPECT_DOUBLE_EQ(found.island_residual, 1.0);
  EXPECT_EQ(Referee(problem, apart).measure(span_of(both), kCone).island_residual, 0.0);
  EXPECT_EQ(Referee(problem, together).measure(span_of(fast), kCone).island_residual, found.residual);
  EXPECT_TRUE(std::isnan(measure(problem, fast).island_residual));
  problem.q[3] = 0.0;  // an island at rest: as velocity_scale, 1 m/s
  EXPECT_DOUBLE_EQ(Referee(problem, apart).measure(span_of(both), kCone).island_residual, 1e-3);
}

TEST(Referee, AcceptsContactsWithoutAnyDof) {
  ContactProblem problem;
  problem.mu = Vector::Constant(2, 0.5);
  problem.w = zoo::vector_of({0.1, 3, 0, -0.2, 0, 4});
  const Referee referee(problem);
  EXPECT_EQ(referee.velocity_scale(), 4.0);
  EXPECT_DOUBLE_EQ(measure(problem, zoo::vector_of({1, 2, 3, 4, 5, 6})).residual, 0.05);
}

TEST(Referee, AsksForZeroFrictionWithoutFriction) {
  ContactProblem problem = zoo::h3().problem;
  problem.mu.setZero();
  for (const LawSpec law : {kCone, kPyramid, kAligned}) {
    EXPECT_LE(measure(problem, zoo::vector_of({10, 0, 0}), law).residual, 4 * kEpsilon);
    EXPECT_DOUBLE_EQ(measure(problem, zoo::vector_of({10, 0.5, 0}), law).residual, 0.05);
  }
}

/// Other units of mass (2¹⁰) and velocity (2⁻⁶): every number scales by a power of two, so not one bit may
/// change.
TEST(Referee, ResidualHasNoUnits) {
  PlantedOptions options;
  options.stiffness = 1.0;
  const PlantedProblem planted = make_planted_problem(options);
  const double mass = 0x1p10;
  const double speed = 0x1p-6;
  ContactProblem scaled = planted.problem;
  scaled.M *= mass;
  scaled.f *= mass * speed;
  scaled.w *= speed;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Vector r = random_impulses(planted.problem, seed);
    const Vector scaled_r = mass * speed * r;
    for (const LawSpec law : {kCone, kPyramid}) {
      const Residuals a = measure(planted.problem, r, law);
      const Residuals b = measure(scaled, scaled_r, law);
      EXPECT_EQ(a.residual, b.residual);
      EXPECT_EQ(a.cone_violation, b.cone_violation);
      EXPECT_EQ(a.dissipation_angle, b.dissipation_angle);
      EXPECT_EQ(a.fischer_burmeister * speed, b.fischer_burmeister);
      if (law.law == FrictionLaw::cone) {
        EXPECT_EQ(a.natural_map, b.natural_map);
      }
    }
  }
}

TEST(Referee, ConeResidualIgnoresTheTangents) {
  const PlantedProblem planted = make_planted_problem({});
  Rng rng(3);
  std::vector<double> angles(20);
  for (double& angle : angles) angle = rng.uniform(-3.0, 3.0);
  const ContactProblem turned = turn_tangents(planted.problem, angles);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Vector r = random_impulses(planted.problem, seed);
    const Residuals before = measure(planted.problem, r);
    turn_impulses(span_of(r), angles, +1);
    const Residuals after = measure(turned, r);
    EXPECT_NEAR(before.residual, after.residual, 1e-12);
    EXPECT_NEAR(before.natural_map, after.natural_map, 1e-12);
    EXPECT_NEAR(before.siconos_error, after.siconos_error, 1e-12);
    EXPECT_NEAR(before.fischer_burmeister, after.fischer_burmeister,
                1e-12 * Referee(turned).velocity_scale());
  }
}

/// The aligned and the rotated pyramid are the fixed pyramid of the turned problem.
TEST(Referee, TurnedPyramidsTurnProblemAndImpulses) {
  const PlantedProblem planted = make_planted_problem({});
  const Vector q = Referee(planted.problem).q();
  for (const LawSpec law : {kAligned, kRotated}) {
    const std::vector<double> angles = turned_angles(law, span_of(q));
    const ContactProblem turned = turn_tangents(planted.problem, angles);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Vector r = random_impulses(planted.problem, seed);
      const std::vector<double> errors = contact_errors(planted.problem, r, law);
      EXPECT_NE(errors, contact_errors(planted.problem, r, kPyramid));
      turn_impulses(span_of(r), angles, +1);
      const std::vector<double> fixed = contact_errors(turned, r, kPyramid);
      for (std::size_t k = 0; k < fixed.size(); ++k) EXPECT_NEAR(errors[k], fixed[k], 1e-12);
    }
  }
  // H3b: along the sliding direction the pyramid gives the cone's answer.
  EXPECT_LE(measure(zoo::h3().problem, zoo::h3().cone, kAligned).residual, 8 * kEpsilon);
  EXPECT_GT(measure(zoo::h3().problem, zoo::h3().cone, kPyramid).residual, 0.05);
}

TEST(Referee, JudgesADualProblemAsItsPrimal) {
  for (const double stiffness : {0.0, 5.0}) {
    PlantedOptions options;
    options.stiffness = stiffness;
    const ContactProblem primal = make_planted_problem(options).problem;
    const ReducedProblem reduced = assemble_reduced(primal);
    ContactProblem dual;
    dual.mu = primal.mu;
    dual.W = to_scalar(reduced.W);
    dual.q = reduced.q;
    ContactProblem both = primal;
    both.W = dual.W;
    both.q = dual.q;
    const Vector r = random_impulses(primal, 4);
    for (const LawSpec law : {kCone, kPyramid, kAligned}) {
      const Residuals expected = measure(primal, r, law);
      EXPECT_NEAR(measure(dual, r, law).residual, expected.residual, 1e-12);
      EXPECT_EQ(measure(both, r, law).residual, expected.residual);
    }
    for (const bool wrong_q : {false, true}) {  // solvers on W would answer another problem than the others
      ContactProblem wrong = both;
      if (wrong_q) {
        wrong.q = -both.q;
      } else {
        wrong.W *= 3.0;
      }
      EXPECT_THROW(Referee{wrong}, InputError);
    }
    EXPECT_EQ(Referee(dual).velocity(span_of(r)).size(), 0);
  }
}

/// Recorded W may be unsymmetric: u = W r + q as it stands, λ_max of the symmetric part of W_TT.
TEST(Referee, TakesAnUnsymmetricWAsItStands) {
  const Matrix W = zoo::matrix_of(3, 3, {2, 0.3, 0, 0.1, 3, 0.4, -0.2, 0.6, 5});
  const Vector q = zoo::vector_of({-1, 2, 0.5});
  const ContactProblem problem = zoo::make_dual(W, q, zoo::vector_of({0.4}));
  const Vector r = zoo::vector_of({0.7, -0.2, 0.1});
  const Literal formulas{W, q, problem.mu, r};
  EXPECT_NEAR(measure(problem, r).residual, formulas.alart_curnier(0, FrictionLaw::cone), 16 * kEpsilon);
  EXPECT_NEAR(measure(problem, r).siconos_error, formulas.siconos(), 16 * kEpsilon);
  EXPECT_EQ(Referee(problem).diagonal_blocks(), W);
}

/// M with an antisymmetric part: `skew` times the root of its diagonal entries, between all nodes of a body.
ContactProblem with_unsymmetric_mass(double skew, int contacts = 8) {
  ContactProblem problem =
      make_planted_problem({.contacts = contacts, .regions = 2, .stiffness = 3.0}).problem;
  Matrix M(problem.M);
  const Matrix original = M;
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    for (Eigen::Index j = i + 1; j < M.cols(); ++j) {
      if (original(i, j) == 0.0) continue;
      const double turn = skew * std::sqrt(original(i, i) * original(j, j));
      M(i, j) += turn;
      M(j, i) -= turn;
    }
  }
  problem.M = M.sparseView();
  problem.M.makeCompressed();
  return problem;
}

/// The same problem by its dense W and q: what the referee and the assembly make of an unsymmetric M.
TEST(Referee, TakesAnUnsymmetricMAsItStands) {
  for (const int contacts : {2, 4, 8}) {  // bodies with dense inverses and with sparse factors
    const ContactProblem problem = with_unsymmetric_mass(0.2, contacts);
    const Matrix M(problem.M), H(problem.H);
    const Eigen::FullPivLU<Matrix> inverse(M);
    const Matrix W = H.transpose() * inverse.solve(H);
    const Vector q = H.transpose() * inverse.solve(problem.f) + problem.w;
    const double size = W.cwiseAbs().maxCoeff();
    ASSERT_GT((W - W.transpose()).cwiseAbs().maxCoeff(), 0.01 * size) << contacts;
    const ContactProblem dual = zoo::make_dual(W, q, problem.mu);
    const Vector r = random_impulses(problem, 4);
    // two ways to solve with M, each backward stable: apart by its condition (some hundred) times a few roundings
    const double tolerance = 1e4 * kEpsilon;
    for (const LawSpec law : {kCone, kPyramid, kAligned}) {
      const double expected = measure(dual, r, law).residual;
      EXPECT_NEAR(measure(problem, r, law).residual, expected, tolerance * (1.0 + expected));
    }
    const ReducedProblem reduced = assemble_reduced(problem);
    EXPECT_LE((Matrix(to_scalar(reduced.W)) - W).cwiseAbs().maxCoeff(), tolerance * size);
    const Matrix diagonal = Referee(problem).diagonal_blocks();
    for (Index k = 0; k < problem.contacts(); ++k) {
      const Matrix3 difference = diagonal.middleRows<3>(3 * k) - W.block<3, 3>(3 * k, 3 * k);
      EXPECT_LE(difference.cwiseAbs().maxCoeff(), tolerance * size);
    }
    TaskArena arena(2);
    EXPECT_EQ(assemble_reduced(problem, &arena).W.values, reduced.W.values);
  }
}

TEST(Referee, RefusesAnUnsymmetricMThatIsNotPositiveDefinite) {
  EXPECT_NO_THROW(Referee(with_unsymmetric_mass(5.0)));  // an antisymmetric part takes nothing from xᵀ M x
  ContactProblem problem = with_unsymmetric_mass(0.0);
  Index far = -1;
  for (SparseRows::InnerIterator entry(problem.M, 0); entry; ++entry) {
    if (entry.col() >= 3) far = entry.index();
  }
  ASSERT_GE(far, 0);
  problem.M.coeffRef(0, far) += 1e3 * problem.M.coeff(0, 0) + 1e3 * problem.M.coeff(far, far);
  EXPECT_THROW(Referee{problem}, InputError);
}

/// Field by field, so that one that is added later is looked at too.
using Fields = std::array<double, sizeof(Residuals) / sizeof(double)>;

TEST(Residuals, NothingMeasuredIsNaNThroughout) {
  for (const double field : std::bit_cast<Fields>(Residuals{})) EXPECT_TRUE(std::isnan(field));
}

TEST(Residuals, EveryFieldIsMeasured) {
  PlantedProblem planted = make_planted_problem({.stiffness = 1.0});
  ASSERT_GT(planted.problem.dt, 0.0);
  const Referee referee(planted.problem, std::vector<Index>(planted.problem.contacts(), 0));
  const Vector v = referee.velocity(span_of(planted.r));
  const Residuals found = referee.measure(span_of(planted.r), kCone, span_of(v));
  for (const double field : std::bit_cast<Fields>(found)) EXPECT_TRUE(std::isfinite(field));
}

/// A class without members has the error 0; that is measured.
TEST(Residuals, NoStickingContactIsAStaticErrorOfZero) {
  ContactProblem problem = zoo::h1().problem;  // frictionless contacts neither stick nor slide
  problem.dt = 0.01;
  problem.mu.setZero();
  const Residuals found = measure(problem, Vector::Zero(3 * problem.contacts()));
  EXPECT_EQ(found.fb_static, 0.0);
  EXPECT_GT(found.fb_normal, 0.0);
}

}  // namespace
}  // namespace signorini::residuals_test
