#include "linalg/conjugate_gradient.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/rng.h"
#include "linalg/spd_factor.h"

namespace signorini::conjugate_gradient_test {
namespace {

/// A chain of n nodes with random SPD couplings of size 1 and a mass that sets the condition, both triangles.
BlockSparseMatrix chain(Index n, double mass, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Eigen::Triplet<double, Index>> entries;
  const auto add = [&entries](Index i, Index j, const Matrix3& block) {
    for (Index a = 0; a < 3; ++a) {
      for (Index b = 0; b < 3; ++b) entries.emplace_back(3 * i + a, 3 * j + b, block(a, b));
    }
  };
  for (Index i = 0; i < n; ++i) add(i, i, mass * (1.0 + rng.uniform()) * Matrix3::Identity());
  for (const Index reach : {1, 7}) {
    for (Index i = 0; i + reach < n; ++i) {
      Matrix3 G;
      for (Index k = 0; k < 9; ++k) G(k % 3, k / 3) = rng.uniform(-1.0, 1.0);
      const Matrix3 spring = G * G.transpose();
      add(i, i, spring);
      add(i + reach, i + reach, spring);
      add(i, i + reach, -spring);
      add(i + reach, i, -spring);
    }
  }
  SparseRows A(3 * n, 3 * n);
  A.setFromTriplets(entries.begin(), entries.end());
  return to_blocks(A);
}

Vector random_vector(Index n, std::uint64_t seed) {
  Rng rng(seed);
  Vector x(n);
  for (Index i = 0; i < n; ++i) x[i] = rng.uniform(-1.0, 1.0);
  return x;
}

TEST(ConjugateGradient, MatchesTheCholeskyFactor) {
  TaskArena arena(2);
  for (const double mass : {1.0, 1e-3}) {
    const BlockSparseMatrix A = chain(900, mass, 1);
    const Vector b = random_vector(2700, 2);
    Vector expected(2700);
    SpdFactor(to_scalar(A)).solve(span_of(b), span_of(expected));
    ConjugateGradient cg;
    cg.prepare(arena, A);
    Vector x = Vector::Zero(2700);
    const CgReport report = cg.solve(arena, span_of(b), span_of(x), 1e-11, 10'000);
    EXPECT_TRUE(report.converged);
    EXPECT_GT(report.iterations, 5);
    EXPECT_LE(report.residual, 1e-11);
    // ‖x − x*‖ ≤ ‖A⁻¹‖ ‖b − A x‖, ‖A⁻¹‖ ≤ 1/mass, and the norm of D⁻¹ differs from the plain one by at most
    // √cond(D) with eigenvalues of D between mass and 4 · 9.
    EXPECT_LT((x - expected).norm(), 1e-11 / mass * std::sqrt(36.0 / mass) * b.norm());
  }
}

TEST(ConjugateGradient, TakesItsProductsFromTheFoldedMatrix) {
  const BlockSparseMatrix A = chain(900, 1.0, 1);  // two chunks, the second one short
  const SymmetricBlockMatrix folded = fold_symmetric(A, 2 * ConjugateGradient::kRowGrain).value();
  const Vector b = random_vector(2700, 2);
  const auto answer = [&](int threads, const SymmetricBlockMatrix* products) {
    TaskArena arena(threads);
    ConjugateGradient cg;
    cg.prepare(arena, A, products);
    Vector x = Vector::Zero(2700);
    EXPECT_TRUE(cg.solve(arena, span_of(b), span_of(x), 1e-11, 10'000).converged);
    return x;
  };
  const Vector whole = answer(1, nullptr), once = answer(1, &folded);
  for (const int threads : {2, 8}) EXPECT_EQ(answer(threads, &folded), once);
  // both are within ‖A⁻¹‖ √cond(D) ‖b − A x‖ of the answer, mass = 1
  EXPECT_LT((once - whole).norm(), 2.0 * 1e-11 * 6.0 * b.norm());
  EXPECT_NE(once, whole) << "another order of additions";
}

TEST(ConjugateGradient, ReportsTheTrueResidualInThePreconditionersNorm) {
  TaskArena arena(1);
  const BlockSparseMatrix A = chain(50, 0.1, 3);
  const Vector b = random_vector(150, 4);
  ConjugateGradient cg;
  cg.prepare(arena, A);
  Vector x = random_vector(150, 5);
  const CgReport report = cg.solve(arena, span_of(b), span_of(x), 1e-14, 4);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.iterations, 4);
  const SparseRows dense = to_scalar(A);
  const auto norm = [&A](const Vector& r) {
    double sum = 0.0;
    for (Index i = 0; i < A.block_rows; ++i) {
      const Vector3 part = r.segment<3>(3 * i);
      sum += part.dot(diagonal_block(A, i).llt().solve(part));
    }
    return std::sqrt(sum);
  };
  EXPECT_NEAR(report.residual / (norm(b - dense * x) / norm(b)), 1.0, 1e-12);  // 150 sums: 10× above observed
}

TEST(ConjugateGradient, StartsFromTheGuessAndStopsAtOnceWhenItIsTheAnswer) {
  TaskArena arena(1);
  const BlockSparseMatrix A = chain(40, 0.5, 6);
  const Vector b = random_vector(120, 7);
  ConjugateGradient cg;
  cg.prepare(arena, A);
  Vector x = Vector::Zero(120);
  ASSERT_TRUE(cg.solve(arena, span_of(b), span_of(x), 1e-12, 1000).converged);
  const Vector answer = x;
  const CgReport again = cg.solve(arena, span_of(b), span_of(x), 1e-12, 1000);
  EXPECT_TRUE(again.converged);
  EXPECT_EQ(again.iterations, 0);
  EXPECT_EQ(x, answer);
}

TEST(ConjugateGradient, AZeroRightHandSideGivesZero) {
  TaskArena arena(1);
  const BlockSparseMatrix A = chain(10, 0.5, 6);
  ConjugateGradient cg;
  cg.prepare(arena, A);
  const Vector b = Vector::Zero(30);
  Vector x = random_vector(30, 8);
  const CgReport report = cg.solve(arena, span_of(b), span_of(x), 1e-12, 1000);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(x.norm(), 0.0);
}

TEST(ConjugateGradient, HasTheSameBitsForAnyNumberOfThreads) {
  const BlockSparseMatrix A = chain(1500, 0.01, 9);  // several chunks
  const Vector b = random_vector(4500, 10);
  std::vector<Vector> answers;
  for (const int threads : {1, 2, 4, 8}) {
    TaskArena arena(threads);
    ConjugateGradient cg;
    cg.prepare(arena, A);
    Vector x = Vector::Zero(4500);
    EXPECT_TRUE(cg.solve(arena, span_of(b), span_of(x), 1e-10, 10'000).converged);
    answers.push_back(x);
  }
  for (const Vector& x : answers)
    EXPECT_EQ(std::memcmp(x.data(), answers[0].data(), 4500 * sizeof(double)), 0);
}

TEST(ConjugateGradient, AToleranceBelowRoundingEndsUnconverged) {
  TaskArena arena(1);
  const BlockSparseMatrix A = chain(300, 1e-4, 11);
  const Vector b = random_vector(900, 12);
  ConjugateGradient cg;
  cg.prepare(arena, A);
  Vector x = Vector::Zero(900);
  const CgReport report = cg.solve(arena, span_of(b), span_of(x), 1e-30, 1'000'000);
  EXPECT_FALSE(report.converged);
  EXPECT_LT(report.iterations, 100'000);
  EXPECT_LT(report.residual, 1e-10);
}

TEST(ConjugateGradient, NotFiniteNumbersAndIndefiniteMatricesEndUnconverged) {
  TaskArena arena(1);
  BlockSparseMatrix A = chain(10, 0.5, 13);
  ConjugateGradient cg;
  cg.prepare(arena, A);
  Vector b = random_vector(30, 14);
  b[7] = std::nan("");
  Vector x = Vector::Zero(30);
  EXPECT_FALSE(cg.solve(arena, span_of(b), span_of(x), 1e-10, 100).converged);
  // Off-diagonal blocks larger than the diagonal: indefinite, with definite diagonal blocks.
  for (Index i = 0; i + 1 < 10; ++i) {
    for (const Index k : {find_block(A, i, i + 1), find_block(A, i + 1, i)})
      Eigen::Map<Matrix3>(A.block(k)) = 100.0 * Matrix3::Identity();
  }
  cg.prepare(arena, A);
  b = random_vector(30, 15);
  x.setZero();
  EXPECT_FALSE(cg.solve(arena, span_of(b), span_of(x), 1e-10, 100).converged);
}

TEST(ConjugateGradient, NamesTheDofOfABadDiagonalBlock) {
  TaskArena arena(2);
  BlockSparseMatrix A = chain(700, 0.5, 16);
  for (const Index row : {333, 650}) Eigen::Map<Matrix3>(A.block(find_block(A, row, row)))(1, 1) = -1.0;
  ConjugateGradient cg;
  try {
    cg.prepare(arena, A);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("999"), std::string::npos) << error.what();
  }
}

TEST(MultiplyRows, GivesTheBitsOfTheWholeProductAndTouchesNothingElse) {
  const BlockSparseMatrix A = chain(60, 0.5, 17);
  const Vector x = random_vector(180, 18);
  Vector whole(180), part = Vector::Constant(180, 7.0);
  multiply(A, span_of(x), span_of(whole));
  multiply_rows(A, 20, 41, span_of(x), span_of(part));
  for (Index i = 0; i < 180; ++i) EXPECT_EQ(part[i], i >= 60 && i < 123 ? whole[i] : 7.0) << i;
}

TEST(Multiply, OnThreadsGivesTheSameBits) {
  constexpr Index kRows = 2000;  // several parts
  const BlockSparseMatrix A = chain(kRows, 0.5, 21);
  const Vector x = random_vector(3 * kRows, 22);
  Vector alone(3 * kRows);
  multiply(A, span_of(x), span_of(alone));
  for (const int threads : {0, 1, 2, 4, 8}) {
    std::optional<TaskArena> arena;
    if (threads > 0) arena.emplace(threads);
    Vector shared = Vector::Constant(3 * kRows, 7.0);
    multiply(arena ? &*arena : nullptr, A, span_of(x), span_of(shared));
    EXPECT_EQ(shared, alone) << threads;
  }
}

}  // namespace
}  // namespace signorini::conjugate_gradient_test
