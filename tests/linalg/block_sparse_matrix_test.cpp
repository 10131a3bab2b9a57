#include "linalg/block_sparse_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "linalg/isa_levels.h"
#include "linalg/random_blocks.h"

namespace signorini::block_sparse_matrix_test {
namespace {

using test::random_rows;
using test::random_vector;
using test::view;

TEST(BlockSparseMatrix, RoundTripThroughBlocksKeepsEveryEntry) {
  const SparseRows A = random_rows(17, 11, 4.0, true, 1);
  EXPECT_EQ(Matrix(to_scalar(to_blocks(A))), Matrix(A));
}

TEST(BlockSparseMatrix, BlocksTouchedByOneEntryAreStoredWhole) {
  SparseRows A(6, 9);
  A.insert(4, 8) = 2.5;
  A.insert(1, 0) = 0.0;  // a stored zero counts as an entry
  A.makeCompressed();
  const BlockSparseMatrix B = to_blocks(A);
  ASSERT_EQ(B.blocks(), 2);
  EXPECT_EQ(find_block(B, 0, 0), 0);
  EXPECT_EQ(find_block(B, 1, 2), 1);
  EXPECT_EQ(find_block(B, 1, 1), -1);
  EXPECT_EQ(B.block(1)[3 * 2 + 1], 2.5);  // column-major: row 1, column 2
  EXPECT_EQ(diagonal_block(B, 1), Matrix3::Zero());
  EXPECT_EQ(B.values.size(), 18 + BlockSparseMatrix::kPadding);
}

TEST(BlockSparseMatrix, SizesThatAreNoMultipleOfThreeAreRefused) {
  EXPECT_THROW(to_blocks(SparseRows(4, 6)), InputError);
  EXPECT_THROW(to_blocks(SparseRows(6, 7)), InputError);
}

TEST(BlockSparseMatrix, ProductOfNothingIsNothing) {
  const BlockSparseMatrix A = to_blocks(SparseRows(0, 0));
  EXPECT_NO_THROW(multiply(A, {}, {}));
  const BlockSparseMatrix tall = to_blocks(SparseRows(6, 0));
  Vector y = Vector::Ones(6);
  multiply(tall, {}, view(y));
  EXPECT_EQ(y, Vector::Zero(6));
}

struct Shape {
  Index rows, columns;
  double per_row;
  bool holes;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.rows << "x" << s.columns << " " << s.per_row << " per row";
}

class BlockProduct : public ::testing::TestWithParam<Shape> {};

TEST_P(BlockProduct, EqualsEigensProduct) {
  const Shape shape = GetParam();
  const SparseRows A = random_rows(shape.rows, shape.columns, shape.per_row, shape.holes, 7);
  const BlockSparseMatrix B = to_blocks(A);
  const Vector x = random_vector(A.cols(), 8);
  Vector y = Vector::Constant(A.rows(), 3.0);
  multiply(B, view(x), view(y));
  const Vector exact = A * x;
  // Two orders of the same k additions of numbers ≤ 1 differ by at most 2 k ε Σ|a||x|.
  const Vector scale = A.cwiseAbs() * x.cwiseAbs();
  const double k = 3.0 * shape.columns + 2.0;
  for (Eigen::Index i = 0; i < y.size(); ++i)
    EXPECT_LE(std::abs(y[i] - exact[i]), 2.0 * k * 2.3e-16 * scale[i]) << i;
  Vector again = Vector::Zero(A.rows());
  multiply(B, view(x), view(again));
  EXPECT_EQ(y, again);
  Vector fused(A.rows());
  multiply(Isa::fused, B, view(x), view(fused));
  for (const Isa level : test::isa_levels()) {
    multiply(level, B, view(x), view(again));
    for (Eigen::Index i = 0; i < y.size(); ++i)
      EXPECT_LE(std::abs(y[i] - again[i]), 2.0 * k * 2.3e-16 * scale[i]) << i;
    if (same_bits(level) == Isa::avx2) {
      EXPECT_EQ(again, fused) << enum_name(level);
    }
  }
}

TEST(BlockProduct, NeverWritesBehindTheResultNorMixesRows) {
  // Infinite entries in one block row must not leak into its neighbours through the overlapping loads.
  SparseRows A(9, 9);
  for (Index i = 0; i < 9; ++i) A.insert(i, i) = i / 3 == 1 ? std::numeric_limits<double>::infinity() : 1.0;
  A.makeCompressed();
  const BlockSparseMatrix B = to_blocks(A);
  for (const Isa level : test::isa_levels()) {
    const Vector x = Vector::Ones(9);
    Vector y = Vector::Constant(10, 7.0);
    multiply(level, B, view(x), std::span<double>(y.data(), 9));
    EXPECT_EQ(y.head(3), Vector::Ones(3));
    EXPECT_EQ(y.segment(6, 3), Vector::Ones(3));
    EXPECT_EQ(y[9], 7.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockProduct,
                         ::testing::Values(Shape{1, 1, 1.0, false}, Shape{1, 9, 9.0, false},
                                           Shape{40, 40, 9.0, true}, Shape{40, 40, 2.0, false},
                                           Shape{7, 100, 30.0, true}, Shape{100, 7, 3.0, true},
                                           Shape{33, 33, 33.0, false}, Shape{5, 5, 0.0, false}));

}  // namespace
}  // namespace signorini::block_sparse_matrix_test
