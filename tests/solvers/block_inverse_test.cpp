#include "solvers/schwarz/block_inverse.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

// Additive Schwarz as preconditioner: its blocks are inverted, it is symmetric and positive definite, and pcg, cr-full and
// cr-diag solve with it what they solve without.

namespace signorini::block_inverse_test {
namespace {

PlantedProblem net(int contacts, double stiffness, int duplicates = 0) {
  PlantedOptions options;
  options.contacts = contacts;
  options.sharing = 0.3;
  options.stiffness = stiffness;
  options.duplicates = duplicates;
  options.seed = 11;
  return make_planted_problem(options);
}

BlockSparseMatrix delassus(int contacts, double stiffness) {
  return assemble_reduced(net(contacts, stiffness).problem).W;
}

/// A third of the contacts open, a third sliding with one row across, a third with all three.
std::vector<ContactRows> mixed_rows(Index contacts) {
  std::vector<ContactRows> rows(contacts);
  for (Index k = 0; k < contacts; ++k) {
    if (k % 3 == 0) continue;
    rows[k].add(Vector3::UnitX(), 0.0);
    const double angle = 0.1 * static_cast<double>(k);
    if (k % 3 == 1) rows[k].add({0.0, -std::sin(angle), std::cos(angle)}, 0.3);
    if (k % 3 == 2) rows[k].add(Vector3::UnitY(), 0.0);
    if (k % 3 == 2) rows[k].add(Vector3::UnitZ(), 0.2);
  }
  return rows;
}

std::vector<double> random(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> x(size);
  for (double& value : x) value = rng.uniform(-1.0, 1.0);
  return x;
}

/// P⁻¹ of one subdomain as a dense matrix, by Eigen.
Matrix dense_inverse(const BlockSparseMatrix& W, const std::vector<ContactRows>& rows, double shift) {
  std::vector<double> added;
  Matrix R = Matrix::Zero(3 * W.block_rows, 3 * W.block_rows);
  for (Index k = 0; k < W.block_rows; ++k) {
    for (int a = 0; a < rows[k].size; ++a) {
      R.block<1, 3>(count(added), 3 * k) = rows[k].direction[a].transpose();
      added.push_back(rows[k].added[a]);
    }
  }
  R.conservativeResize(count(added), Eigen::NoChange);
  Matrix A = R * Matrix(to_scalar(W)) * R.transpose();
  A.diagonal() *= 1.0 + shift;
  A.diagonal() += Eigen::Map<const Vector>(added.data(), count(added));
  return R.transpose() * A.llt().solve(R);
}

Vector times(BlockInverse& P, const std::vector<double>& x) {
  Vector y = Vector::Constant(count(x), 7.0);
  P.apply(x, {y.data(), x.size()});
  return y;
}

TEST(BlockInverse, OfOneSubdomainIsTheInverse) {
  const BlockSparseMatrix W = delassus(40, 5.0);
  const std::vector<ContactRows> rows = mixed_rows(40);
  const std::vector<double> x = random(120, 3);
  for (const double shift : {0.0, 0.1}) {
    BlockInverse P;
    P.prepare(W, {40, shift}, 3);
    EXPECT_EQ(P.set_rows(rows), 1);
    const Matrix expected = dense_inverse(W, rows, shift);
    const Vector y = expected * Eigen::Map<const Vector>(x.data(), 120);
    // two factors of a matrix of 80 rows: n ε κ, with κ below 1e4 here
    EXPECT_LE((times(P, x) - y).norm(), 1e-10 * y.norm()) << "shift " << shift;
  }
}

TEST(BlockInverse, InPlaceGivesTheSameBits) {
  const BlockSparseMatrix W = delassus(60, 0.0);
  BlockInverse P;
  P.prepare(W, {10, 0.1}, 3);
  P.set_rows(mixed_rows(60));
  std::vector<double> x = random(180, 5);
  const Vector y = times(P, x);
  P.apply(x, x);
  EXPECT_EQ(Eigen::Map<const Vector>(x.data(), 180), y);
}

/// Also where the factor does not exist and the diagonal takes its place.
TEST(BlockInverse, IsSymmetricAndPositiveDefinite) {
  BlockSparseMatrix indefinite = delassus(60, 5.0);
  for (Index i = 0; i < indefinite.block_rows; ++i)
    for (Index b = indefinite.row_begin[i]; b < indefinite.row_begin[i + 1]; ++b)
      if (indefinite.column[b] != i) Eigen::Map<Matrix3>(indefinite.block(b)) *= 30.0;
  for (const BlockSparseMatrix& W : {delassus(60, 5.0), indefinite}) {
    BlockInverse P;
    P.prepare(W, {12, 0.1}, 3);
    std::vector<ContactRows> rows(60);
    for (ContactRows& of_contact : rows)
      for (Index j = 0; j < 3; ++j) of_contact.add(Vector3::Unit(j), 0.0);
    EXPECT_GT(P.set_rows(rows), 1);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<double> a = random(180, 2 * seed), b = random(180, 2 * seed + 1);
      const Vector Pa = times(P, a), Pb = times(P, b);
      const Eigen::Map<const Vector> va(a.data(), 180), vb(b.data(), 180);
      EXPECT_GT(va.dot(Pa), 0.0);
      EXPECT_NEAR(va.dot(Pb), vb.dot(Pa), 1e-10 * va.norm() * Pb.norm());
    }
  }
}

TEST(BlockInverse, FactorsOnlySubdomainsWhoseRowsChanged) {
  const BlockSparseMatrix W = delassus(100, 0.0);
  BlockInverse P;
  P.prepare(W, {10, 0.1}, 3);
  std::vector<ContactRows> rows = mixed_rows(100);
  const int all = P.set_rows(rows);
  EXPECT_GE(all, 7) << "100 contacts in blocks of at most 15";
  EXPECT_EQ(P.set_rows(rows), 0);
  rows[50].size = 0;
  EXPECT_EQ(P.set_rows(rows), 1);
  const std::vector<double> x = random(300, 9);
  const Vector y = times(P, x);
  P.forget();
  EXPECT_EQ(P.set_rows(rows), all);
  EXPECT_EQ(times(P, x), y) << "what came before leaves no trace";
  EXPECT_EQ(y.segment<3>(150), Vector3::Zero());
}

TEST(BlockInverse, BitsDoNotDependOnThreads) {
  const BlockSparseMatrix W = delassus(200, 5.0);
  const std::vector<double> x = random(600, 1);
  Vector alone;
  for (const int threads : {1, 2, 4, 8, 16}) {
    TaskArena arena(threads);
    BlockInverse P;
    P.prepare(W, {10, 0.1}, 3);
    P.set_rows(mixed_rows(200), &arena);
    Vector y(600);
    P.apply(x, {y.data(), 600}, &arena);
    if (threads == 1) alone = y;
    EXPECT_EQ(y, alone) << threads;
  }
}

// ---- in solvers

SolveReport solve(std::string_view name, const OptionMap& options, const ContactProblem& problem,
                  double residual, std::vector<double>& r, TaskArena* arena = nullptr) {
  const std::unique_ptr<Solver> solver = make_solver(name, options);
  solver->use_arena(arena);
  solver->prepare(problem);
  r.resize(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  StopRule stop;
  stop.residual = residual;
  return solver->solve(r, stop, nullptr);
}

/// Contacts that press, without friction: a linear system, which one block of all of them solves in one step.
TEST(BlocksOfPcg, OneBlockSolvesContactsThatPressInOneStep) {
  const BlockSparseMatrix W = delassus(30, 5.0);
  Vector solution = Vector::Zero(90);
  for (Index k = 0; k < 30; ++k) solution[3 * k] = 1.0 + 0.1 * static_cast<double>(k % 7);
  const Matrix dense = Matrix(to_scalar(W));
  const ContactProblem problem = zoo::make_dual(dense, -dense * solution, Vector::Zero(30));
  const auto iterations = [&](const OptionMap& options) {
    std::vector<double> r(solution.data(), solution.data() + 90);
    for (std::size_t i = 0; i < 90; i += 3) r[i] += 0.05 * std::sin(static_cast<double>(i));
    const SolveReport report = solve("pcg", options, problem, 1e-10, r);
    EXPECT_EQ(report.status, SolveStatus::converged);
    return report.iterations;
  };
  EXPECT_EQ(iterations({{"blocks", "30"}, {"shift", "0"}}), 1);
  EXPECT_GT(iterations({}), 3);
}

/// Velocities that the impulses of contacts on shared nodes make: the diagonal of S does not know that they share them.
TEST(BlocksOfCr, TakeFewerIterationsWhereContactsShareNodes) {
  PlantedOptions options;
  options.contacts = 200;
  options.sharing = 0.5;
  options.stiffness = 1.0;
  options.seed = 5;
  const ContactProblem problem = make_planted_problem(options).problem;
  for (const char* name : {"cr-full", "cr-diag"}) {
    std::vector<double> without, with;
    const SolveReport plain = solve(name, {}, problem, 1e-6, without);
    const SolveReport blocks = solve(name, {{"blocks", "30"}}, problem, 1e-6, with);
    EXPECT_EQ(blocks.status, SolveStatus::converged) << name;
    EXPECT_LT(blocks.iterations, plain.iterations) << name;
    EXPECT_GT(blocks.counters.factorisations, 1) << name;
  }
}

class WithBlocks : public testing::TestWithParam<const char*> {};

TEST_P(WithBlocks, MeetsTheResidualAlsoWithDuplicates) {
  for (const PlantedProblem& planted : {net(60, 0.0), net(60, 5.0), net(60, 2.0, 10)}) {
    std::vector<double> r;
    const SolveReport report =
        solve(GetParam(), {{"blocks", "20"}, {"shift", "0.3"}}, planted.problem, 1e-6, r);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(Referee(planted.problem).measure(r, {}).residual, 1.01e-6);
  }
}

TEST_P(WithBlocks, BitsDoNotDependOnThreads) {
  const PlantedProblem planted = net(150, 5.0);
  std::vector<double> alone;
  const int iterations = solve(GetParam(), {{"blocks", "10"}}, planted.problem, 1e-5, alone).iterations;
  EXPECT_GT(iterations, 1);
  for (const int threads : {2, 4, 8, 16}) {
    TaskArena arena(threads);
    std::vector<double> shared;
    EXPECT_EQ(solve(GetParam(), {{"blocks", "10"}}, planted.problem, 1e-5, shared, &arena).iterations,
              iterations);
    EXPECT_EQ(shared, alone) << threads;
  }
}

TEST_P(WithBlocks, RefusesSizesAndShiftsWithoutMeaning) {
  const auto message = [](const OptionMap& options) -> std::string {
    try {
      make_solver(GetParam(), options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  for (const char* size : {"-1", "1001"})
    EXPECT_NE(message({{"blocks", size}}).find("blocks"), std::string::npos);
  for (const char* shift : {"-0.1", "nan", "inf"})
    EXPECT_NE(message({{"shift", shift}}).find("shift"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Solvers, WithBlocks, testing::Values("pcg", "cr-full", "cr-diag"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(BlocksOfPcg, BelongToTheRobustForm) {
  for (const char* form : {"true", "printed"})
    EXPECT_THROW(make_solver("pcg", {{"blocks", "10"}, {"form", form}}), UsageError) << form;
}

}  // namespace
}  // namespace signorini::block_inverse_test
