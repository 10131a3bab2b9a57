#include "linalg/jacobi_condition.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"

namespace signorini::jacobi_condition_test {
namespace {

SparseRows sparse(const Eigen::MatrixXd& A) {
  SparseRows S = A.sparseView();
  S.makeCompressed();
  return S;
}

/// A chain of n nodes with fixed ends, the same springs of stiffness 1 between all: D = 2 I and
/// λ_j = 1 − cos(j π/(n+1)), so that κ = cot²(π/(2(n+1))).
SparseRows chain(Eigen::Index n) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(3 * n, 3 * n);
  for (Eigen::Index i = 0; i < 3 * n; ++i) {
    A(i, i) = 2.0;
    if (i + 3 < 3 * n) A(i, i + 3) = A(i + 3, i) = -1.0;
  }
  return sparse(A);
}

TEST(JacobiCondition, OfAChainIsTheAnalyticOne) {
  for (const Eigen::Index n : {2, 10, 100}) {
    const double cotangent = 1.0 / std::tan(std::numbers::pi / (2.0 * static_cast<double>(n + 1)));
    // the process ends where the eigenvalues move by a thousandth in ten steps
    EXPECT_NEAR(jacobi_spectrum(chain(n)).condition() / (cotangent * cotangent), 1.0, 0.01) << n;
  }
}

TEST(JacobiCondition, IsThatOfTheDensePencil) {
  Rng rng(3);
  const Eigen::Index n = 30;
  Eigen::MatrixXd G(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) G(i, j) = rng.uniform(-1.0, 1.0);
  }
  const Eigen::MatrixXd A = G * G.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; i += 3) D.block<3, 3>(i, i) = A.block<3, 3>(i, i);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> pencil(A, D, Eigen::EigenvaluesOnly);
  const JacobiSpectrum found = jacobi_spectrum(sparse(A));
  EXPECT_NEAR(found.low / pencil.eigenvalues().minCoeff(), 1.0, 0.01);
  EXPECT_NEAR(found.high / pencil.eigenvalues().maxCoeff(), 1.0, 0.01);
  EXPECT_GE(found.low, (1.0 - 1e-9) * pencil.eigenvalues().minCoeff());
  EXPECT_LE(found.high, (1.0 + 1e-9) * pencil.eigenvalues().maxCoeff());
}

TEST(JacobiCondition, DoesNotSeeHowNodesAreScaled) {
  Eigen::MatrixXd A = Eigen::MatrixXd(chain(20));
  for (Eigen::Index node = 0; node < 20; ++node) {
    const double scale = std::pow(10.0, static_cast<double>(node % 5) - 2.0);
    A.middleRows(3 * node, 3) *= scale;
    A.middleCols(3 * node, 3) *= scale;
  }
  const double plain = jacobi_spectrum(chain(20)).condition();
  EXPECT_NEAR(jacobi_spectrum(sparse(A)).condition() / plain, 1.0, 0.01);
}

TEST(JacobiCondition, OfBlocksAloneIsOne) {
  EXPECT_NEAR(jacobi_spectrum(sparse(7.0 * Eigen::MatrixXd::Identity(9, 9))).condition(), 1.0, 1e-12);
  EXPECT_EQ(jacobi_spectrum(SparseRows(0, 0)).steps, 0);
}

TEST(JacobiCondition, RefusesWhatHasNone) {
  EXPECT_THROW(jacobi_spectrum(sparse(Eigen::MatrixXd::Identity(4, 4))), InputError);
  EXPECT_THROW(jacobi_spectrum(sparse(-1.0 * Eigen::MatrixXd::Identity(3, 3))), InputError);
  Eigen::MatrixXd broken = Eigen::MatrixXd::Identity(3, 3);
  broken(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(jacobi_spectrum(sparse(broken)), InputError);
}

}  // namespace
}  // namespace signorini::jacobi_condition_test
