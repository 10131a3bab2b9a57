// Gauss–Seidel with exact one-contact solves: one contact takes one sweep, every branch agrees with the slow
// solution, mass points give the sweeps of pgs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "linalg/isa_levels.h"
#include "linalg/random_blocks.h"
#include "solvers/registry.h"
#include "solvers/relaxation/exact_sweep.h"
#include "solvers/relaxation/one_contact.h"

namespace signorini::nsgs_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;
constexpr std::array<FrictionLaw, 2> kLaws{FrictionLaw::cone, FrictionLaw::pyramid};

Matrix3 random_inverse_mass(Rng& rng, double spread) {
  Matrix3 roots;
  for (double& x : roots.reshaped()) x = rng.uniform(-1.0, 1.0);
  const Vector3 sizes(1.0, rng.uniform(0.1, 1.0) * spread, rng.uniform(0.1, 1.0));
  const Matrix3 scaled = sizes.asDiagonal() * roots;
  return scaled * scaled.transpose() + 0.05 * Matrix3::Identity();
}

GaussSeidelData data_of(const Matrix& W, const Vector& q, const Vector& mu, FrictionLaw law) {
  return make_gauss_seidel_data(to_blocks(SparseRows(W.sparseView(0.0, 0.0))), q, mu, law,
                                natural_tangent_step(law));
}

struct States {
  int open = 0, sticking = 0, sliding = 0;

  void add(FrictionLaw law, double mu, const Vector3& r) {
    const double size = with_law(law, [&](auto type) { return decltype(type)::tangent_size(r.tail<2>()); });
    ++(r[0] == 0.0 ? open : size < 0.999999 * mu * r[0] ? sticking : sliding);
  }
};

SolveReport solve(std::string_view name, const OptionMap& options, const ContactProblem& problem,
                  std::vector<double>& r, double residual, int iterations = 10000, bool fixed = false) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  stop.fixed_iterations = fixed;
  return solver->solve(r, stop, nullptr);
}

TEST(Nsgs, SolvesOneContactInOneSweep) {
  Rng rng(31);
  for (const FrictionLaw law : kLaws) {
    States states;
    for (int trial = 0; trial < 300; ++trial) {
      const Matrix3 D = random_inverse_mass(rng, trial % 3 == 0 ? 0.1 : 1.0);
      const double pull = trial % 2 == 0 ? 1.0 : 0.05;  // slips, sticks
      const Vector3 b(rng.uniform(-1.5, 0.5), pull * rng.uniform(-1.0, 1.0), pull * rng.uniform(-1.0, 1.0));
      const double mu = rng.uniform(0.0, 1.0);
      const ContactProblem problem = zoo::make_dual(D, b, Vector::Constant(1, mu));
      std::vector<double> r(3, 0.0);
      const SolveReport report = solve("nsgs", {{"law", std::string(enum_name(law))}}, problem, r, 1e-12);
      EXPECT_EQ(report.status, SolveStatus::converged) << trial;
      EXPECT_EQ(report.iterations, b[0] < 0.0 ? 1 : 0) << trial;
      EXPECT_EQ(report.counters.guards, 0) << trial;
      EXPECT_LE(Referee(problem).measure(r, {law, PyramidFrame::fixed}).residual, 1e-12) << trial;
      states.add(law, mu, Vector3(r[0], r[1], r[2]));
    }
    EXPECT_GT(states.open, 10) << enum_name(law);  // every branch has been taken
    EXPECT_GT(states.sticking, 10) << enum_name(law);
    EXPECT_GT(states.sliding, 10) << enum_name(law);
  }
}

TEST(Nsgs, SlidesWhereAnisotropicTangentsSay) {
  for (const FrictionLaw law : kLaws) {
    const zoo::Specimen point = zoo::specimen("h5_anisotropic_dual");
    std::vector<double> r(3, 0.0);
    solve("nsgs", {{"law", std::string(enum_name(law))}}, point.problem, r, 1e-14, 1);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(r[i], point.solution(law)[i], 8.0 * kEps) << enum_name(law);
  }
}

