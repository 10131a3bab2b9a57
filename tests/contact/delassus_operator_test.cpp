#include "contact/delassus_operator.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"

namespace signorini::delassus_operator_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, Rng& rng) {
  Matrix A(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) A(i, j) = rng.normal();
  }
  return A;
}

/// Rigid bodies (dense 6×6 blocks), mass points and one elastic body of 18 dofs, in this order of dofs, with
/// explicit zeros between the bodies; contacts between random pairs of them and the ground.
ContactProblem mixed_bodies() {
  Rng rng(21);
  const std::array<Eigen::Index, 6> sizes{6, 3, 18, 6, 3, 3};
  Eigen::Index n = 0;
  for (const Eigen::Index size : sizes) n += size;
  const Eigen::Index m = 14;
  Matrix M = Matrix::Zero(n, n);
  std::vector<Eigen::Index> begin;
  Eigen::Index offset = 0;
  for (const Eigen::Index size : sizes) {
    const Matrix A = random_matrix(size, size, rng);
    M.block(offset, offset, size, size) = A * A.transpose() + Matrix::Identity(size, size);
    begin.push_back(offset);
    offset += size;
  }
  Matrix H = Matrix::Zero(n, 3 * m);
  for (Eigen::Index k = 0; k < m; ++k) {
    for (int side = 0; side < 2; ++side) {
      const std::size_t body = rng.below(sizes.size() + 1);
      if (body == sizes.size()) continue;  // the ground
      H.block(begin[body], 3 * k, sizes[body], 3) = random_matrix(sizes[body], 3, rng);
    }
  }
  ContactProblem problem = zoo::make_primal(M, H, random_matrix(n, 1, rng), random_matrix(3 * m, 1, rng),
                                            Vector::Constant(m, 0.5));
  problem.M.coeffRef(0, n - 1) = 0.0;
  problem.M.coeffRef(n - 1, 0) = 0.0;
  problem.M.makeCompressed();
  return problem;
}

/// A chain of 7 dofs (not divisible by 3) and two contacts with dense directions.
ContactProblem odd_chain() {
  Rng rng(22);
  const Eigen::Index n = 7;
  Matrix M = 3.0 * Matrix::Identity(n, n);
  for (Eigen::Index i = 1; i < n; ++i) M(i, i - 1) = M(i - 1, i) = -1.0;
  return zoo::make_primal(M, random_matrix(n, 6, rng), random_matrix(n, 1, rng), random_matrix(6, 1, rng),
                          Vector::Constant(2, 0.5));
}

ContactProblem planted(int contacts, int regions, double stiffness, double mass_ratio = 1.0) {
  PlantedOptions options;
  options.contacts = contacts;
  options.regions = regions;
  options.stiffness = stiffness;
  options.mass_ratio = mass_ratio;
  return make_planted_problem(options).problem;
}

struct Case {
  std::string name;
  ContactProblem problem;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  std::vector<Case> all{{"explicit", planted(20, 1, 0.0)}, {"explicit_regions", planted(30, 6, 0.0)},
                        {"implicit", planted(25, 1, 1.0)}, {"implicit_regions", planted(60, 3, 10.0)},
                        {"stiff", planted(20, 1, 1e4)},    {"mass_ratio", planted(20, 1, 0.0, 1e6)},
                        {"mixed_bodies", mixed_bodies()},  {"odd_chain", odd_chain()}};
  for (zoo::Specimen& specimen : zoo::problem_zoo()) {
    if (specimen.problem.has_primal() && specimen.problem.contacts() > 0) {
      all.push_back({"zoo_" + specimen.name, std::move(specimen.problem)});
    }
  }
  return all;
}

/// M⁻¹, M and the size of rounding: ε cond(M) n.
struct Dense {
  explicit Dense(const ContactProblem& problem)
      : M(problem.M),
        H(problem.H),
        inverse(M.llt().solve(Matrix::Identity(M.rows(), M.cols()))),
        W(H.transpose() * inverse * H) {
    tolerance = 8 * kEpsilon * static_cast<double>(M.rows()) * M.norm() * inverse.norm();
  }
  Matrix M;
  Matrix H;
  Matrix inverse;
  Matrix W;
  double tolerance = 0.0;
};

class DelassusOperators : public testing::TestWithParam<Case> {};

