#include "linalg/spd_factor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <Eigen/Cholesky>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/memory_error.h"
#include "linalg/factor_library.h"
#include "linalg/random_blocks.h"

namespace signorini::spd_factor_test {
namespace {

using test::random_rows;
using test::random_vector;
using test::view;

/// AᵀA + I of a random sparse A: eigenvalues in [1, 1 + ‖A‖²].
SparseRows random_spd(Index block_rows, double per_row, std::uint64_t seed) {
  const SparseRows A = random_rows(block_rows, block_rows, per_row, false, seed);
  SparseRows M = SparseRows(A.transpose()) * A;
  SparseRows identity(M.rows(), M.cols());
  identity.setIdentity();
  return M + identity;
}

/// Backward stable solves leave ‖M x − b‖ ≤ c n ε ‖M‖‖x‖.
double allowed(const SparseRows& M, const Vector& x) {
  return 10.0 * static_cast<double>(M.rows()) * 2.3e-16 * M.norm() * x.norm();
}

class SpdFactorOfSize : public ::testing::TestWithParam<Index> {};

TEST_P(SpdFactorOfSize, SharesAPatternWithoutChangingABit) {
  const SparseRows M = random_spd(GetParam(), 4.0, 3);
  const SparseRows other = 2.0 * M;
  const SpdPattern pattern(other);
  const Vector b = random_vector(static_cast<Index>(M.rows()), 5);
  Vector alone(b.size());
  Vector shared(b.size());
  SpdFactor(M).solve(span_of(b), span_of(alone));
  SpdFactor(M, &pattern).solve(span_of(b), span_of(shared));
  EXPECT_EQ(shared, alone);
}

TEST_P(SpdFactorOfSize, SolvesToBackwardStability) {
  const SparseRows M = random_spd(GetParam(), 4.0, 3);
  const SpdFactor factor(M);
  const Vector b = random_vector(M.rows(), 4);
  Vector x(M.rows());
  factor.solve(view(b), view(x));
  EXPECT_LE((M * x - b).norm(), allowed(M, x));
  Vector in_place = b;
  factor.solve(view(in_place), view(in_place));
  EXPECT_EQ(in_place, x);
}

TEST_P(SpdFactorOfSize, ManyColumnsAgreeWithOne) {
  const SparseRows M = random_spd(GetParam(), 4.0, 5);
  const SpdFactor factor(M);
  const Matrix B = Matrix::Random(M.rows(), 7);
  const Matrix X = factor.solve_columns(B);
  for (Eigen::Index j = 0; j < 7; ++j) EXPECT_LE((M * X.col(j) - B.col(j)).norm(), allowed(M, X.col(j)));
}

TEST_P(SpdFactorOfSize, HalfSolveGivesTheSymmetricProduct) {
  const SparseRows M = random_spd(GetParam(), 4.0, 6);
  const SpdFactor factor(M);
  const Matrix B = Matrix::Random(M.rows(), 5);
  const Matrix Y = factor.half_solve(B);
  const Matrix expected = B.transpose() * factor.solve_columns(B);
  EXPECT_LE((Y.transpose() * Y - expected).norm(),
            10.0 * static_cast<double>(M.rows()) * 2.3e-16 * M.norm() * expected.norm());
}

TEST_P(SpdFactorOfSize, PanelsHaveTheSameBits) {
  const SparseRows M = random_spd(GetParam(), 4.0, 8);
  const SpdFactor factor(M);
  const std::span<const Index> row = factor.panel_rows();
  if (row.empty()) GTEST_SKIP() << "a factor of " << M.rows() << " dofs that is not supernodal has no panels";
  const Matrix B = Matrix::Random(M.rows(), 6);
  const std::size_t width = 8;
  std::vector<double> panel(row.size() * width, 0.0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t k = 0; k < 6; ++k) panel[row[i] * width + k] = B(i, k);
  }
  const std::vector<Index> read{0, static_cast<Index>(M.rows()) / 2};
  factor.solve_panel(panel, width, factor.needed_for(read));
  const Matrix X = factor.solve_columns(B);
  for (const Index dof : read) {
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(panel[row[dof] * width + k], X(dof, k));
  }
}

TEST(SpdFactor, OfManyDofsHasPanels) {
  const SpdFactor factor(random_spd(200, 4.0, 8));
  EXPECT_EQ(factor.panel_rows().size(), factor_library() == FactorLibrary::cholmod ? 600U : 0U);
}

TEST_P(SpdFactorOfSize, StartsNoThreads) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  const SpdFactor factor(random_spd(GetParam(), 4.0, 3));
  factor.solve_columns(Matrix::Ones(factor.size(), 40));
  EXPECT_EQ(threads(), before);
}

TEST_P(SpdFactorOfSize, RepeatsItsBits) {
  const SparseRows M = random_spd(GetParam(), 6.0, 9);
  const Vector b = random_vector(M.rows(), 4);
  Vector x(M.rows()), y(M.rows());
  SpdFactor(M).solve(view(b), view(x));
  SpdFactor(M).solve(view(b), view(y));
  EXPECT_EQ(x, y);
}

INSTANTIATE_TEST_SUITE_P(BlockRows, SpdFactorOfSize, ::testing::Values(1, 2, 10, 60, 200));