/// The sweep word by word with the slow solution.
void slow_sweep(const Matrix& W, const Vector& q, const Vector& mu, FrictionLaw law, Vector& r) {
  for (Eigen::Index k = 0; k < mu.size(); ++k) {
    const Matrix3 D = W.block<3, 3>(3 * k, 3 * k);
    const Vector3 b = W.middleRows<3>(3 * k) * r + q.segment<3>(3 * k) - D * r.segment<3>(3 * k);
    r.segment<3>(3 * k) = solve_one_contact(law, mu[k], D, b);
  }
}

TEST(ExactSweep, EqualsTheSlowSweepOnUnsymmetricRandomProblems) {
  constexpr Index m = 40;
  SparseRows rows = test::random_rows(m, m, 6.0, false, 11);
  SparseRows shift(3 * m, 3 * m);
  shift.setIdentity();
  rows = 0.2 * rows + 1.5 * shift;  // diagonally dominant enough that r stays of order 1
  Vector q = test::random_vector(3 * m, 12);
  for (Index k = 0; k < m; ++k) q[3 * k] -= 0.5;
  const Vector mu = test::random_vector(m, 13).cwiseAbs();
  for (const FrictionLaw law : kLaws) {
    const GaussSeidelData data = make_gauss_seidel_data(to_blocks(rows), q, mu, law, TangentStep::scalar);
    std::optional<Vector> fused;
    for (const Isa level : test::isa_levels()) {
      ExactSweep sweep;
      sweep.prepare(data);
      Vector slow = Vector::Zero(3 * m), fast = slow;
      States states;
      for (int i = 0; i < 8; ++i) {
        slow_sweep(Matrix(rows), q, mu, law, slow);
        EXPECT_EQ(sweep.run(level, span_of(fast)).slow, 0);
        // r is of order 1 and the sweeps contract: 100 ε for b, the solutions and what they inherit
        EXPECT_LE((fast - slow).cwiseAbs().maxCoeff(), 100.0 * kEps) << enum_name(level) << " sweep " << i;
      }
      for (Index k = 0; k < m; ++k) states.add(law, mu[k], fast.segment<3>(3 * k));
      EXPECT_GT(states.open, 3);
      EXPECT_GT(states.sticking, 3);
      EXPECT_GT(states.sliding, 3);
      Vector again = Vector::Zero(3 * m);
      sweep.forget();
      for (int i = 0; i < 8; ++i) sweep.run(level, span_of(again));
      EXPECT_EQ(again, fast);
      if (same_bits(level) == Isa::portable) continue;
      if (fused) {
        EXPECT_EQ(fast, *fused) << enum_name(level);
      }
      fused = fast;
    }
  }
}

TEST(ExactSweep, CorrectsNothingAtTheAnswer) {
  const Matrix W = Matrix::Identity(6, 6);
  Vector q(6);
  q << -1.0, 0.0, 0.0, 2.0, 1.0, 0.0;
  for (const FrictionLaw law : kLaws) {
    const GaussSeidelData data = data_of(W, q, Vector::Constant(2, 0.5), law);
    ExactSweep sweep;
    sweep.prepare(data);
    Vector r = Vector::Zero(6);
    EXPECT_EQ(sweep.run(span_of(r)).correction, 1.0);
    EXPECT_EQ(sweep.run(span_of(r)).correction, 0.0);
    EXPECT_EQ(r, zoo::vector_of({1, 0, 0, 0, 0, 0}));
  }
}

TEST(ExactSweep, FixedContactsKeepNoImpulse) {
  Matrix W = Matrix::Identity(9, 9);
  W.block<3, 9>(3, 0).setZero();
  W.block<9, 3>(0, 3).setZero();
  for (const FrictionLaw law : kLaws) {
    const GaussSeidelData data = data_of(W, -Vector::Ones(9), Vector::Ones(3), law);
    for (const Isa level : test::isa_levels()) {
      ExactSweep sweep;
      sweep.prepare(data);
      Vector r = Vector::Ones(9);
      sweep.run(level, span_of(r));
      EXPECT_EQ(r.segment<3>(3), Vector3::Zero());
      EXPECT_EQ(r[0], 1.0);
      EXPECT_EQ(r[6], 1.0);
    }
  }
}

