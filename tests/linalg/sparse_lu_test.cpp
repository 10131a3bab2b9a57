#include "linalg/sparse_lu.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <utility>

#include "linalg/random_blocks.h"

namespace signorini::sparse_lu_test {
namespace {

using test::random_rows;
using test::random_vector;
using test::view;

/// Unsymmetric and well conditioned: a permutation without a diagonal, plus small random blocks.
SparseColumns random_matrix(Index block_rows, std::uint64_t seed) {
  SparseColumns A = 0.1 * random_rows(block_rows, block_rows, 3.0, false, seed);
  SparseColumns cyclic(A.rows(), A.cols());
  for (Index i = 0; i < cyclic.rows(); ++i) {
    cyclic.insert(i, i) = 0.0;  // in the pattern
    cyclic.insert(i, i % 3 == 2 ? i - 2 : i + 1) = 2.0;
  }
  A += cyclic;
  A.makeCompressed();
  return A;
}

/// Backward stable solves leave ‖A x − b‖ ≤ c n ε ‖A‖‖x‖.
double allowed(const SparseColumns& A, const Vector& x) {
  return 10.0 * static_cast<double>(A.rows()) * 2.3e-16 * A.norm() * x.norm();
}

void expect_solved(SparseLu& lu, const SparseColumns& A, std::uint64_t seed) {
  const Vector b = random_vector(A.rows(), seed);
  Vector x(b.size()), in_place = b;
  lu.solve(view(b), view(x));
  EXPECT_LE((A * x - b).norm(), allowed(A, x)) << A.rows();
  lu.solve(view(std::as_const(in_place)), view(in_place));
  EXPECT_EQ(in_place, x) << A.rows();
}

constexpr Index kSizes[] = {1, 7, 40, 50, 51, 200};  // blocks: 50 are the largest dense factor

TEST(SparseLu, SolvesToBackwardStabilityWithZerosOnTheDiagonal) {
  for (const Index size : kSizes) {
    const SparseColumns A = random_matrix(size, 3);
    SparseLu lu;
    ASSERT_TRUE(lu.analyse(A));
    EXPECT_EQ(lu.size(), A.rows());
    EXPECT_EQ(lu.is_dense(), A.rows() <= SparseLu::kDenseOrder);
    ASSERT_TRUE(lu.factor(A)) << size;
    expect_solved(lu, A, 4);
  }
}

TEST(SparseLu, GoesFromPatternToPatternAndSizeToSize) {
  SparseLu lu;
  for (const Index size : {20, 100, 3, 41, 60, 40, 200, 12}) {
    const SparseColumns A = random_matrix(size, 10 + size);
    ASSERT_TRUE(lu.analyse(A));
    ASSERT_TRUE(lu.factor(A));
    expect_solved(lu, A, 5);
  }
}

/// Pivots are chosen anew: what was factored before changes no bit.
TEST(SparseLu, HasTheBitsOfANewFactorAfterOtherNumbers) {
  for (const Index size : kSizes) {
    const SparseColumns A = random_matrix(size, 6);
    SparseColumns other = A;
    for (Index i = 0; i < other.nonZeros(); ++i) other.valuePtr()[i] *= 1.0 + 0.5 * std::sin(i);
    const Vector b = random_vector(A.rows(), 7);
    Vector x(b.size()), again(b.size());
    SparseLu used, fresh;
    ASSERT_TRUE(used.analyse(A) && used.factor(other) && used.factor(A));
    ASSERT_TRUE(fresh.analyse(A) && fresh.factor(A));
    used.solve(view(b), view(x));
    fresh.solve(view(b), view(again));
    EXPECT_EQ(x, again) << size;
  }
}

/// Chosen pivots serve matrices near by, and are given up for one that they do not suit.
TEST(SparseLu, KeepsChosenPivotsWhileTheyAreStable) {
  for (const Index size : kSizes) {
    const SparseColumns A = random_matrix(size, 6);
    SparseColumns diagonal = A;
    for (Index j = 0; j < A.cols(); ++j) {
      for (SparseColumns::InnerIterator entry(diagonal, j); entry; ++entry)
        entry.valueRef() = entry.row() == j ? 3.0 : 0.1 * entry.value();
    }
    SparseColumns near = A;
    for (Index i = 0; i < near.nonZeros(); ++i) near.valuePtr()[i] *= 1.0 + 0.1 * std::sin(i);
    SparseLu lu;
    ASSERT_TRUE(lu.analyse(A));
    lu.choose_pivots(A);
    const SparseColumns* const sequence[] = {&near, &diagonal, &near, &A};
    for (const SparseColumns* matrix : sequence) {
      ASSERT_TRUE(lu.factor(*matrix)) << size;
      expect_solved(lu, *matrix, 4);
    }
    SparseLu fresh;
    ASSERT_TRUE(fresh.analyse(A));
    fresh.choose_pivots(A);
    ASSERT_TRUE(fresh.factor(near) && lu.factor(near));
    const Vector b = random_vector(A.rows(), 7);
    Vector x(b.size()), again(b.size());
    lu.solve(view(b), view(x));
    fresh.solve(view(b), view(again));
    EXPECT_EQ(x, again) << size;
  }
}

TEST(SparseLu, TellsWhatIsSingularAndRecovers) {
  for (const Index size : {5, 60}) {
    const SparseColumns A = random_matrix(size, 8);
    SparseColumns singular = A, not_finite = A;
    for (SparseColumns::InnerIterator entry(singular, 4); entry; ++entry) entry.valueRef() = 0.0;
    not_finite.valuePtr()[3] = std::numeric_limits<double>::quiet_NaN();
    SparseLu lu;
    ASSERT_TRUE(lu.analyse(A));
    EXPECT_FALSE(lu.factor(singular)) << size;
    EXPECT_FALSE(lu.factor(not_finite)) << size;
    ASSERT_TRUE(lu.factor(A));
    expect_solved(lu, A, 9);
  }
}

TEST(SparseLu, CountsTheWorkOfADenseFactor) {
  // column k of n: n − k − 1 divisions, and 2 (n − k − 1) operations in each of the n − k − 1 columns behind it
  const SparseColumns A = (Matrix(3, 3) << 4, 1, 2, 1, 5, 1, 2, 1, 6).finished().sparseView();
  SparseLu lu;
  EXPECT_EQ(lu.fill(), 0);
  ASSERT_TRUE(lu.analyse(A) && lu.factor(A));
  EXPECT_EQ(lu.flops(), (2 + 2 * 4) + (1 + 2 * 1));
  EXPECT_EQ(lu.fill(), 9);
}

TEST(SparseLu, TellsTheFillOfALargeFactor) {
  // an arrow, ordered from its tip to its shaft, fills nothing in: 3 n − 2 numbers
  const Index n = 500;
  SparseColumns arrow(n, n);
  for (Index i = 0; i < n; ++i) {
    arrow.insert(i, i) = 2.0 * n;
    if (i > 0) arrow.insert(0, i) = arrow.insert(i, 0) = 1.0;
  }
  arrow.makeCompressed();
  SparseLu lu;
  ASSERT_TRUE(lu.analyse(arrow) && lu.factor(arrow));
  EXPECT_GE(lu.fill(), 3 * n - 2);
  EXPECT_LE(lu.fill(), 4 * n);
  EXPECT_GT(lu.flops(), 0.0);
  EXPECT_LE(lu.flops(), 40.0 * n);
  expect_solved(lu, arrow, 2);
}

TEST(SparseLu, TakesAnEmptyMatrix) {
  SparseLu lu;
  SparseColumns empty(0, 0);
  empty.makeCompressed();
  ASSERT_TRUE(lu.analyse(empty) && lu.factor(empty));
  lu.solve({}, {});
  EXPECT_EQ(lu.size(), 0);
}

}  // namespace
}  // namespace signorini::sparse_lu_test
