#include "solvers/node_coupling.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "base/rng.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

namespace signorini::node_coupling_test {
namespace {

/// `contacts` of random directions on `nodes` node blocks that a random M couples, all approaching: so many
/// per node that B would have as many blocks per row as there are contacts. The last two nodes are a rigid
/// pair where asked.
ContactProblem crowded(Index contacts, Index nodes, bool pair) {
  Rng rng(11);
  const auto uniform = [&rng](Eigen::Index rows, Eigen::Index columns) {
    Matrix A(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i) {
      for (Eigen::Index j = 0; j < columns; ++j) A(i, j) = rng.uniform(-1.0, 1.0);
    }
    return A;
  };
  const Index coupled = pair ? nodes - 2 : nodes;
  Matrix M = Matrix::Zero(3 * nodes, 3 * nodes);
  const Matrix G = uniform(3 * coupled, 3 * coupled);
  M.topLeftCorner(3 * coupled, 3 * coupled) =
      0.02 * G * G.transpose() + Matrix::Identity(3 * coupled, 3 * coupled);
  if (pair) {
    const Matrix R = uniform(6, 6);
    M.bottomRightCorner(6, 6) = 0.2 * R * R.transpose() + Matrix::Identity(6, 6);
  }
  Matrix H = Matrix::Zero(3 * nodes, 3 * contacts);
  for (Index k = 0; k < contacts; ++k) {
    // within 25 degrees of an axis: a node gives way to all of its contacts at once
    const Vector3 normal(1.0, 0.3 * rng.uniform(-1.0, 1.0), 0.3 * rng.uniform(-1.0, 1.0));
    const Matrix3 frame = Eigen::Quaterniond::FromTwoVectors(Vector3::UnitX(), normal).toRotationMatrix();
    const auto node = static_cast<Index>(rng.below(static_cast<std::uint64_t>(nodes)));
    H.block<3, 3>(3 * node, 3 * k) = frame;
  }
  Vector w(3 * contacts);
  for (Eigen::Index i = 0; i < w.size(); ++i)
    w[i] = i % 3 == 0 ? -rng.uniform() : 0.2 * rng.uniform(-1.0, 1.0);
  ContactProblem problem =
      zoo::make_primal(M, H, Vector::Zero(3 * nodes), w, Vector::Constant(contacts, 0.3));
  if (pair) problem.body_dofs = {0, 3 * coupled, 3 * nodes};
  return problem;
}

/// Hᵀ D⁻¹ H with the node blocks and pairs of `system`.
Matrix dense_coupling(const PrimalSystem& system, const ContactProblem& problem) {
  const Matrix H(problem.H);
  Matrix DH(H.rows(), H.cols());
  for (Eigen::Index i = 0; i < H.rows() / 3; ++i)
    DH.middleRows<3>(3 * i) = system.inverse[i] * H.middleRows<3>(3 * i);
  for (const PrimalSystem::Pair& pair : system.pairs) {
    Matrix both(6, H.cols());
    both << H.middleRows<3>(3 * pair.first), H.middleRows<3>(3 * pair.second);
    const Matrix moved = pair.inverse * both;
    DH.middleRows<3>(3 * pair.first) = moved.topRows<3>();
    DH.middleRows<3>(3 * pair.second) = moved.bottomRows<3>();
  }
  return H.transpose() * DH;
}

PrimalSystem prepared(const ContactProblem& problem) {
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
  return system;
}

TEST(NodeCoupling, IsTheProductWithTheMatrixThatIsNotFormed) {
  for (const bool pair : {false, true}) {
    const ContactProblem problem = crowded(40, 6, pair);
    const PrimalSystem system = prepared(problem);
    EXPECT_EQ(system.pairs.size(), pair ? 1U : 0U);
    const Matrix B = dense_coupling(system, problem);
    NodeCoupling coupling;
    coupling.prepare(system);
    Vector r = Vector::LinSpaced(120, -1.0, 2.0);
    coupling.start({r.data(), 120});
    const Vector3 change(0.3, -0.1, 0.7);
    coupling.add(7, change);
    r.segment<3>(21) += change;
    const Vector expected = B * r;
    for (Index k = 0; k < 40; ++k) {
      // sums of a few dozen terms of size 1, in another order
      EXPECT_LE((coupling.velocity(k) - expected.segment<3>(3 * k)).norm(), 1e-13 * expected.norm()) << k;
    }
  }
}

TEST(NodeCoupling, ComponentsAreThoseOfTheMatrix) {
  for (const char* name : {"planted_implicit_regions", "planted_regions", "four_legged_plate"}) {
    const PrimalSystem system = prepared(zoo::specimen(name).problem);
    NodeCoupling coupling;
    coupling.prepare(system);
    const Components expected = connected_components(system.W_D);
    EXPECT_EQ(coupling.components().count, expected.count) << name;
    EXPECT_EQ(coupling.components().label, expected.label) << name;
  }
}

TEST(NodeCoupling, NeighboursAreTheBlocksOfTheMatrix) {
  for (const bool pair : {false, true}) {
    const ContactProblem problem = crowded(40, 6, pair);
    const PrimalSystem system = prepared(problem);
    const Matrix B = dense_coupling(system, problem);
    NodeCoupling coupling;
    coupling.prepare(system);
    const ContactNeighbours neighbours = coupling.neighbours();
    ASSERT_EQ(neighbours.contacts(), 40);
    for (Index k = 0; k < 40; ++k) {
      std::vector<Index> expected;
      for (Index l = 0; l < 40; ++l)
        if (l != k && B.block<3, 3>(3 * k, 3 * l).norm() > 0.0) expected.push_back(l);
      const auto found = neighbours.of(k);
      EXPECT_EQ(std::vector<Index>(found.begin(), found.end()), expected) << k;
    }
  }
}

TEST(NodeCoupling, CrowdedNodesAreCoupledWithoutTheMatrix) {
  EXPECT_FALSE(prepared(crowded(200, 6, false)).couples_by_nodes());
  const ContactProblem problem = crowded(1200, 4, true);
  const PrimalSystem system = prepared(problem);
  EXPECT_TRUE(system.couples_by_nodes());
  const Matrix B = dense_coupling(system, problem);
  for (const Index k : {0, 5, 1199}) {
    const Matrix3 expected = B.block<3, 3>(3 * k, 3 * k);
    EXPECT_LE((system.W_D_diagonal[k] - expected).norm(), 1e-13 * expected.norm());
  }
}

TEST(NodeCoupling, SolversOnVelocitiesSolveCrowdedNodes) {
  const ContactProblem problem = crowded(1200, 4, true);
  const std::pair<const char*, OptionMap> solvers[] = {
      {"ica", {}}, {"ica", {{"order", "coloured"}}}, {"ica-cr", {}}, {"cr-full", {}}};
  for (const auto& [name, more] : solvers) {
    std::vector<double> first;
    for (const int threads : {1, 4}) {
      OptionMap options = more;
      options["judge"] = "own";
      const auto solver = make_solver(name, options);
      TaskArena arena(threads);
      solver->use_arena(&arena);
      solver->prepare(problem);
      std::vector<double> r(3600, 0.0);
      StopRule stop;
      stop.residual = 1e-6;
      stop.max_iterations = 20000;
      const SolveReport report = solver->solve(r, stop, nullptr);
      EXPECT_EQ(enum_name(report.status), "converged") << name;
      // the solver's own measure has D in the place of M; cond(D⁻¹ M) is below 100 here
      EXPECT_LE(Referee(problem).measure(r, {}).residual, 1e-4) << name;
      if (first.empty()) first = r;
      EXPECT_EQ(r, first) << name << " " << threads;
    }
  }
}

}  // namespace
}  // namespace signorini::node_coupling_test
