#include "linalg/symmetric_block_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "linalg/isa_levels.h"
#include "linalg/random_blocks.h"

namespace signorini::symmetric_block_matrix_test {
namespace {

using test::random_rows;
using test::random_vector;
using test::view;

SparseRows random_symmetric(Index block_rows, double per_row, bool holes, std::uint64_t seed) {
  const SparseRows A = random_rows(block_rows, block_rows, per_row, holes, seed);
  return A + SparseRows(A.transpose());
}

SymmetricBlockMatrix folded(const SparseRows& A, Index chunk_rows) {
  auto result = fold_symmetric(to_blocks(A), chunk_rows);
  EXPECT_TRUE(result.has_value());
  return std::move(result).value();
}

/// Chunks of one row, of sizes that divide 31 rows and that do not, of all rows and of more.
constexpr std::array<Index, 6> kChunkRows{1, 4, 10, 30, 31, 100};

TEST(SymmetricBlockMatrix, KeepsEveryEntry) {
  // A x for x a unit vector is one column: a sum with one term, so exact
  for (const Index n : {0, 1, 2, 31}) {
    const SparseRows A = random_symmetric(n, 3.0, true, 4);
    for (const Index rows : kChunkRows) {
      const SymmetricBlockMatrix S = folded(A, rows);
      for (const Isa level : test::isa_levels()) {
        Matrix all(A.rows(), A.cols());
        Vector y(A.rows());
        for (Eigen::Index j = 0; j < A.cols(); ++j) {
          multiply(level, S, view(Vector(Vector::Unit(A.cols(), j))), view(y));
          all.col(j) = y;
        }
        EXPECT_EQ(all, Matrix(A)) << n << " rows in chunks of " << rows;
      }
    }
  }
}

TEST(SymmetricBlockMatrix, StoresCouplingsInsideAChunkOnce) {
  const BlockSparseMatrix A = to_blocks(random_symmetric(25, 6.0, false, 4));
  for (const Index rows : {1, 7, 25}) {
    const SymmetricBlockMatrix S = fold_symmetric(A, rows).value();
    Index kept = 0;
    for (Index i = 0; i < A.block_rows; ++i) {
      for (Index b = A.row_begin[i]; b < A.row_begin[i + 1]; ++b) {
        const Index j = A.column[b];
        kept += j / rows != i / rows || j >= i ? 1 : 0;
      }
    }
    EXPECT_EQ(S.blocks(), kept);
  }
}

TEST(SymmetricBlockMatrix, ProductEqualsTheFullOne) {
  for (const double per_row : {0.0, 1.0, 6.0, 30.0}) {
    const SparseRows A = random_symmetric(31, per_row, per_row < 2.0, 5);
    const Vector x = random_vector(A.cols(), 6);
    const Vector exact = A * x;
    const Vector scale = A.cwiseAbs() * x.cwiseAbs();
    for (const Index rows : kChunkRows) {
      const SymmetricBlockMatrix S = folded(A, rows);
      for (const Isa level : test::isa_levels()) {
        Vector y = Vector::Constant(A.rows(), 5.0), again = y;
        multiply(level, S, view(x), view(y));
        multiply(level, S, view(x), view(again));
        EXPECT_EQ(y, again);
        multiply(Isa::fused, S, view(x), view(again));
        if (same_bits(level) == Isa::avx2) {
          EXPECT_EQ(y, again) << enum_name(level);
        }
        // k = 93 additions in two orders: 2 k ε Σ|a||x|
        for (Eigen::Index i = 0; i < y.size(); ++i)
          EXPECT_LE(std::abs(y[i] - exact[i]), 186.0 * 2.3e-16 * scale[i]) << i;
      }
    }
  }
}

TEST(SymmetricBlockMatrix, AChunkGivesTheSameBitsAndTouchesNothingElse) {
  const SparseRows A = random_symmetric(31, 6.0, false, 8);
  const SymmetricBlockMatrix S = folded(A, 10);
  const Vector x = random_vector(A.cols(), 9);
  Vector whole(A.rows());
  multiply(S, view(x), view(whole));
  ASSERT_EQ(S.chunks(), 4);
  for (Index chunk = 0; chunk < S.chunks(); ++chunk) {
    Vector y = Vector::Constant(A.rows(), 7.0);
    multiply_chunk(S, chunk, view(x), view(y));
    Vector expected = Vector::Constant(A.rows(), 7.0);
    const Index begin = 3 * S.chunk_begin(chunk), size = 3 * S.chunk_end(chunk) - begin;
    expected.segment(begin, size) = whole.segment(begin, size);
    EXPECT_EQ(y, expected);
  }
}

TEST(SymmetricBlockMatrix, WritesNothingBehindTheResult) {
  const SymmetricBlockMatrix S = folded(random_symmetric(3, 3.0, false, 7), 2);
  const Vector x = Vector::Ones(9);
  Vector y = Vector::Constant(10, 7.0);
  multiply(best_isa(), S, view(x), std::span<double>(y.data(), 9));
  EXPECT_EQ(y[9], 7.0);
}

TEST(SymmetricBlockMatrix, ThreadsBuildTheSameOne) {
  const BlockSparseMatrix A = to_blocks(random_symmetric(31, 6.0, true, 11));
  const SymmetricBlockMatrix alone = fold_symmetric(A, 4).value();
  TaskArena arena(4);
  const SymmetricBlockMatrix together = fold_symmetric(A, 4, &arena).value();
  EXPECT_EQ(alone.row_begin, together.row_begin);
  EXPECT_EQ(alone.outside_begin, together.outside_begin);
  EXPECT_EQ(alone.column, together.column);
  EXPECT_EQ(alone.values, together.values);
}

/// Rows 0 and 5 in chunks of four couple across chunks, rows 1 and 2 inside one.
SparseRows two_couplings() {
  SparseRows A(24, 24);
  A.setIdentity();
  const auto couple = [&](Index i, Index j) {
    for (Index a = 0; a < 3; ++a) {
      for (Index b = 0; b < 3; ++b)
        A.coeffRef(3 * i + a, 3 * j + b) = A.coeffRef(3 * j + b, 3 * i + a) = 0.25;
    }
  };
  couple(0, 5);
  couple(1, 2);
  A.makeCompressed();
  return A;
}

TEST(SymmetricBlockMatrix, RefusesWhatIsNotSymmetricToRounding) {
  // rounding is measured against the diagonal, here 1
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  SparseRows A = two_couplings();
  EXPECT_TRUE(fold_symmetric(to_blocks(A), 4).has_value());
  EXPECT_TRUE(is_symmetric(to_blocks(A)));
  A.coeffRef(4, 8) += 4.0 * kEpsilon;
  EXPECT_TRUE(fold_symmetric(to_blocks(A), 4).has_value());
  A.coeffRef(4, 8) += 8.0 * kEpsilon;
  EXPECT_FALSE(fold_symmetric(to_blocks(A), 4).has_value());
  EXPECT_FALSE(is_symmetric(to_blocks(A)));
  EXPECT_TRUE(fold_symmetric(to_blocks(A), 1).has_value()) << "nothing is folded";
  A.coeffRef(4, 8) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fold_symmetric(to_blocks(A), 4).has_value());
}

TEST(SymmetricBlockMatrix, RefusesACouplingWithoutItsTranspose) {
  for (const bool upper : {true, false}) {
    SparseRows A(24, 24);
    A.setIdentity();
    A.coeffRef(upper ? 4 : 8, upper ? 8 : 4) = 0.25;
    A.makeCompressed();
    EXPECT_FALSE(fold_symmetric(to_blocks(A), 4).has_value());
    EXPECT_TRUE(fold_symmetric(to_blocks(A), 1).has_value());
  }
}

TEST(SymmetricBlockMatrix, KeepsAnAsymmetryBetweenChunks) {
  SparseRows A = two_couplings();
  A.coeffRef(1, 16) = -3.0;
  EXPECT_FALSE(is_symmetric(to_blocks(A)));
  const SymmetricBlockMatrix S = folded(A, 4);
  const Vector x = random_vector(24, 12);
  Vector y(24);
  multiply(S, view(x), view(y));
  EXPECT_LE((y - A * x).cwiseAbs().maxCoeff(), 16.0 * 2.3e-16 * (A.cwiseAbs() * x.cwiseAbs()).maxCoeff());
}

}  // namespace
}  // namespace signorini::symmetric_block_matrix_test
