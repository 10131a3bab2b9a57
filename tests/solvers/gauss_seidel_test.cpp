#include "solvers/gauss_seidel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace signorini {
namespace {

std::span<double> view(Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

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
  const auto data = one_contact(W, Vector3(-1.0, 3.0, 4.0), 0.5, FrictionLaw::cone, TangentStep::componentwise);
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
    const auto data =
        make_gauss_seidel_data(to_blocks(SparseRows(W.sparseView())), q, Vector::Zero(2), law, TangentStep::scalar);
    const Vector r = sweep_until_still(data);
    EXPECT_EQ(r[0], 0.0);
    EXPECT_EQ(r[3], 0.5);
    EXPECT_EQ(r.segment<2>(1).norm() + r.segment<2>(4).norm(), 0.0);
  }
}

TEST(GaussSeidel, ErrorShrinksByTwoThirdsPerSweepOnStackedPoints) {
  // Mass 1 on the floor, mass 2 on mass 1, free velocities −1: W_NN = [[1, −1], [−1, 3/2]], q_N = (−1, 0), answer (3, 2).
  Matrix W = Matrix::Identity(6, 6);
  W(0, 0) = 1.0;
  W(0, 3) = W(3, 0) = -1.0;
  W(3, 3) = 1.5;
  Vector q = Vector::Zero(6);
  q[0] = -1.0;
  const auto data = make_gauss_seidel_data(to_blocks(SparseRows(W.sparseView())), q, Vector::Zero(2), FrictionLaw::cone,
                                           TangentStep::scalar);
  Vector r = Vector::Zero(6);
  gauss_seidel_sweep(data, view(r));
  double error = std::abs(r[3] - 2.0);
  for (int i = 0; i < 20; ++i) {
    gauss_seidel_sweep(data, view(r));
    EXPECT_NEAR(std::abs(r[3] - 2.0) / error, 2.0 / 3.0, 1e-10);  // the error is ≥ 6e-4: 12 digits of the ratio survive
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
  const auto data = make_gauss_seidel_data(to_blocks(SparseRows(0, 0)), Vector(0), Vector(0), FrictionLaw::cone,
                                           TangentStep::scalar);
  EXPECT_EQ(gauss_seidel_sweep(data, {}), 0.0);
  EXPECT_EQ(alart_curnier_error(data, {}, {}), 0.0);
}

}  // namespace
}  // namespace signorini
