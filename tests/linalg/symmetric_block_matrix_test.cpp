#include "linalg/symmetric_block_matrix.h"

#include <gtest/gtest.h>

#include <cmath>

#include "linalg/random_blocks.h"

namespace signorini {
namespace {

using testing::random_rows;
using testing::random_vector;
using testing::view;

SparseRows random_symmetric(Index block_rows, double per_row, bool holes, std::uint64_t seed) {
  const SparseRows A = random_rows(block_rows, block_rows, per_row, holes, seed);
  return A + SparseRows(A.transpose());
}

TEST(SymmetricBlockMatrix, KeepsEveryEntryThroughTheUpperTriangle) {
  for (const Index n : {0, 1, 2, 25}) {
    const SparseRows A = random_symmetric(n, 3.0, true, 4);
    const BlockSparseMatrix blocks = to_blocks(A);
    const SymmetricBlockMatrix upper = upper_blocks(blocks);
    const BlockSparseMatrix full = full_blocks(upper);
    EXPECT_EQ(full.row_begin, blocks.row_begin);
    EXPECT_EQ(full.column, blocks.column);
    EXPECT_EQ(full.values, blocks.values);
    EXPECT_LE(upper.blocks(), (blocks.blocks() + n) / 2 + 1);
  }
}

TEST(SymmetricBlockMatrix, ProductEqualsTheFullOne) {
  for (const double per_row : {0.0, 1.0, 6.0, 30.0}) {
    const SparseRows A = random_symmetric(31, per_row, per_row < 2.0, 5);
    const SymmetricBlockMatrix upper = upper_blocks(to_blocks(A));
    const Vector x = random_vector(A.cols(), 6);
    const Vector exact = A * x;
    const Vector scale = A.cwiseAbs() * x.cwiseAbs();
    for (const Isa level : {Isa::portable, best_isa()}) {
      Vector y = Vector::Constant(A.rows(), 5.0), again = y;
      multiply(level, upper, view(x), view(y));
      multiply(level, upper, view(x), view(again));
      EXPECT_EQ(y, again);
      // k = 93 additions in two orders: 2 k ε Σ|a||x|
      for (Eigen::Index i = 0; i < y.size(); ++i)
        EXPECT_LE(std::abs(y[i] - exact[i]), 186.0 * 2.3e-16 * scale[i]) << i;
    }
  }
}

TEST(SymmetricBlockMatrix, WritesNothingBehindTheResult) {
  const SymmetricBlockMatrix upper = upper_blocks(to_blocks(random_symmetric(3, 3.0, false, 7)));
  const Vector x = Vector::Ones(9);
  Vector y = Vector::Constant(10, 7.0);
  multiply(best_isa(), upper, view(x), std::span<double>(y.data(), 9));
  EXPECT_EQ(y[9], 7.0);
}

}  // namespace
}  // namespace signorini
