// Dense factors whose sums run in order: the bits of plain loops, at every size, and on every processor.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/rng.h"
#include "isa_levels.h"
#include "linalg/dense_cholesky.h"
#include "linalg/dense_kernels.h"
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

Matrix random_matrix(Rng& rng, Index rows, Index columns) {
  Matrix A(rows, columns);
  for (double& entry : A.reshaped()) entry = rng.uniform(-1.0, 1.0);
  return A;
}

/// c − a b as the kernels of a level take it.
double less_product(Isa level, double a, double b, double c) {
  return level == Isa::portable ? c - a * b : std::fma(-a, b, c);
}

/// Column by column, one term after the other.
Matrix plain_cholesky(Isa level, Matrix A) {
  for (Index j = 0; j < A.rows(); ++j) {
    for (Index i = j; i < A.rows(); ++i) {
      for (Index k = 0; k < j; ++k) A(i, j) = less_product(level, A(j, k), A(i, k), A(i, j));
      A(i, j) = i == j ? std::sqrt(A(i, j)) : A(i, j) / A(j, j);
    }
  }
  return A.triangularView<Eigen::Lower>();
}

/// A⁻¹ x by Gauss' elimination, one row after the other.
Vector plain_elimination(Isa level, Matrix A, Vector x) {
  const Index n = static_cast<Index>(A.rows());
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n; ++i)
      if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
    A.row(k).swap(A.row(pivot));
    std::swap(x[k], x[pivot]);
    for (Index i = k + 1; i < n; ++i) {
      const double factor = A(i, k) / A(k, k);
      for (Index j = k + 1; j < n; ++j) A(i, j) = less_product(level, factor, A(k, j), A(i, j));
      x[i] -= factor * x[k];
    }
  }
  for (Index k = n - 1; k >= 0; --k) {
    x[k] /= A(k, k);
    for (Index i = 0; i < k; ++i) x[i] -= A(i, k) * x[k];
  }
  return x;
}

TEST(DenseKernels, SubtractAProductTermByTerm) {
  Rng rng(25);
  for (const auto& [rows, columns, depth] : std::vector<std::array<Index, 3>>{{1, 1, 1},
                                                                              {3, 5, 2},
                                                                              {12, 4, 64},
                                                                              {13, 9, 65},
                                                                              {97, 30, 7},
                                                                              {200, 101, 130},
                                                                              {5, 4, 0},
                                                                              {0, 3, 2}}) {
    const Matrix A = random_matrix(rng, rows, depth), B = random_matrix(rng, columns, depth);
    const Matrix C = random_matrix(rng, rows + 2, columns);  // the last two rows belong to something else
    for (const Isa level : test::isa_levels()) {
      for (const DensePart part : {DensePart::whole, DensePart::lower}) {
        Matrix expected = C, found = C;
        for (Index j = 0; j < columns; ++j)
          for (Index i = part == DensePart::lower ? j : 0; i < rows; ++i)
            for (Index k = 0; k < depth; ++k)
              expected(i, j) = less_product(level, A(i, k), B(j, k), expected(i, j));
        subtract_product(level, {A.data(), 1, rows}, {B.data(), columns, 1}, depth,
                         {found.data(), rows, columns, rows + 2}, part);
        EXPECT_EQ(found, expected) << rows << ' ' << columns << ' ' << depth << ' ' << enum_name(level);
      }
    }
  }
}

TEST(DenseCholesky, HasTheBitsOfPlainLoops) {
  Rng rng(26);
  for (const Index n : {1, 2, 5, 8, 9, 31, 32, 33, 64, 100, 300}) {
    const Matrix A = random_symmetric(rng, n);
    for (const Isa level : test::isa_levels()) {
      Matrix L = A;
      ASSERT_TRUE(cholesky_in_order(level, L)) << n;
      EXPECT_EQ(Matrix(L.triangularView<Eigen::StrictlyUpper>()),
                Matrix(A.triangularView<Eigen::StrictlyUpper>()))
          << "above the diagonal nothing is written";
      L = Matrix(L.triangularView<Eigen::Lower>());
      EXPECT_EQ(L, plain_cholesky(level, A)) << n << ' ' << enum_name(level);
      // n + 1 roundings of each entry of L Lᵀ, none larger than the diagonal, n + 1
      EXPECT_LE((L * L.transpose() - A).cwiseAbs().maxCoeff(), (n + 1.0) * (n + 1.0) * 0x1p-53) << n;
    }
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

TEST(DenseLu, HasTheBitsOfPlainLoops) {
  Rng rng(30);
  for (const Index n : {1, 2, 9, 40, 41, 57, 150, 301}) {
    const Matrix A = random_matrix(rng, n, n);
    const Vector x = random_matrix(rng, n, 1);
    for (const Isa level : test::isa_levels()) {
      DenseLu lu;
      lu.use(level);
      ASSERT_TRUE(lu.factor(A));
      Vector found = x;
      lu.solve(span_of(found));
      EXPECT_EQ(found, plain_elimination(level, A, x)) << n << ' ' << enum_name(level);
    }
  }
}

TEST(DenseLu, TellsASingularMatrix) {
  Rng rng(31);
  for (const Index n : {4, 40, 90}) {
    for (const double entry : {0.0, std::nan(""), HUGE_VAL}) {
      Matrix A = random_symmetric(rng, n);
      A.col(n - 2).setConstant(entry);
      DenseLu lu;
      EXPECT_FALSE(lu.factor(A)) << n << ' ' << entry;
    }
  }
}

std::string digest_of_factors(Isa level) {
  Rng rng(29);
  Digest digest;
  for (const Index n : {40, 151, 240}) {
    Matrix A = random_symmetric(rng, n);
    Vector x = A.col(0);
    DenseLu lu;
    lu.use(level);
    EXPECT_TRUE(lu.factor(A));
    lu.solve(span_of(x));
    EXPECT_TRUE(cholesky_in_order(level, A));
    digest.update(std::span<const double>(span_of(x)));
    digest.update(std::span<const double>(A.data(), static_cast<std::size_t>(A.size())));
  }
  return digest_text(digest.value());
}

// x86-64 and arm64 give these bits.
TEST(DenseFactors, BitsAreTheSameEverywhere) {
  for (const Isa level : test::isa_levels())
    EXPECT_EQ(digest_of_factors(level), level == Isa::portable ? "e2f9da3646a00355" : "c154cd314ddff9fc")
        << enum_name(level);
}

}  // namespace
}  // namespace signorini::dense_factors_test
