#include "linalg/asymmetry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rng.h"
#include "linalg/general_factor.h"

namespace signorini::asymmetry_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

SparseRows sparse(const Matrix& A) {
  SparseRows S = A.sparseView();
  S.makeCompressed();
  return S;
}

TEST(Asymmetry, IsRelativeToTheDiagonalEntriesOfRowAndColumn) {
  Matrix A(3, 3);
  A << 4, 1, 0, 1, 9, 2, 0, 2, 1;
  EXPECT_EQ(asymmetry(sparse(A)), 0.0);
  A(0, 1) += 0.6;  // / √(4·9)
  EXPECT_NEAR(asymmetry(sparse(A)), 0.1, 4 * kEpsilon);
  A(2, 0) = 1.0;  // no entry on the other side; / √(4·1)
  EXPECT_NEAR(asymmetry(sparse(A)), 0.5, 4 * kEpsilon);
}

TEST(Asymmetry, APenaltyOnTheDiagonalDoesNotHideAMissingTriangle) {
  Matrix A(3, 3);
  A << 1e13, 0, 0, 0, 2, 1, 0, 0, 2;
  EXPECT_NEAR(asymmetry(sparse(A)), 0.5, 4 * kEpsilon);
}

TEST(Asymmetry, WithoutADiagonalTheLargestEntryIsTheScale) {
  Matrix A = Matrix::Zero(2, 2);
  A(0, 1) = 3.0;
  EXPECT_EQ(asymmetry(sparse(A)), 1.0);  // the root of 0 · 0 is no scale
  EXPECT_EQ(asymmetry(SparseRows(0, 0)), 0.0);
}

TEST(Asymmetry, IsTheLargestOfAllPairsWhateverThePattern) {
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::Index n = 1 + rng.below(9);
    Matrix A = Matrix::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) A(i, j) = rng.below(3) == 0 ? rng.normal() : 0.0;
      A(i, i) = 1.0 + rng.uniform();
    }
    if (trial % 2 == 0) A = (A + Matrix(A.transpose())).eval();
    const Vector root = A.diagonal().cwiseSqrt();
    double worst = 0.0;
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j)
        worst = std::max(worst, std::abs(A(i, j) - A(j, i)) / (root[i] * root[j]));
    }
    EXPECT_EQ(asymmetry(sparse(A)), worst);
  }
}

/// Diagonally dominant, so positive definite, and far from symmetric.
Matrix unsymmetric(Eigen::Index n) {
  Matrix A = Matrix::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    A(i, i) = 4.0 + static_cast<double>(i);
    if (i + 1 < n) A(i, i + 1) = 1.5;
    if (i > 0) A(i, i - 1) = -1.0;
  }
  return A;
}

TEST(GeneralFactor, SolvesWithAnUnsymmetricMatrix) {
  const Matrix A = unsymmetric(40);
  const GeneralFactor factor(sparse(A));
  Matrix B(40, 2);
  for (Eigen::Index i = 0; i < 40; ++i) B.row(i) << std::sin(static_cast<double>(i)), 1.0;
  // backward stable for a diagonally dominant matrix: a few roundings per row
  EXPECT_LE((A * factor.solve_columns(B) - B).cwiseAbs().maxCoeff(), 100 * kEpsilon);
  Vector x = B.col(0);
  factor.solve(span_of(std::as_const(x)), span_of(x));
  EXPECT_LE((A * x - B.col(0)).cwiseAbs().maxCoeff(), 100 * kEpsilon);
}

TEST(GeneralFactor, RefusesWhatIsNotPositiveDefinite) {
  Matrix A = unsymmetric(20);
  A(5, 5) = -1.0;
  EXPECT_THROW(GeneralFactor{sparse(A)}, InputError);
  Matrix turn(2, 2);  // regular, but xᵀ A x < 0 for x = (1, −1)
  turn << 1, 3, 0, 1;
  EXPECT_THROW(GeneralFactor{sparse(turn)}, InputError);
}

}  // namespace
}  // namespace signorini::asymmetry_test
