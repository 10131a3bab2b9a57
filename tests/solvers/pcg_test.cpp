// Projected conjugate gradients on islands of one contact, where sliding bends the energy down.
#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"
#include "contact/residuals.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"

namespace signorini::pcg_test {
namespace {

ContactProblem one_contact(const Matrix3& W, const Vector3& q, double mu) {
  ContactProblem problem;
  problem.W = SparseRows(Matrix(W).sparseView(0.0, 0.0));
  problem.q = q;
  problem.mu = Vector::Constant(1, mu);
  return problem;
}

double residual_of(Solver& solver, const ContactProblem& problem) {
  solver.prepare(problem);
  std::vector<double> r(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  StopRule stop;
  stop.residual = 1e-8;
  stop.max_iterations = 10000;
  solver.solve(r, stop, nullptr);
  return Referee(problem).measure(r, {}).residual;
}

/// W_NN + μ W_NT·e < 0 for the direction e in which the contact comes to slide: after two steps the curvature along the
/// direction is negative, and the solve ended there with a residual of about 1.
TEST(Pcg, GoesOnWhereSlidingBendsTheEnergyDown) {
  Matrix3 W;
  W << 3.98, -1.76, -4.39, -1.76, 4.88, 2.92, -4.39, 2.92, 5.45;
  EXPECT_LE(residual_of(*make_solver("pcg", {}), one_contact(W, {-0.67, -0.02, -1.27}, 1.4)), 1.01e-8);
  W << 3.47, -3.06, -2.81, -3.06, 4.34, 3.74, -2.81, 3.74, 3.66;
  EXPECT_LE(residual_of(*make_solver("pcg", {}), one_contact(W, {-0.31, -1.41, -0.51}, 1.3)), 1.01e-8);
  W << 1.07, 1.53, 0.23, 1.53, 2.82, -0.06, 0.23, -0.06, 1.46;
  EXPECT_LE(residual_of(*make_solver("pcg", {}), one_contact(W, {-1.35, 2.56, 0.95}, 1.1)), 1.01e-8);
  W << 2.14, 2.15, -0.49, 2.15, 3.32, -2.28, -0.49, -2.28, 4.99;
  EXPECT_LE(residual_of(*make_solver("pcg", {}), one_contact(W, {-0.68, 0.35, 0.41}, 1.3)), 1.01e-8);
}

/// Contacts that know nothing of one another, solved one by one: as well as all at once.
TEST(Pcg, SolvesIslandsOfOneContactAsWellAsTheWhole) {
  constexpr Index kContacts = 500;
  Rng rng(7);
  ContactProblem problem;
  std::vector<Eigen::Triplet<double, Index>> entries;
  problem.q.resize(3 * kContacts);
  problem.mu.resize(kContacts);
  for (Index k = 0; k < kContacts; ++k) {
    Matrix3 roots;
    for (double& x : roots.reshaped()) x = rng.uniform(-1.0, 1.0);
    const Matrix3 W = roots * roots.transpose() + 0.1 * Matrix3::Identity();
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) entries.emplace_back(3 * k + i, 3 * k + j, W(i, j));
      problem.q[3 * k + i] = rng.uniform(-1.0, 1.0);
    }
    problem.mu[k] = rng.uniform(0.1, 1.0);
  }
  problem.W.resize(3 * kContacts, 3 * kContacts);
  problem.W.setFromTriplets(entries.begin(), entries.end());
  EXPECT_LE(residual_of(*make_region_solver("pcg", {}, {RegionMode::none, 1}), problem), 1.01e-8);
  // About one contact in two thousand alternates between two pieces of the law and ends at about 1e-7; before the Jacobi
  // step one in sixty ended near 1.
  EXPECT_LE(residual_of(*make_region_solver("pcg", {}, {RegionMode::islands, 1}), problem), 1e-6);
}

}  // namespace
}  // namespace signorini::pcg_test