TEST(SpdFactor, DiagonalMatricesAreInvertedEntryByEntry) {
  SparseRows M(4, 4);
  for (Index i = 0; i < 4; ++i) M.insert(i, i) = 1 << i;
  M.insert(0, 3) = 0.0;  // a stored zero does not spoil it
  M.makeCompressed();
  const SpdFactor factor(M);
  EXPECT_TRUE(factor.is_diagonal());
  const Vector b = Vector::Ones(4);
  Vector x(4);
  factor.solve(view(b), view(x));
  EXPECT_EQ(x, (Vector(4) << 1.0, 0.5, 0.25, 0.125).finished());
  EXPECT_EQ(factor.half_solve(Matrix(b)).squaredNorm(), 1.875);
}

TEST(SpdFactor, OfNoDofsDoesNothing) {
  const SpdFactor factor{SparseRows(0, 0)};
  EXPECT_EQ(factor.size(), 0);
  EXPECT_NO_THROW(factor.solve({}, {}));
}

TEST(SpdFactor, NamesTheDofThatBreaksDefiniteness) {
  SparseRows diagonal(3, 3);
  diagonal.insert(0, 0) = 1.0;
  diagonal.insert(1, 1) = -2.0;
  diagonal.insert(2, 2) = 1.0;
  try {
    SpdFactor factor(diagonal);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("dof 1"), std::string::npos) << error.what();
  }
  SparseRows indefinite(2, 2);
  indefinite.insert(0, 0) = 1.0;
  indefinite.insert(0, 1) = 2.0;
  indefinite.insert(1, 0) = 2.0;
  indefinite.insert(1, 1) = 1.0;
  EXPECT_THROW(SpdFactor{indefinite}, InputError);
  EXPECT_THROW(SpdFactor(SparseRows(2, 3)), InputError);
  diagonal.coeffRef(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(SpdFactor{diagonal}, InputError);
}

/// A chain eliminated from its ends fills nothing in: 2n − 1 numbers in L, and at most one more per column by another order.
TEST(SpdFactor, CountsTheNumbersOfL) {
  constexpr Index n = 60;
  SparseRows chain(n, n);
  for (Index i = 0; i < n; ++i) {
    if (i > 0) chain.insert(i, i - 1) = -1.0;
    chain.insert(i, i) = 3.0;
    if (i + 1 < n) chain.insert(i, i + 1) = -1.0;
  }
  const SpdFactor factor(chain);
  EXPECT_GE(factor.fill(), 2 * n - 1);
  EXPECT_LE(factor.fill(), 3 * n);
  SparseRows diagonal(n, n);
  diagonal.setIdentity();
  EXPECT_EQ(SpdFactor(diagonal).fill(), n);
}

/// The 7-point Laplacian of a cube of side³ nodes: its factor has O(side⁴) numbers.
SparseRows laplacian(Index side) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto node = [side](Index x, Index y, Index z) { return (z * side + y) * side + x; };
  const auto couple = [&](Index i, Index j) {
    entries.emplace_back(i, j, -1.0);
    entries.emplace_back(j, i, -1.0);
  };
  for (Index z = 0; z < side; ++z) {
    for (Index y = 0; y < side; ++y) {
      for (Index x = 0; x < side; ++x) {
        entries.emplace_back(node(x, y, z), node(x, y, z), 7.0);
        if (x > 0) couple(node(x, y, z), node(x - 1, y, z));
        if (y > 0) couple(node(x, y, z), node(x, y - 1, z));
        if (z > 0) couple(node(x, y, z), node(x, y, z - 1));
      }
    }
  }
  SparseRows M(side * side * side, side * side * side);
  M.setFromTriplets(entries.begin(), entries.end());
  return M;
}

/// In a process of its own: the address space of this one stays as it is. Exit code 5 where the factor is refused by
/// its size, 6 where the allocator gave up, 0 where it was made.
[[noreturn]] void factor_in_little_memory(const SparseRows& M, const SpdPattern& pattern) {
  rlimit little{};
  little.rlim_cur = little.rlim_max = static_cast<rlim_t>(kAlwaysThere);
  ::setrlimit(RLIMIT_AS, &little);
  try {
    const SpdFactor factor(M, &pattern);
  } catch (const MemoryError& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(5);
  } catch (const std::bad_alloc&) {
    std::_Exit(6);
  }
  std::_Exit(0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

TEST(SpdFactor, LargerThanTheMemoryIsRefusedBeforeItIsMade) {
  if (factor_library() == FactorLibrary::eigen)
    GTEST_SKIP() << "Eigen does not tell the size of a factor before it takes the memory";
  if (sanitized) GTEST_SKIP() << "sanitizers need more address space than this test leaves";
  const SparseRows M = laplacian(48);
  const SpdPattern pattern(M);  // 110,592 dofs; L has more than 64 MiB
  EXPECT_EXIT(factor_in_little_memory(M, pattern), testing::ExitedWithCode(5),
              "the Cholesky factor of 110592 dofs takes 0\\.[0-9]+ GB");
}

TEST(SpdFactor, SurvivesBeingMoved) {
  const SparseRows M = random_spd(8, 4.0, 3);
  SpdFactor factor(M);
  const Vector b = random_vector(M.rows(), 4);
  Vector x(M.rows()), y(M.rows());
  factor.solve(view(b), view(x));
  SpdFactor other = std::move(factor);
  other.solve(view(b), view(y));
  EXPECT_EQ(x, y);
}

}  // namespace
}  // namespace signorini::spd_factor_test