TEST_P(DelassusOperators, AssembleHtMinvH) {
  const ContactProblem& problem = GetParam().problem;
  const Dense dense(problem);
  const ReducedProblem reduced = assemble_reduced(problem);
  EXPECT_LE((Matrix(to_scalar(reduced.W)) - dense.W).cwiseAbs().maxCoeff(),
            dense.tolerance * (1.0 + dense.W.norm()));
  const Vector q = dense.H.transpose() * (dense.inverse * problem.f) + problem.w;
  const double size = (dense.inverse * problem.f).norm() * dense.H.norm() + problem.w.norm();
  EXPECT_LE((reduced.q - q).cwiseAbs().maxCoeff(), dense.tolerance * size);
  EXPECT_EQ(assemble_delassus(problem).values, reduced.W.values);
  EXPECT_EQ(assemble_q(problem), reduced.q);
}

TEST_P(DelassusOperators, AreBitwiseSymmetricWithSortedRowsAndADiagonal) {
  const BlockSparseMatrix W = assemble_delassus(GetParam().problem);
  ASSERT_EQ(W.block_rows, GetParam().problem.contacts());
  for (Index i = 0; i < W.block_rows; ++i) {
    const auto begin = W.column.begin() + W.row_begin[i];
    const auto end = W.column.begin() + W.row_begin[i + 1];
    EXPECT_TRUE(std::is_sorted(begin, end));
    EXPECT_EQ(std::adjacent_find(begin, end), end);
    EXPECT_GE(find_block(W, i, i), 0);
    for (auto column = begin; column != end; ++column) {
      const Index b = static_cast<Index>(column - W.column.begin());
      const Index mirrored = find_block(W, *column, i);
      ASSERT_GE(mirrored, 0);
      for (Index row = 0; row < 3; ++row) {
        for (Index col = 0; col < 3; ++col)
          EXPECT_EQ(W.block(b)[3 * col + row], W.block(mirrored)[3 * row + col]);
      }
    }
  }
}

TEST_P(DelassusOperators, ApplyTheSameMatrixFree) {
  const ContactProblem& problem = GetParam().problem;
  const Dense dense(problem);
  const DelassusOperator W(problem);
  ASSERT_EQ(W.contacts(), problem.contacts());
  Rng rng(5);
  const Vector r = random_matrix(dense.W.rows(), 1, rng);
  Vector u(r.size());
  W.apply(span_of(r), span_of(u));
  EXPECT_LE((u - dense.W * r).norm(), dense.tolerance * (1.0 + dense.W.norm()) * r.norm());
  for (Index k = 0; k < problem.contacts(); ++k) {
    const Matrix3 block = W.diagonal_block(k);
    EXPECT_EQ(block, Matrix3(block.transpose()));
    EXPECT_LE((block - dense.W.block<3, 3>(3 * k, 3 * k)).norm(), dense.tolerance * (1.0 + dense.W.norm()));
  }
  const Vector b = random_matrix(dense.M.rows(), 1, rng);
  Vector v(b.size());
  W.solve_mass(span_of(b), span_of(v));
  EXPECT_LE((dense.M * v - b).norm(), dense.tolerance * b.norm());
}

/// The velocity of the full system and that of the dual problem agree.
TEST_P(DelassusOperators, AgreeWithTheFullSystem) {
  const ContactProblem& problem = GetParam().problem;
  const Dense dense(problem);
  const Referee referee(problem);
  Rng rng(6);
  const Vector r = random_matrix(dense.W.rows(), 1, rng);
  const Vector v = referee.velocity(span_of(r));
  const Vector force = dense.H * r + problem.f;
  EXPECT_LE((dense.M * v - force).norm(), dense.tolerance * force.norm());
  const ReducedProblem reduced = assemble_reduced(problem);
  Vector u(r.size());
  multiply(reduced.W, span_of(r), span_of(u));
  u += reduced.q;
  const double size = dense.W.norm() * r.norm() + dense.H.norm() * v.norm() + problem.w.norm();
  EXPECT_LE((u - referee.relative_velocity(span_of(r))).norm(), dense.tolerance * size);
}

