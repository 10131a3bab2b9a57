#include "solvers/relaxation/gauss_seidel.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "linalg/isa_levels.h"
#include "linalg/random_blocks.h"

namespace signorini::gauss_seidel_test {
namespace {

using test::view;

GaussSeidelData one_contact(const Matrix3& W, const Vector3& q, double mu, FrictionLaw law,
                            TangentStep step = TangentStep::scalar) {
  SparseRows rows = Matrix(W).sparseView(0.0, 0.0);
  return make_gauss_seidel_data(to_blocks(rows), q, Vector::Constant(1, mu), law, step);
}

Vector sweep_until_still(const GaussSeidelData& data, int limit = 500) {
  Vector r = Vector::Zero(data.q.size());
  for (int i = 0; i < limit; ++i) {
    if (gauss_seidel_sweep(data, view(r)) == 0.0) break;
  }
  return r;
}

TEST(GaussSeidel, FindsTheSlidingForceOfAnisotropicTangents) {
  // W = diag(1, 1, 4), q = (−1, 3, 4), μ = 1/2: the slip law gives r_T = −μ u_T/‖u_T‖.
  const Matrix3 W = Vector3(1.0, 1.0, 4.0).asDiagonal();
  const auto data = one_contact(W, Vector3(-1.0, 3.0, 4.0), 0.5, FrictionLaw::cone);
  Vector r = sweep_until_still(data);
  EXPECT_NEAR(r[0], 1.0, 1e-15);
  EXPECT_NEAR(r[1], -0.35660, 5e-6);  // five printed digits
  EXPECT_NEAR(r[2], -0.35048, 5e-6);
  Vector u(3);
  EXPECT_LE(alart_curnier_error(data, view(r), view(u)), 1e-14);  // stagnates at a few ε of |u| = 5
}

TEST(GaussSeidel, ComponentwiseStepSlipsAsidePrecisely) {
  const Matrix3 W = Vector3(1.0, 1.0, 4.0).asDiagonal();
  const auto data =
      one_contact(W, Vector3(-1.0, 3.0, 4.0), 0.5, FrictionLaw::cone, TangentStep::componentwise);
  const Vector r = sweep_until_still(data);
  // Eq. 7 as printed: the direction is that of (3/1, 4/4) for any r, so r_T = −μ (3, 1)/√10.
  EXPECT_NEAR(r[1], -0.5 * 3.0 / std::sqrt(10.0), 1e-14);
  EXPECT_NEAR(r[2], -0.5 * 1.0 / std::sqrt(10.0), 1e-14);
}

TEST(GaussSeidel, ProjectsInsideTheSweep) {
  // Two frictionless contacts, W_NN = [[2, 1], [1, 2]], q = (1, −1): the answer is (0, 1/2), not (0, 1).
  Matrix W = Matrix::Zero(6, 6);
  for (int k = 0; k < 2; ++k) W.block<3, 3>(3 * k, 3 * k) = 2.0 * Matrix3::Identity();
  W(0, 3) = W(3, 0) = 1.0;
  Vector q = Vector::Zero(6);
  q[0] = 1.0;
  q[3] = -1.0;
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    const auto data = make_gauss_seidel_data(to_blocks(SparseRows(W.sparseView())), q, Vector::Zero(2), law,
                                             TangentStep::scalar);
    const Vector r = sweep_until_still(data);
    EXPECT_EQ(r[0], 0.0);
    EXPECT_EQ(r[3], 0.5);
    EXPECT_EQ(r.segment<2>(1).norm() + r.segment<2>(4).norm(), 0.0);
  }
}

TEST(GaussSeidel, ErrorShrinksByTwoThirdsPerSweepOnStackedPoints) {
  // Mass 1 on the floor, mass 2 on mass 1, free velocities −1: W_NN = [[1, −1], [−1, 3/2]], q_N = (−1, 0),
  // answer (3, 2).
  Matrix W = Matrix::Identity(6, 6);
  W(0, 0) = 1.0;
  W(0, 3) = W(3, 0) = -1.0;
  W(3, 3) = 1.5;
  Vector q = Vector::Zero(6);
  q[0] = -1.0;
  const auto data = make_gauss_seidel_data(to_blocks(SparseRows(W.sparseView())), q, Vector::Zero(2),
                                           FrictionLaw::cone, TangentStep::scalar);
  Vector r = Vector::Zero(6);
  gauss_seidel_sweep(data, view(r));
  double error = std::abs(r[3] - 2.0);
  for (int i = 0; i < 20; ++i) {
    gauss_seidel_sweep(data, view(r));
    EXPECT_NEAR(std::abs(r[3] - 2.0) / error, 2.0 / 3.0,
                1e-10);  // the error is ≥ 6e-4: 12 digits of the ratio survive
    error = std::abs(r[3] - 2.0);
  }
}

TEST(GaussSeidel, PyramidClampsEachTangent) {
  const auto data = one_contact(Matrix3::Identity(), Vector3(-10.0, 3.0, 4.0), 0.3, FrictionLaw::pyramid);
  const Vector r = sweep_until_still(data);
  EXPECT_EQ(r, Vector(Vector3(10.0, -3.0, -3.0)));
}

TEST(GaussSeidel, FixedContactsKeepNoImpulse) {
  const auto data = one_contact(Matrix3::Zero(), Vector3(-1.0, 0.5, 0.0), 0.5, FrictionLaw::cone);
  Vector r = Vector3(1.0, 0.2, 0.0);
  EXPECT_EQ(gauss_seidel_sweep(data, view(r)), 0.0);
  EXPECT_EQ(r, Vector::Zero(3));
  Vector u(3);
  EXPECT_EQ(alart_curnier_error(data, view(r), view(u)), 1.0);
}

TEST(GaussSeidel, NoContactsIsNoWork) {
  const auto data = make_gauss_seidel_data(to_blocks(SparseRows(0, 0)), Vector(0), Vector(0),
                                           FrictionLaw::cone, TangentStep::scalar);
  EXPECT_EQ(gauss_seidel_sweep(data, {}), 0.0);
  EXPECT_EQ(alart_curnier_error(data, {}, {}), 0.0);
}

/// The sweep word by word, on a dense W.
void plain_sweep(const Matrix& W, const Vector& q, const Vector& mu, FrictionLaw law, TangentStep step,
                 Vector& r) {
  for (Eigen::Index k = 0; k < mu.size(); ++k) {
    const Eigen::Index N = 3 * k;
    const auto u = [&](Eigen::Index i) { return W.row(i).dot(r) + q[i]; };
    r[N] = std::max(0.0, r[N] - u(N) / W(N, N));
    const double bound = mu[k] * r[N];
    const Eigen::Matrix2d S = 0.5 * (W.block<2, 2>(N + 1, N + 1) + W.block<2, 2>(N + 1, N + 1).transpose());
    if (law == FrictionLaw::pyramid) {
      for (const Eigen::Index j : {N + 1, N + 2}) r[j] = std::clamp(r[j] - u(j) / W(j, j), -bound, bound);
      continue;
    }
    if (step == TangentStep::scalar) {
      const double lambda = Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d>(S).eigenvalues()[1];
      const Eigen::Vector2d u_T(u(N + 1), u(N + 2));
      r.segment<2>(N + 1) -= u_T / lambda;
    } else {
      for (const Eigen::Index j : {N + 1, N + 2}) r[j] -= u(j) / W(j, j);
    }
    const double length = r.segment<2>(N + 1).norm();
    if (length > bound) r.segment<2>(N + 1) *= bound / length;
  }
}

struct Case {
  FrictionLaw law;
  TangentStep step;
};
void PrintTo(const Case& c, std::ostream* out) { *out << enum_name(c.law) << " " << enum_name(c.step); }

class GaussSeidelKernel : public ::testing::TestWithParam<Case> {};

TEST_P(GaussSeidelKernel, EqualsThePlainSweepOnUnsymmetricRandomProblems) {
  constexpr Index m = 40;
  SparseRows rows = test::random_rows(m, m, 6.0, false, 11);
  SparseRows shift(3 * m, 3 * m);
  shift.setIdentity();
  rows = 0.2 * rows + 1.5 * shift;  // diagonally dominant enough that r stays of order 1
  Vector q = test::random_vector(3 * m, 12);
  for (Index k = 0; k < m; ++k) q[3 * k] -= 0.5;
  const Vector mu = test::random_vector(m, 13).cwiseAbs();
  const auto data = make_gauss_seidel_data(to_blocks(rows), q, mu, GetParam().law, GetParam().step);
  Vector plain = Vector::Zero(3 * m);
  const std::vector<Isa> level = test::isa_levels();
  std::vector<Vector> r(level.size(), plain);
  for (int i = 0; i < 8; ++i) {
    plain_sweep(Matrix(rows), q, mu, GetParam().law, GetParam().step, plain);
    for (std::size_t l = 0; l < level.size(); ++l) {
      gauss_seidel_sweep(level[l], data, view(r[l]));
      // r is of order 1 and the sweeps contract: 25 ε, ten times the 5.6e-16 observed.
      EXPECT_LE((r[l] - plain).cwiseAbs().maxCoeff(), 5.6e-15) << enum_name(level[l]) << " sweep " << i;
      if (same_bits(level[l]) == Isa::avx2) {
        EXPECT_EQ(r[l], r[1]) << "those of plain C++, fused";
      }
    }
  }
  int sliding = 0, open = 0;
  for (Index k = 0; k < m; ++k) {
    open += plain[3 * k] == 0.0;
    sliding += plain[3 * k] > 0.0 && plain.segment<2>(3 * k + 1).norm() > 0.999 * mu[k] * plain[3 * k];
  }
  EXPECT_GT(open, 3);  // the test sees every branch
  EXPECT_GT(sliding, 3);
  Vector again = Vector::Zero(3 * m);
  for (int i = 0; i < 8; ++i) gauss_seidel_sweep(best_isa(), data, view(again));
  EXPECT_EQ(again, r.back());
}

TEST_P(GaussSeidelKernel, AStepIsASweepThatTellsItsChange) {
  constexpr Index m = 40;
  SparseRows rows = test::random_rows(m, m, 6.0, false, 21);
  SparseRows shift(3 * m, 3 * m);
  shift.setIdentity();
  rows = 0.2 * rows + 1.5 * shift;
  Vector q = test::random_vector(3 * m, 22);
  const auto data =
      make_gauss_seidel_data(to_blocks(rows), q, Vector::Constant(m, 0.4), GetParam().law, GetParam().step);
  for (const Isa level : test::isa_levels()) {
    Vector swept = Vector::Zero(3 * m), stepped = swept, change(3 * m);
    const Vector direction = test::random_vector(3 * m, 23);
    for (int i = 0; i < 5; ++i) {
      const Vector before = stepped;
      const double correction = gauss_seidel_sweep(level, data, view(swept));
      const SweepStep step = gauss_seidel_step(level, data, view(direction), view(stepped), view(change));
      EXPECT_EQ(stepped, swept);
      EXPECT_EQ(step.correction, correction);
      EXPECT_EQ(change, Vector(stepped - before));
      double square = 0.0, along = 0.0;
      for (Index k = 0; k < m; ++k) {
        const Eigen::Map<const Eigen::Vector3d> inverse_mass(data.contact[k].inverse_mass);
        square += change.segment<3>(3 * k).cwiseAbs2().dot(inverse_mass);
        along += change.segment<3>(3 * k).cwiseProduct(direction.segment<3>(3 * k)).dot(inverse_mass);
      }
      EXPECT_NEAR(step.square, square, 3 * m * 2.2e-16 * square);  // 3m roundings of a sum of positive terms
      EXPECT_NEAR(step.along, along, 3 * m * 2.2e-16 * std::sqrt(square * 3 * m * 2.0));  // no p is above 1
    }
  }
}

TEST_P(GaussSeidelKernel, CorrectionVanishesExactlyWhereTheErrorDoes) {
  if (GetParam().step == TangentStep::componentwise && GetParam().law == FrictionLaw::cone) {
    return;  // its fixed points are no solutions
  }
  const SparseRows W = Matrix(Matrix::Identity(6, 6)).sparseView();
  Vector q(6);
  q << -1.0, 0.0, 0.0, 2.0, 1.0, 0.0;
  const auto data =
      make_gauss_seidel_data(to_blocks(W), q, Vector::Constant(2, 0.5), GetParam().law, GetParam().step);
  Vector r = Vector::Zero(6), u(6);
  EXPECT_EQ(gauss_seidel_sweep(data, view(r)), 1.0);
  EXPECT_EQ(gauss_seidel_sweep(data, view(r)), 0.0);
  EXPECT_EQ(alart_curnier_error(data, view(r), view(u)), 0.0);
  EXPECT_EQ(u, (Vector(6) << 0.0, 0.0, 0.0, 2.0, 1.0, 0.0).finished());
}

TEST_P(GaussSeidelKernel, SaysWhenNumbersAreNotFinite) {
  const SparseRows W = Matrix(Matrix::Identity(9, 9)).sparseView();
  const auto data = make_gauss_seidel_data(to_blocks(W), -Vector::Ones(9), Vector::Ones(3), GetParam().law,
                                           GetParam().step);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const Isa level : test::isa_levels()) {
      Vector r = Vector::Zero(9), u(9);
      r[4] = bad;
      EXPECT_TRUE(std::isnan(alart_curnier_error(data, view(r), view(u))));
      EXPECT_FALSE(std::isfinite(gauss_seidel_sweep(level, data, view(r)))) << enum_name(level);
    }
  }
}

TEST_P(GaussSeidelKernel, FixedContactsAreLeftOutAmongOthers) {
  Matrix W = Matrix::Identity(9, 9);
  W.block<3, 9>(3, 0).setZero();
  W.block<9, 3>(0, 3).setZero();
  const auto data = make_gauss_seidel_data(to_blocks(SparseRows(W.sparseView())), -Vector::Ones(9),
                                           Vector::Ones(3), GetParam().law, GetParam().step);
  for (const Isa level : test::isa_levels()) {
    Vector r = Vector::Ones(9);
    gauss_seidel_sweep(level, data, view(r));
    EXPECT_EQ(r.segment<3>(3), Vector3::Zero());
    EXPECT_EQ(r[0], 1.0);
    EXPECT_EQ(r[6], 1.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, GaussSeidelKernel,
                         ::testing::Values(Case{FrictionLaw::cone, TangentStep::scalar},
                                           Case{FrictionLaw::cone, TangentStep::componentwise},
                                           Case{FrictionLaw::pyramid, TangentStep::componentwise}));

}  // namespace
}  // namespace signorini::gauss_seidel_test
