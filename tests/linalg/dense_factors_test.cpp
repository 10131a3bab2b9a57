// Dense factors whose sums run in order: the bits of plain loops, at every size, and on every processor.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/digest.h"
#include "base/rng.h"
#include "linalg/dense_cholesky.h"
#include "linalg/dense_lu.h"

namespace signorini::dense_factors_test {
namespace {

/// Entries in (−1, 1), n more on the diagonal.
Matrix random_symmetric(Rng& rng, Index n) {
  Matrix A(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) A(i, j) = A(j, i) = rng.uniform(-1.0, 1.0);
    A(j, j) += n;
  }
  return A;
}

/// Column by column, one term after the other.
Matrix plain_cholesky(Matrix A) {
  for (Index j = 0; j < A.rows(); ++j) {
    for (Index i = j; i < A.rows(); ++i) {
      for (Index k = 0; k < j; ++k) A(i, j) -= A(j, k) * A(i, k);
      A(i, j) = i == j ? std::sqrt(A(i, j)) : A(i, j) / A(j, j);
    }
  }
  return A.triangularView<Eigen::Lower>();
}

TEST(DenseCholesky, HasTheBitsOfPlainLoops) {
  Rng rng(26);
  for (const Index n : {1, 2, 5, 31, 32, 33, 64, 100, 300}) {
    const Matrix A = random_symmetric(rng, n);
    Matrix L = A;
    ASSERT_TRUE(cholesky_in_order(L)) << n;
    EXPECT_EQ(Matrix(L.triangularView<Eigen::StrictlyUpper>()),
              Matrix(A.triangularView<Eigen::StrictlyUpper>()))
        << "above the diagonal nothing is written";
    L = Matrix(L.triangularView<Eigen::Lower>());
    EXPECT_EQ(L, plain_cholesky(A)) << n;
    // n + 1 roundings of each entry of L Lᵀ, none larger than the diagonal, n + 1
    EXPECT_LE((L * L.transpose() - A).cwiseAbs().maxCoeff(), (n + 1.0) * (n + 1.0) * 0x1p-53) << n;
  }
}

TEST(DenseCholesky, TellsAPivotThatIsNotPositive) {
  Rng rng(27);
  for (const Index n : {1, 40, 70}) {
    for (const double pivot : {0.0, -1.0, std::nan("")}) {
      Matrix A = random_symmetric(rng, n);
      A(n - 1, n - 1) = pivot;
      EXPECT_FALSE(cholesky_in_order(A)) << n << ' ' << pivot;
    }
  }
  Matrix none(0, 0);
  EXPECT_TRUE(cholesky_in_order(none));
}

TEST(DenseLu, SolvesWithPivots) {
  Rng rng(28);
  for (const Index n : {1, 3, 40, 200}) {
    Matrix A = random_symmetric(rng, n);
    A = Matrix(A.colwise().reverse());  // the largest entries are far from the diagonal
    Vector x(n);
    for (Index i = 0; i < n; ++i) x[i] = rng.uniform(-1.0, 1.0);
    Vector solved = A * x;
    DenseLu lu;
    ASSERT_TRUE(lu.factor(A));
    lu.solve(span_of(solved));
    EXPECT_LE((solved - x).norm(), 1e-12 * x.norm()) << "diagonal dominance: condition below 10";
    A.col(0).setZero();
    EXPECT_FALSE(lu.factor(A)) << "singular";
  }
}

// x86-64 and arm64 give these bits.
TEST(DenseFactors, BitsAreTheSameEverywhere) {
  Rng rng(29);
  Digest digest;
  for (const Index n : {40, 151, 240}) {
    Matrix A = random_symmetric(rng, n);
    Vector x = A.col(0);
    DenseLu lu;
    ASSERT_TRUE(lu.factor(A));
    lu.solve(span_of(x));
    ASSERT_TRUE(cholesky_in_order(A));
    digest.update(std::span<const double>(span_of(x)));
    digest.update(std::span<const double>(A.data(), static_cast<std::size_t>(A.size())));
  }
  EXPECT_EQ(digest_text(digest.value()), "e2f9da3646a00355");
}

}  // namespace
}  // namespace signorini::dense_factors_test
