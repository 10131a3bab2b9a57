#include "contact/mass_factor.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCore>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "contact/factor_store.h"

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
  FactorStore store;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    SCOPED_TRACE(i);
    const SparseRows M = chains(sequence[i]);
    TaskArena arena(i % 2 == 0 ? 1 : 2);
    store.turn_over();
    used.refactor(M, 3, store, &arena);
    if (i % 3 == 0) store.settle();
    const MassFactor fresh(M, 3);
    ASSERT_EQ(used.bodies(), fresh.bodies());
    expect_same_bits(solve(used, M), solve(fresh, M));
  }
}

/// A solver's part of M, in which bodies have other places, takes the factors of the whole.
TEST(MassFactor, PartsTakeTheFactorsOfTheWhole) {
  const SparseRows whole = chains({{20, 3.0}, {15, 4.0}, {1, 1.0}, {30, 3.0}});
  const SparseRows part = chains({{30, 3.0}, {1, 1.0}, {20, 3.0}, {25, 2.0}});
  FactorStore store;
  MassFactor all;
  all.refactor(whole, 3, store);
  EXPECT_EQ(store.size(), 3u);  // the node is dense
  const std::vector<Index> touched = {2, 91, 95};
  const MassFactor shared(part, 3, touched, &store);
  EXPECT_EQ(store.size(), 3u);
  const MassFactor fresh(part, 3, touched);
  Vector b = Vector::LinSpaced(part.rows(), -1.0, 2.0), x(part.rows()), y(part.rows());
  shared.solve(span_of(std::as_const(b)), span_of(x));
  fresh.solve(span_of(std::as_const(b)), span_of(y));
  expect_same_bits(x, y);
  const std::vector<Index> more = {2, 91, 95, 160};  // and a body that the whole did not have
  const MassFactor larger(part, 3, more, &store);
  EXPECT_EQ(store.size(), 4u);
}

/// What two matrices in turn have not asked for is gone.
TEST(MassFactor, StoresForget) {
  const SparseRows first = chains({{20, 3.0}}), second = chains({{15, 3.0}});
  FactorStore store;
  MassFactor mass;
  mass.refactor(first, 3, store);
  store.turn_over();
  mass.refactor(second, 3, store);
  EXPECT_EQ(store.size(), 2u);
  store.turn_over();
  EXPECT_EQ(store.size(), 1u);
}

TEST(MassFactor, RefactorGoesOnAfterAnIndefiniteMatrix) {
  const SparseRows good = chains({{20, 3.0}, {10, 2.0}});
  SparseRows bad = good;
  bad.coeffRef(63, 63) = -1.0;
  MassFactor used;
  FactorStore store;
  used.refactor(good, 3, store);
  try {
    used.refactor(bad, 3, store);
    FAIL() << "an indefinite matrix was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("body of dof 60 (30 dofs)"), std::string::npos) << error.what();
  }
  used.refactor(good, 3, store);
  expect_same_bits(solve(used, good), solve(MassFactor(good, 3), good));
}

}  // namespace
}  // namespace signorini::mass_factor_test