TEST_P(DelassusOperators, HaveTheSameBitsForAnyNumberOfThreads) {
  const ReducedProblem alone = assemble_reduced(GetParam().problem);
  for (const int threads : {1, 2, 4, 8}) {
    TaskArena arena(threads);
    const ReducedProblem together = assemble_reduced(GetParam().problem, &arena);
    EXPECT_EQ(together.W.column, alone.W.column);
    EXPECT_EQ(together.W.values, alone.W.values);
    EXPECT_EQ(together.q, alone.q);
  }
}

TEST_P(DelassusOperators, AreTheSameColumnByColumn) {
  const ContactProblem& problem = GetParam().problem;
  const Dense dense(problem);
  const ReducedProblem alone = assemble_reduced(problem, nullptr, ColumnSolves::one_by_one);
  EXPECT_LE((Matrix(to_scalar(alone.W)) - dense.W).cwiseAbs().maxCoeff(),
            dense.tolerance * (1.0 + dense.W.norm()));
  EXPECT_EQ(alone.W.column, assemble_reduced(problem).W.column);
  for (const int threads : {1, 2, 4}) {
    TaskArena arena(threads);
    EXPECT_EQ(assemble_reduced(problem, &arena, ColumnSolves::one_by_one).W.values, alone.W.values);
  }
}

/// Rows of Hᵀ times s scale W by s sᵀ.
TEST_P(DelassusOperators, ScaleWithTheirRows) {
  const ContactProblem& problem = GetParam().problem;
  const Dense dense(problem);
  Rng rng(7);
  Vector scale(dense.W.rows());
  for (double& s : scale) s = rng.uniform(0.1, 10.0);
  ContactProblem scaled = problem;
  scaled.H = problem.H * scale.asDiagonal();
  const Matrix expected = scale.asDiagonal() * dense.W * scale.asDiagonal();
  const Matrix found = to_scalar(assemble_delassus(scaled));
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), dense.tolerance * (1.0 + expected.norm()));
}