TEST(ExactSweep, SaysWhenNumbersAreNotFinite) {
  for (const FrictionLaw law : kLaws) {
    const GaussSeidelData data = data_of(Matrix::Identity(9, 9), -Vector::Ones(9), Vector::Ones(3), law);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      ExactSweep sweep;
      sweep.prepare(data);
      Vector r = Vector::Zero(9);
      r[4] = bad;
      EXPECT_FALSE(std::isfinite(sweep.run(span_of(r)).correction));
    }
  }
}

/// Tangents that nothing moves, and tangents along the normal: A = 0.
TEST(Nsgs, LeavesContactsWithoutTangentialFreedomToTheSlowSolution) {
  Matrix3 normal_only = Matrix3::Zero(), rank_one = Matrix3::Ones();
  normal_only(0, 0) = 1.0;
  for (const FrictionLaw law : kLaws) {
    for (const Matrix3& D : {normal_only, rank_one}) {
      const GaussSeidelData data = data_of(D, Vector3(-1.0, 0.2, 0.1), Vector::Constant(1, 0.3), law);
      ExactSweep sweep;
      sweep.prepare(data);
      Vector r = Vector::Zero(3);
      EXPECT_EQ(sweep.run(span_of(r)).slow, 1);
      EXPECT_EQ(r, Vector(solve_one_contact(law, 0.3, D, Vector3(-1.0, 0.2, 0.1))));
    }
  }
}

/// Where W_kk is a multiple of the identity the projected step is the exact solution.
TEST(Nsgs, OnMassPointsItIsProjectedGaussSeidel) {
  const zoo::PointWorld chain{
      {1.0, 0.5, 2.0},
      {{0.1, 0, -1}, {0.3, 0.4, -1}, {-0.6, 0.2, -2}},
      {{0, -1, zoo::floor_frame(), 0.5}, {1, 0, zoo::floor_frame(), 0.2}, {2, 1, zoo::floor_frame(), 0.3}}};
  for (const FrictionLaw law : kLaws) {
    const OptionMap options{{"law", std::string(enum_name(law))}};
    for (const int sweeps : {1, 2, 5, 20}) {
      std::vector<double> exact(9, 0.0), projected(9, 0.0);
      solve("nsgs", options, chain.build(), exact, 1e-8, sweeps, true);
      solve("pgs", options, chain.build(), projected, 1e-8, sweeps, true);
      // impulses of order 4 and 20 sweeps of a few roundings each
      for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(exact[i], projected[i], 100.0 * kEps) << sweeps;
    }
  }
}

/// m points of masses 1 … m on top of each other, all at −1 m/s: a contact carries all masses above it.
TEST(Nsgs, CarriesAStack) {
  zoo::PointWorld world;
  constexpr int m = 6;
  for (int k = 0; k < m; ++k) {
    world.mass.push_back(k + 1.0);
    world.free_velocity.emplace_back(0.0, 0.0, -1.0);
    world.contacts.push_back({k, k - 1, zoo::floor_frame(), 0.5});
  }
  std::vector<double> r(3 * m, 0.0);
  const SolveReport report = solve("nsgs", {}, world.build(), r, 1e-12);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.counters.contact_sweeps, report.iterations);
  double above = 0.0;
  for (std::size_t k = m; k-- > 0;) {
    above += static_cast<double>(k) + 1.0;
    EXPECT_NEAR(r[3 * k], above, 1e-9) << k;  // cond(W_NN) < 500
    EXPECT_EQ(r[3 * k + 1], 0.0);
  }
}

}  // namespace
}  // namespace signorini::nsgs_test
