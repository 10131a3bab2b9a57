#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "contact/residuals.h"
#include "solvers/anticipation/node_sweep.h"
#include "solvers/primal_system.h"
#include "solvers/registry.h"

// Systems large enough that products with M read symmetric blocks once: the same product, the same bits for
// any number of threads, and answers that the referee accepts.

namespace signorini::folded_product_test {
namespace {

/// A cube of side³ mass points with springs along the edges of Kuhn's tetrahedra, thrown at a floor that its
/// lowest layer touches.
ContactProblem thrown_cube(Index side) {
  const auto node = [side](Index i, Index j, Index k) { return (k * side + j) * side + i; };
  constexpr std::array<std::array<Index, 3>, 7> kEdges{
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}};
  const Index nodes = side * side * side, contacts = side * side;
  std::vector<Eigen::Triplet<double, Index>> entries;
  const auto add = [&entries](Index a, Index b, const Matrix3& block) {
    for (Index r = 0; r < 3; ++r) {
      for (Index c = 0; c < 3; ++c) entries.emplace_back(3 * a + r, 3 * b + c, block(r, c));
    }
  };
  for (Index a = 0; a < nodes; ++a) {
    const Index i = a % side, j = a / side % side, k = a / (side * side);
    add(a, a, Matrix3::Identity());
    for (const auto& [x, y, z] : kEdges) {
      if (i + x >= side || j + y >= side || k + z >= side) continue;
      const Vector3 along = Vector3(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
      const Matrix3 spring =
          20.0 * (along * along.transpose() / along.squaredNorm() + 0.1 * Matrix3::Identity());
      const Index b = node(i + x, j + y, k + z);
      add(a, a, spring);
      add(b, b, spring);
      add(a, b, -spring);
      add(b, a, -spring);
    }
  }
  ContactProblem problem;
  problem.M.resize(3 * nodes, 3 * nodes);
  problem.M.setFromTriplets(entries.begin(), entries.end());
  entries.clear();
  for (Index c = 0; c < contacts; ++c) {  // N = z, T1 = x, T2 = y
    entries.emplace_back(3 * c + 2, 3 * c, 1.0);
    entries.emplace_back(3 * c, 3 * c + 1, 1.0);
    entries.emplace_back(3 * c + 1, 3 * c + 2, 1.0);
  }
  problem.H.resize(3 * nodes, 3 * contacts);
  problem.H.setFromTriplets(entries.begin(), entries.end());
  problem.w = Vector::Zero(3 * contacts);
  problem.mu = Vector::Constant(contacts, 0.5);
  problem.dt = 1e-3;
  Vector v(3 * nodes);
  for (Index a = 0; a < nodes; ++a) {
    const auto x = static_cast<double>(a);
    v.segment<3>(3 * a) = Vector3(0.3 + 0.1 * std::sin(0.7 * x), 0.1, -1.0 + 0.2 * std::cos(0.3 * x));
  }
  problem.f = problem.M * v;
  return problem;
}

const ContactProblem& large() {
  static const ContactProblem problem = thrown_cube(11);  // 1331 nodes, about 17 000 blocks
  return problem;
}

PrimalSystem prepared(const ContactProblem& problem) {
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
  return system;
}

Vector waves(Eigen::Index n, double frequency) {
  return Vector::NullaryExpr(n, [=](Eigen::Index i) { return std::sin(frequency * static_cast<double>(i)); });
}

/// Against Eigen: 45 terms in two orders, 2 · 45 ε Σ|a||x|.
void expect_product(const PrimalSystem& system, const SparseRows& M) {
  const Vector x = waves(M.cols(), 1.3);
  Vector y(M.rows());
  system.multiply(span_of(x), span_of(y));
  const Vector exact = M * x, size = M.cwiseAbs() * x.cwiseAbs();
  for (Eigen::Index i = 0; i < y.size(); ++i)
    ASSERT_LE(std::abs(y[i] - exact[i]), 90.0 * 2.3e-16 * size[i]) << i;
}

TEST(FoldedProduct, LargeSymmetricSystemsReadCouplingsOnce) {
  const PrimalSystem system = prepared(large());
  EXPECT_TRUE(system.folded());
  EXPECT_EQ(system.parts(), 3U);  // the last one shorter
  expect_product(system, large().M);
}

TEST(FoldedProduct, SmallSystemsStayWhole) {
  const ContactProblem small = thrown_cube(4);
  const PrimalSystem system = prepared(small);
  EXPECT_FALSE(system.folded());
  expect_product(system, small.M);
}

TEST(FoldedProduct, AnAsymmetricSystemStaysWhole) {
  ContactProblem problem = large();
  problem.M.coeffRef(0, 3) *= 1.0 + 1e-6;  // far above rounding
  const PrimalSystem system = prepared(problem);
  EXPECT_FALSE(system.folded());
  expect_product(system, problem.M);
}

TEST(FoldedProduct, AnotherMatrixIsFoldedAfresh) {
  PrimalSystem system = prepared(large());
  ContactProblem heavier = large();
  heavier.M *= 2.0;
  system.prepare(heavier, FrictionLaw::cone, Judge::own, nullptr);
  EXPECT_TRUE(system.folded());
  expect_product(system, heavier.M);
  system.prepare(heavier, FrictionLaw::cone, Judge::own, nullptr);
  ASSERT_TRUE(system.same_matrix());
  expect_product(system, heavier.M);
}

/// (D + L) dv = b − U old, and the product U dv that comes with it; `skew` parts the two triangles.
void expect_sweep(double skew) {
  ContactProblem problem = large();
  problem.M.coeffRef(0, 3) *= 1.0 + skew;
  const PrimalSystem system = prepared(problem);
  EXPECT_EQ(system.folded(), skew == 0.0);
  NodeSweep sweep;
  sweep.prepare(system);
  const Eigen::Index n = system.size();
  const Vector old = waves(n, 0.7), b = waves(n, 1.9);
  Vector U_old(n), dv = old, U_dv = Vector::Constant(n, 7.0), alone(n);
  sweep.multiply_upper(span_of(old), span_of(U_old));
  sweep.forward(system, span_of(b), span_of(U_old), span_of(dv), span_of(U_dv));
  sweep.multiply_upper(span_of(dv), span_of(alone));
  const Vector size = problem.M.cwiseAbs() * (dv.cwiseAbs() + old.cwiseAbs()) + b.cwiseAbs();
  const Vector defect = problem.M * dv - alone + U_old - b;
  for (Eigen::Index i = 0; i < n; ++i) {
    // at most 45 terms in two orders, and for the defect the three-by-three inverses besides
    ASSERT_LE(std::abs(U_dv[i] - alone[i]), 90.0 * 2.3e-16 * size[i]) << i;
    ASSERT_LE(std::abs(defect[i]), 500.0 * 2.3e-16 * size[i]) << i;
  }
}

TEST(FoldedProduct, ASweepMultipliesByTheOtherTriangleOnItsWay) { expect_sweep(0.0); }
TEST(FoldedProduct, ASweepReadsTheOtherTriangleWhereItDiffers) { expect_sweep(1e-6); }

class FoldedSolver : public ::testing::TestWithParam<const char*> {};

TEST_P(FoldedSolver, MeetsTheRefereeWithTheSameBitsForAnyNumberOfThreads) {
  StopRule stop;
  stop.residual = 1e-8;
  stop.max_iterations = 5000;
  std::vector<double> first;
  for (const int threads : {0, 1, 2, 8}) {
    const auto solver = make_solver(GetParam());
    std::optional<TaskArena> arena;
    if (threads > 0) solver->use_arena(&arena.emplace(threads));
    solver->prepare(large());
    std::vector<double> r(3 * large().contacts(), 0.0);
    EXPECT_EQ(solver->solve(r, stop, nullptr).status, SolveStatus::converged);
    if (threads == 0) {
      first = r;
      EXPECT_LE(Referee(large()).measure(r, solver->common().spec()).residual, 1e-8);
    }
    EXPECT_EQ(r, first) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(OnVelocities, FoldedSolver,
                         ::testing::Values("cr-full", "cr-diag", "minres", "ica", "ica-cr", "sp-cr"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace signorini::folded_product_test
