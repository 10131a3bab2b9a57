#include "bodies/polar_rotation.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "base/rng.h"

namespace signorini::polar_rotation_test {
namespace {

constexpr double kEps = 2.22e-16;

Matrix3 random_matrix(Rng& rng) {
  Matrix3 F;
  for (Index i = 0; i < 9; ++i) F(i / 3, i % 3) = rng.normal();
  return F;
}

Matrix3 random_rotation(Rng& rng) {
  return Eigen::Quaterniond(rng.normal(), rng.normal(), rng.normal(), rng.normal())
      .normalized()
      .toRotationMatrix();
}

void expect_rotation(const Matrix3& R) {
  EXPECT_LT((R.transpose() * R - Matrix3::Identity()).norm(), 50 * kEps);
  EXPECT_NEAR(R.determinant(), 1.0, 50 * kEps);
}

TEST(PolarRotation, RecoversTheRotationOfAPlantedProduct) {
  Rng rng(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const Matrix3 Q = random_rotation(rng);
    const Matrix3 V = random_rotation(rng);
    const Vector3 stretch(rng.uniform(0.3, 3.0), rng.uniform(0.3, 3.0), rng.uniform(0.3, 3.0));
    const Matrix3 R = polar_rotation(Q * V * stretch.asDiagonal() * V.transpose());
    expect_rotation(R);
    // The rotation is determined to ε times the largest over the smallest sum of two stretches, here at
    // most 10.
    EXPECT_LT((R - Q).norm(), 500 * kEps);
  }
}

TEST(PolarRotation, IsARotationWithSymmetricStretchForEveryMatrix) {
  Rng rng(4);
  for (int trial = 0; trial < 2000; ++trial) {
    const Matrix3 F = random_matrix(rng);  // half of them inverted
    const Matrix3 R = polar_rotation(F);
    expect_rotation(R);
    const Matrix3 S = R.transpose() * F;
    EXPECT_LT((S - S.transpose()).norm(),
              1e-12 * F.norm());  // conditioning of nearly flat F, 10× above observed
  }
}

TEST(PolarRotation, TheSignOfAnInvertedElementGoesToItsSmallestStretch) {
  const Matrix3 F = Vector3(2.0, -0.5, 1.0).asDiagonal();
  EXPECT_LT((polar_rotation(F) - Matrix3::Identity()).norm(), 20 * kEps);
}

TEST(PolarRotation, FlatAndZeroMatricesGiveARotation) {
  expect_rotation(polar_rotation(Matrix3::Zero()));
  expect_rotation(polar_rotation(Vector3(1.0, 1.0, 0.0).asDiagonal()));
  expect_rotation(polar_rotation(Vector3(1.0, 0.0, 0.0) * Vector3(0.0, 1.0, 0.0).transpose()));
  expect_rotation(polar_rotation(1e-150 * Matrix3::Identity()));
}

TEST(PolarRotation, BothBranchesAgreeWhereTheyMeet) {
  // det/‖F‖³ of diag(1, 1, s) crosses the switch near s = 0.029; the rotation is Q on both sides.
  Rng rng(5);
  const Matrix3 Q = random_rotation(rng);
  for (const double s : {0.02, 0.025, 0.028, 0.029, 0.03, 0.04}) {
    const Matrix3 R = polar_rotation(Q * Matrix3(Vector3(1.0, 1.0, s).asDiagonal()));
    EXPECT_LT((R - Q).norm(), 200 * kEps) << s;
  }
}

}  // namespace
}  // namespace signorini::polar_rotation_test
