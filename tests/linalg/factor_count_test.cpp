#include "linalg/factor_count.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace signorini {
namespace {

/// Blocks where `coupled` says so, the diagonal included.
template <class Coupled>
BlockSparseMatrix blocks_where(Index rows, Coupled coupled) {
  BlockSparseMatrix A;
  A.block_rows = A.block_columns = rows;
  A.row_begin.push_back(0);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j)
      if (i == j || coupled(i, j)) A.column.push_back(j);
    A.row_begin.push_back(count(A.column));
  }
  A.values.assign(9 * A.column.size() + BlockSparseMatrix::kPadding, 1.0);
  return A;
}

std::vector<Index> all_of(Index rows) {
  std::vector<Index> kept(rows);
  std::iota(kept.begin(), kept.end(), Index{0});
  return kept;
}

TEST(FactorCount, ADiagonalTakesNothingAndAChainOneProductALink) {
  const auto nothing = blocks_where(9, [](Index, Index) { return false; });
  EXPECT_EQ(factor_products(nothing, all_of(9)), 0.0);
  const auto chain = blocks_where(9, [](Index i, Index j) { return i + 1 == j || j + 1 == i; });
  EXPECT_EQ(factor_products(chain, all_of(9)), 8.0);
}

TEST(FactorCount, ADenseMatrixTakesTheSumOfSquares) {
  const auto dense = blocks_where(6, [](Index, Index) { return true; });
  EXPECT_EQ(factor_products(dense, all_of(6)), 1 + 4 + 9 + 16 + 25);
}

/// A star whose centre comes first fills everything in this order; minimum degree takes the centre last.
TEST(FactorCount, TheOrderIsThatOfMinimumDegree) {
  const auto star = blocks_where(20, [](Index i, Index j) { return i == 0 || j == 0; });
  EXPECT_EQ(factor_products(star, all_of(20)), 19.0);
}

TEST(FactorCount, OnlyRowsThatAreKeptCount) {
  const auto dense = blocks_where(6, [](Index, Index) { return true; });
  EXPECT_EQ(factor_products(dense, std::vector<Index>{1, 3, 4}), 1 + 4);
  EXPECT_EQ(factor_products(dense, std::vector<Index>{}), 0.0);
}

TEST(FactorCount, APatternOfNumbersCountsAsOneOfBlocks) {
  SparseColumns arrow(7, 7);
  for (Index i = 0; i < 7; ++i) {
    arrow.insert(i, i) = 1.0;
    if (i == 0) continue;
    arrow.insert(0, i) = 1.0;
    arrow.insert(i, 0) = 1.0;
  }
  EXPECT_EQ(factor_products(arrow), 6.0);
}

}  // namespace
}  // namespace signorini
