#include "scene/step_equations.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"

namespace signorini::step_equations_test {
namespace {

/// Chains of point masses and springs, one per entry of `nodes`; `shift` is taken off the first diagonal
/// entry.
BlockSparseMatrix chains(const std::vector<Index>& nodes, double shift = 0.0) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  Index first = 0;
  for (const Index count : nodes) {
    for (Index i = 0; i < count; ++i) {
      for (Index a = 0; a < 3; ++a) {
        for (Index b = 0; b < 3; ++b) {
          const double stiffness = a == b ? 4.0 : 1.0;
          const Index row = 3 * (first + i) + a, column = 3 * (first + i) + b;
          entries.emplace_back(row, column, 2.0 * stiffness + (a == b ? 0.1 : 0.0));
          if (i + 1 == count) continue;
          entries.emplace_back(row, column + 3, -stiffness);
          entries.emplace_back(column + 3, row, -stiffness);
        }
      }
    }
    first += count;
  }
  SparseRows M(3 * first, 3 * first);
  M.setFromTriplets(entries.begin(), entries.end());
  M.coeffRef(0, 0) -= shift;
  return to_blocks(M);
}

std::vector<double> random_vector(std::size_t n) {
  Rng rng(3);
  std::vector<double> x(n);
  for (double& value : x) value = 2.0 * rng.uniform() - 1.0;
  return x;
}

CgReport solve(StepEquations& equations, const BlockSparseMatrix& A, int threads, std::vector<double>& x) {
  TaskArena arena(threads);
  FactorStore store;
  equations.prepare(arena, A, store);
  const std::vector<double> b = random_vector(3 * A.block_rows);
  x.assign(b.size(), 0.0);
  return equations.solve(arena, b, x, 1e-12, 10000);
}

TEST(StepEquations, FactorsAndConjugateGradientsAgree) {
  const Index limit = StepEquations::kDirectDofs / 3;
  StepEquations equations;
  std::vector<double> x, y;
  // the same chains; then one node too many in another body sends all to conjugate gradients
  EXPECT_TRUE(solve(equations, chains({40, 1, 7, limit}), 2, x).converged);
  EXPECT_TRUE(equations.direct());
  EXPECT_TRUE(solve(equations, chains({40, 1, 7, limit, limit + 1}), 2, y).converged);
  EXPECT_FALSE(equations.direct());
  // condition number of the chains below (4 · 6 + 0.1)/0.1 < 500, residuals 1e-12 of ‖b‖ < 40
  for (std::size_t i = 0; i < 3 * 48; ++i) EXPECT_NEAR(x[i], y[i], 500 * 1e-12 * 40);
}

TEST(StepEquations, GiveTheSameBitsOnAnyNumberOfThreadsAndAfterOtherMatrices) {
  const BlockSparseMatrix A = chains({30, 50, 1, 30});
  StepEquations fresh, used;
  std::vector<double> expected, x;
  ASSERT_TRUE(solve(fresh, A, 1, expected).converged);
  for (const int threads : {1, 2, 4, 8}) {
    solve(used, chains({50, 30, threads}), threads, x);
    ASSERT_TRUE(solve(used, A, threads, x).converged);
    EXPECT_EQ(std::memcmp(x.data(), expected.data(), sizeof(double) * x.size()), 0) << threads;
  }
}

TEST(StepEquations, AnIndefiniteMatrixIsNotSaidToBeSolved) {
  StepEquations equations;
  std::vector<double> x;
  // the first diagonal block stays positive definite, the matrix does not
  EXPECT_FALSE(solve(equations, chains({40}, 6.0), 1, x).converged);
}

}  // namespace
}  // namespace signorini::step_equations_test
