#include "bodies/signed_svd.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SVD>

#include "base/rng.h"

namespace signorini::signed_svd_test {
namespace {

constexpr double kEps = 2.22e-16;

Matrix3 random_matrix(Rng& rng) {
  Matrix3 M;
  for (Index k = 0; k < 9; ++k) M(k % 3, k / 3) = rng.uniform(-1.0, 1.0);
  return M;
}

/// At most five sweeps of three rotations, a few roundings each: 100 ε is about 10× what is observed.
void expect_svd(const Matrix3& F) {
  const SignedSvd svd = signed_svd(F);
  const double size = F.norm();
  EXPECT_LE((svd.U * svd.sigma.asDiagonal() * svd.V.transpose() - F).norm(), 100 * kEps * size) << F;
  for (const Matrix3& Q : {svd.U, svd.V}) {
    EXPECT_LT((Q * Q.transpose() - Matrix3::Identity()).norm(), 100 * kEps) << F;
    EXPECT_NEAR(Q.determinant(), 1.0, 100 * kEps) << F;
  }
  EXPECT_GE(svd.sigma[0], svd.sigma[1] - 10 * kEps * size);
  EXPECT_GE(svd.sigma[1], std::abs(svd.sigma[2]) - 10 * kEps * size);
  const Vector3 unsigned_sigma = Eigen::JacobiSVD<Matrix3>(F).singularValues();
  EXPECT_LE((svd.sigma.cwiseAbs() - unsigned_sigma).norm(), 100 * kEps * size) << F;
  if (std::abs(F.determinant()) > 1e-12 * size * size * size) {
    EXPECT_GT(svd.sigma[2] * F.determinant(), 0.0) << F;
  }
}

TEST(SignedSvd, FactorsRandomMatricesWithTheSignOnTheSmallestValue) {
  Rng rng(1);
  for (int k = 0; k < 2000; ++k) expect_svd(random_matrix(rng));
}

TEST(SignedSvd, FactorsNearlyEqualAndNearlyOrthogonalOnes) {
  Rng rng(2);
  for (const double size : {0.0, 1e-16, 1e-12, 1e-8, 1e-4}) {
    for (int k = 0; k < 200; ++k) {
      const Eigen::Quaterniond turn(rng.normal(), rng.normal(), rng.normal(), rng.normal());
      const Matrix3 Q = turn.normalized().toRotationMatrix();
      expect_svd(Q + size * random_matrix(rng));
      expect_svd(-Q + size * random_matrix(rng));  // three equal values, inverted
      expect_svd(Q * Vector3(2.0, 1.0, 1.0).asDiagonal() + size * random_matrix(rng));
    }
  }
}

TEST(SignedSvd, FactorsFlatThinAndZeroMatrices) {
  Rng rng(3);
  for (int k = 0; k < 200; ++k) {
    const Matrix3 A = random_matrix(rng);
    Matrix3 flat = A;
    flat.col(2) = 0.3 * flat.col(0) - flat.col(1);
    expect_svd(flat);
    expect_svd(A.col(0) * A.col(1).transpose());
    expect_svd(1e-30 * A);
    expect_svd(Vector3(1.0, 1e-9, 1e-18).asDiagonal() * A);
  }
  Matrix3 zero_column = random_matrix(rng);
  zero_column.col(1).setZero();
  expect_svd(zero_column);
  expect_svd(Matrix3::Zero());
  expect_svd(Vector3(0.0, 0.0, -3.0).asDiagonal());
}

TEST(SignedSvd, NotANumberEndsAndStays) {
  Matrix3 F = Matrix3::Identity();
  F(1, 2) = std::nan("");
  EXPECT_TRUE(signed_svd(F).sigma.hasNaN());
}

}  // namespace
}  // namespace signorini::signed_svd_test
