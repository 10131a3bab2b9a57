#include "contact/mass_factor.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCore>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace signorini::mass_factor_test {
namespace {

/// A chain of point masses joined by springs: n dofs, tridiagonal blocks, positive definite.
std::vector<Eigen::Triplet<double, Index>> chain(Index nodes, double stiffness, Index first_dof) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < nodes; ++i) {
    for (Index d = 0; d < 3; ++d) {
      const Index dof = first_dof + 3 * i + d;
      entries.emplace_back(dof, dof, 1.0 + 0.1 * d + 2.0 * stiffness);
      if (i + 1 < nodes) {
        entries.emplace_back(dof, dof + 3, -stiffness);
        entries.emplace_back(dof + 3, dof, -stiffness);
      }
    }
  }
  return entries;
}

/// Bodies side by side: each a chain (nodes, stiffness).
SparseRows chains(const std::vector<std::pair<Index, double>>& bodies) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  Index dof = 0;
  for (const auto& [nodes, stiffness] : bodies) {
    for (const auto& entry : chain(nodes, stiffness, dof)) entries.push_back(entry);
    dof += 3 * nodes;
  }
  SparseRows M(dof, dof);
  M.setFromTriplets(entries.begin(), entries.end());
  return M;
}

Vector solve(const MassFactor& factor, const SparseRows& M) {
  Rng rng(7);
  Vector b(M.rows()), x(M.rows());
  for (double& value : b) value = 2.0 * rng.uniform() - 1.0;
  factor.solve(span_of(std::as_const(b)), span_of(x));
  // rounding of a Cholesky solve: condition below 1e3, n below 200
  EXPECT_LE((M * x - b).cwiseAbs().maxCoeff(), 1e-11);
  return x;
}

void expect_same_bits(const Vector& x, const Vector& y) {
  ASSERT_EQ(x.size(), y.size());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), sizeof(double) * x.size()), 0);
}

TEST(MassFactor, RefactorGivesTheBitsOfANewFactor) {
  // unchanged, one body changed, another order, bodies gone and come, dense bodies and single nodes between,
  // all new
  const std::vector<std::vector<std::pair<Index, double>>> sequence = {
      {{20, 3.0}, {20, 4.0}, {1, 1.0}, {15, 3.0}},
      {{20, 3.0}, {20, 4.0}, {1, 1.0}, {15, 3.0}},
      {{20, 3.0}, {20, 4.5}, {1, 1.0}, {15, 3.0}},
      {{15, 3.0}, {2, 2.0}, {20, 3.0}, {20, 4.5}},
      {{20, 4.5}, {12, 1.0}, {20, 4.5}},  // equal bodies: the kept factor serves only one of them
      {{20, 4.5}, {20, 4.5}, {20, 4.5}},
      {{30, 1.0}},
      {{3, 1.0}, {4, 1.0}}};
  MassFactor used;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    SCOPED_TRACE(i);
    const SparseRows M = chains(sequence[i]);
    TaskArena arena(i % 2 == 0 ? 1 : 2);
    used.refactor(M, 3, &arena);
    const MassFactor fresh(M, 3);
    ASSERT_EQ(used.bodies(), fresh.bodies());
    expect_same_bits(solve(used, M), solve(fresh, M));
  }
}

TEST(MassFactor, RefactorGoesOnAfterAnIndefiniteMatrix) {
  const SparseRows good = chains({{20, 3.0}, {10, 2.0}});
  SparseRows bad = good;
  bad.coeffRef(63, 63) = -1.0;
  MassFactor used;
  used.refactor(good, 3);
  try {
    used.refactor(bad, 3);
    FAIL() << "an indefinite matrix was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("body of dof 60 (30 dofs)"), std::string::npos) << error.what();
  }
  used.refactor(good, 3);
  expect_same_bits(solve(used, good), solve(MassFactor(good, 3), good));
}

}  // namespace
}  // namespace signorini::mass_factor_test