/// Contacts in another order permute the blocks.
TEST_P(DelassusOperators, PermuteWithTheirContacts) {
  const ContactProblem& problem = GetParam().problem;
  const Dense dense(problem);
  const Index m = problem.contacts();
  ContactProblem reversed = problem;
  Matrix H(dense.H.rows(), dense.H.cols());
  for (Index k = 0; k < m; ++k) H.middleCols<3>(3 * k) = dense.H.middleCols<3>(3 * (m - 1 - k));
  reversed.H = H.sparseView();
  reversed.H.makeCompressed();
  const Matrix found = to_scalar(assemble_delassus(reversed));
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) {
      const Matrix3 difference =
          found.block<3, 3>(3 * i, 3 * j) - dense.W.block<3, 3>(3 * (m - 1 - i), 3 * (m - 1 - j));
      EXPECT_LE(difference.norm(), dense.tolerance * (1.0 + dense.W.norm()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DelassusOperators, testing::ValuesIn(cases()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(DelassusOperator, StoresNoBlockBetweenDetachedBodies) {
  const ContactProblem problem = planted(30, 6, 1.0);
  const BlockSparseMatrix W = assemble_delassus(problem);
  EXPECT_EQ(W.blocks(), 6 * 5 * 5);
  for (Index i = 0; i < W.block_rows; ++i) {
    for (Index b = W.row_begin[i]; b < W.row_begin[i + 1]; ++b) {
      EXPECT_EQ(W.column[b] / 5, i / 5);
    }
  }
}

TEST(DelassusOperator, TakesAStoredUnsymmetricWAsItStands) {
  Matrix W = Matrix::Zero(6, 6);
  W.topLeftCorner<3, 3>() = zoo::matrix_of(3, 3, {2, 0.1, 0, 0.3, 1, 0, 0, 0, 1});
  W(0, 4) = 0.7;  // and nothing at (4, 0); the second contact has no entry of its own
  const ContactProblem problem =
      zoo::make_dual(W, zoo::vector_of({1, 2, 3, 4, 5, 6}), zoo::vector_of({0, 0}));
  EXPECT_EQ(Matrix(to_scalar(assemble_delassus(problem))), W);
  EXPECT_GE(find_block(assemble_delassus(problem), 1, 1), 0);
  EXPECT_EQ(assemble_q(problem), problem.q);
  const DelassusOperator op(problem);
  const Vector r = zoo::vector_of({1, 2, 3, 4, 5, 6});
  Vector u(6);
  op.apply(span_of(r), span_of(u));
  EXPECT_LE((u - W * r).norm(), 8 * kEpsilon * (W * r).norm());
  EXPECT_EQ(op.diagonal_block(0), Matrix3(W.topLeftCorner<3, 3>()));
  EXPECT_EQ(op.diagonal_block(1), Matrix3(Matrix3::Zero()));
}

TEST(DelassusOperator, IsZeroForFixedBodies) {
  const BlockSparseMatrix W = assemble_delassus(zoo::fixed_fixed().problem);
  EXPECT_EQ(diagonal_block(W, 0), Matrix3(Matrix3::Zero()));
  EXPECT_EQ(W.blocks(), 2);
  ContactProblem no_dofs;
  no_dofs.mu = Vector::Constant(2, 0.5);
  no_dofs.w = zoo::vector_of({1, 2, 3, 4, 5, 6});
  const ReducedProblem reduced = assemble_reduced(no_dofs);
  EXPECT_EQ(reduced.W.blocks(), 2);
  EXPECT_EQ(reduced.q, no_dofs.w);
  const DelassusOperator op(no_dofs);
  Vector u = Vector::Constant(6, 7.0);
  op.apply(span_of(std::as_const(no_dofs.w)), span_of(u));
  EXPECT_EQ(u, Vector(Vector::Zero(6)));
}

TEST(DelassusOperator, AcceptsNoContacts) {
  for (const ContactProblem& problem : {zoo::nothing().problem, zoo::no_contacts().problem}) {
    EXPECT_EQ(assemble_delassus(problem).block_rows, 0);
    EXPECT_EQ(assemble_q(problem).size(), 0);
    const DelassusOperator op(problem);
    EXPECT_NO_THROW(op.apply({}, {}));
  }
}

/// Whichever body is met first by the threads, the error is that of the first body.
TEST(DelassusOperator, NamesTheFirstIndefiniteBodyForAnyNumberOfThreads) {
  PlantedOptions options;
  options.contacts = 40;
  options.regions = 8;
  options.stiffness = 1.0;
  ContactProblem problem = make_planted_problem(options).problem;
  const Index n = problem.dofs();
  for (const Index dof : {n - 1, n / 2}) problem.M.coeffRef(dof, dof) = -1.0;
  std::string alone;
  try {
    assemble_reduced(problem);
  } catch (const InputError& error) {
    alone = error.what();
  }
  ASSERT_NE(alone, "");
  for (const int threads : {2, 8}) {
    TaskArena arena(threads);
    try {
      assemble_reduced(problem, &arena);
      ADD_FAILURE() << "accepted an indefinite M";
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), alone);
    }
  }
}

TEST(DelassusOperator, RefusesAMassThatIsNotPositiveDefinite) {
  ContactProblem small = zoo::four_dofs().problem;
  small.M.coeffRef(0, 1) = small.M.coeffRef(1, 0) = 10.0;
  EXPECT_THROW(assemble_delassus(small), InputError);
  ContactProblem large = planted(20, 1, 1.0);
  large.M.coeffRef(0, 3) = large.M.coeffRef(3, 0) = 100.0;
  EXPECT_THROW(assemble_delassus(large), InputError);
}

TEST(MassIsBlockDiagonal, LooksAtValuesNotAtThePattern) {
  ContactProblem problem = planted(20, 1, 0.0);
  EXPECT_TRUE(mass_is_block_diagonal(problem));
  problem.M.coeffRef(0, 30) = 0.0;
  problem.M.makeCompressed();
  EXPECT_TRUE(mass_is_block_diagonal(problem));
  problem.M.coeffRef(0, 1) = 1e-3;  // within a node
  problem.M.makeCompressed();
  EXPECT_TRUE(mass_is_block_diagonal(problem));
  problem.M.coeffRef(0, 30) = 1e-9;
  EXPECT_FALSE(mass_is_block_diagonal(problem));
  EXPECT_FALSE(mass_is_block_diagonal(planted(20, 1, 1.0)));
  EXPECT_FALSE(mass_is_block_diagonal(zoo::four_dofs().problem));
}

}  // namespace
}  // namespace signorini::delassus_operator_test
