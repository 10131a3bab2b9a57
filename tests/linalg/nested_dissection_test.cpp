#include "linalg/nested_dissection.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "linalg/factor_library.h"
#include "linalg/random_blocks.h"
#include "linalg/spd_factor.h"

namespace signorini {
namespace {

using test::random_vector;

/// A cube of k³ nodes with three dofs each, every node joined to the 26 around it, as hexahedra do; diagonally dominant.
SparseRows cube(Index k) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto close = [](Index a, Index b) { return a - b <= 1 && b - a <= 1; };
  const Index nodes = k * k * k;
  for (Index a = 0; a < nodes; ++a)
    for (Index b = std::max(0, a - k * k - k - 1); b < std::min(nodes, a + k * k + k + 2); ++b) {
      if (!close(a / (k * k), b / (k * k)) || !close(a / k % k, b / k % k) || !close(a % k, b % k)) continue;
      for (Index row = 3 * a; row < 3 * a + 3; ++row)
        for (Index column = 3 * b; column < 3 * b + 3; ++column)
          entries.emplace_back(row, column, row == column ? 100.0 : -1.0);
    }
  SparseRows M(3 * nodes, 3 * nodes);
  M.setFromTriplets(entries.begin(), entries.end());
  return M;
}

/// Numbers in L by minimum degree.
struct MinimumDegree
    : Eigen::SimplicialLLT<SparseColumns, Eigen::Lower, Eigen::AMDOrdering<SparseColumns::StorageIndex>> {
  explicit MinimumDegree(const SparseColumns& M) { analyzePattern(M); }
  long long fill() const { return m_matrix.nonZeros(); }
};

std::vector<Index> order_of(const SparseRows& M) {
  std::vector<Index> begin{0}, index;
  for (Index i = 0; i < M.rows(); ++i) {
    for (SparseRows::InnerIterator entry(M, i); entry && entry.col() <= i; ++entry)
      index.push_back(static_cast<Index>(entry.col()));
    begin.push_back(count(index));
  }
  return nested_dissection(begin, index);
}

const char* const no_metis = "built without CHOLMOD, or with one without METIS";

TEST(NestedDissection, OrdersEveryDofOnceAndAlwaysAlike) {
  const SparseRows M = cube(8);
  const std::vector<Index> order = order_of(M);
  if (order.empty()) GTEST_SKIP() << no_metis;
  std::vector<Index> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<Index> all(M.rows());
  std::iota(all.begin(), all.end(), Index{0});
  EXPECT_EQ(sorted, all);
  std::srand(77);  // METIS draws from it
  EXPECT_EQ(order_of(M), order);
}

void at_the_end(int) {}

TEST(NestedDissection, LeavesRandomNumbersAndSignalHandlersAlone) {
  const SparseRows M = cube(8);
  struct sigaction mine {
  }, before{}, after{};
  mine.sa_handler = at_the_end;
  mine.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGTERM, &mine, &before);
  std::srand(5);
  const int expected = std::rand();
  std::srand(5);
  const bool has_metis = !order_of(M).empty();
  EXPECT_EQ(std::rand(), expected);
  sigaction(SIGTERM, &before, &after);
  EXPECT_EQ(after.sa_handler, &at_the_end);
  EXPECT_EQ(after.sa_flags & static_cast<int>(SA_RESETHAND), static_cast<int>(SA_RESETHAND));
  if (!has_metis) GTEST_SKIP() << no_metis;
}

/// 16³ nodes: 6.3 million numbers in L by minimum degree, 4.5 million by nested dissection, and CHOLMOD stores zeros besides.
TEST(NestedDissection, LargeFactorsHaveFewerNumbers) {
  const SparseRows M = cube(16);
  if (order_of(M).empty()) GTEST_SKIP() << no_metis;
  if (factor_library() == FactorLibrary::eigen) GTEST_SKIP() << "Eigen orders by minimum degree";
  const SpdFactor factor(M);
  EXPECT_LT(factor.fill(), MinimumDegree(M).fill());

  const SpdPattern pattern(M);
  const SpdFactor shared(M, &pattern);
  const Vector b = random_vector(static_cast<Index>(M.rows()), 3);
  Vector x(b.size()), y(b.size());
  factor.solve(span_of(b), span_of(x));
  shared.solve(span_of(b), span_of(y));
  EXPECT_EQ(x, y);
  // backward stable: ‖M x − b‖ ≤ c n ε ‖M‖ ‖x‖
  EXPECT_LE((M * x - b).norm(), 10.0 * static_cast<double>(M.rows()) * 2.3e-16 * M.norm() * x.norm());
}

}  // namespace
}  // namespace signorini
