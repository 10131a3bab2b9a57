#include "solvers/anticipation/ica.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/anticipation/node_sweep.h"
#include "solvers/contact_sweep.h"

namespace signorini::ica_test {
namespace {

/// Every number of `small` as that number times the 3×3 unit matrix: node blocks that behave as the scalars
/// do.
Matrix blown_up(const Matrix& small) {
  Matrix large = Matrix::Zero(3 * small.rows(), 3 * small.cols());
  for (Eigen::Index i = 0; i < small.rows(); ++i) {
    for (Eigen::Index j = 0; j < small.cols(); ++j)
      large.block<3, 3>(3 * i, 3 * j) = small(i, j) * Matrix3::Identity();
  }
  return large;
}

/// Contacts with rows `directions` (contacts × nodes) that all approach.
ContactProblem scalar_problem(const Matrix& M, const Matrix& directions, double mu) {
  const Matrix H = blown_up(directions.transpose());
  Vector w(H.cols());
  for (Eigen::Index i = 0; i < w.size(); ++i) w[i] = i % 3 == 0 ? -1.0 : 0.1;
  return zoo::make_primal(blown_up(M), H, Vector::Zero(H.rows()), w, Vector::Constant(directions.rows(), mu));
}

SolveReport solve(Ica& solver, const ContactProblem& problem, double tolerance, std::vector<double>& r,
                  int limit = 20000) {
  solver.prepare(problem);
  r.assign(3 * problem.contacts(), 0.0);
  StopRule stop;
  stop.residual = tolerance;
  stop.max_iterations = limit;
  return solver.solve(r, stop, nullptr);
}

/// Without a factor of M too: timed repetitions are the solve that was counted.
TEST(Ica, SolvesTheSameAgain) {
  const ContactProblem problem = zoo::specimen("planted_implicit").problem;
  Ica::Options options;
  options.judge = Judge::own;
  Ica solver(options);
  std::vector<double> first, second(3 * problem.contacts(), 0.0);
  const SolveReport once = solve(solver, problem, 1e-4, first);
  StopRule stop;
  stop.residual = 1e-4;
  stop.max_iterations = 20000;
  const SolveReport again = solver.solve(second, stop, nullptr);
  ASSERT_EQ(once.status, SolveStatus::converged);
  ASSERT_GT(once.iterations, 3);
  EXPECT_EQ(again.iterations, once.iterations);
  EXPECT_EQ(second, first);
}

/// Two frictionless contacts that share their node with directions n₁ᵀ n₂ = c, both pressed in: the sweeps
/// shrink their corrections by c².
ContactProblem two_on_a_node(double c) {
  const double s = std::sqrt(1.0 - c * c);
  Matrix H = Matrix::Zero(9, 6);
  H.block<3, 3>(0, 0).setIdentity();
  H.block<3, 3>(0, 3) << c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0;
  Matrix M = Matrix::Identity(9, 9);  // three nodes in a row: two would be one block of D
  for (const Eigen::Index i : {0, 3})
    M.block<3, 3>(i, i + 3) = M.block<3, 3>(i + 3, i) = 0.1 * Matrix3::Identity();
  Vector w = Vector::Zero(6);
  w[0] = w[3] = -1.0;
  return zoo::make_primal(M, H, Vector::Zero(9), w, Vector::Zero(2));
}

/// Otaduy 2009, section 5.5: a rule of change, which ends a slow inner loop at once and drives a fast one to
/// rounding.
TEST(Ica, InnerSweepsEndByTheRuleOfChange) {
  const auto sweeps = [](double c, IcaInnerStop rule) {
    Ica::Options options;
    options.judge = Judge::own;
    options.inner_stop = rule;
    options.inner_reduction = 1e-6;
    options.inner_max = 500;
    Ica solver(options);
    std::vector<double> r;
    return solve(solver, two_on_a_node(c), 1e-12, r, 1).counters.contact_sweeps;
  };
  // corrections after the first: … c², c⁴, …; a change of 2 % is below 5 %
  EXPECT_LE(sweeps(0.99, IcaInnerStop::paper5), 4);
  EXPECT_GE(sweeps(0.99, IcaInnerStop::reduction), 100);
  // halved by every sweep: never below 5 %, to 1e-15
  EXPECT_GE(sweeps(std::sqrt(0.5), IcaInnerStop::paper5), 40);
  EXPECT_LE(sweeps(std::sqrt(0.5), IcaInnerStop::paper5), 60);
  EXPECT_LE(sweeps(std::sqrt(0.5), IcaInnerStop::reduction), 25);
}

TEST(Ica, TheRuleOfChangeWaitsForContactsThatCloseTooFast) {
  const auto sweeps = [](double gap) {
    Ica::Options options;
    options.judge = Judge::own;
    options.inner_stop = IcaInnerStop::paper5;
    options.inner_max = 500;
    options.paper_gap = gap;
    ContactProblem problem = two_on_a_node(0.99);
    problem.dt = 0.01;
    Ica solver(options);
    std::vector<double> r;
    return solve(solver, problem, 1e-12, r, 1).counters.contact_sweeps;
  };
  EXPECT_LE(sweeps(1.0), 4);
  // until what a sweep meets violates by less than 1e-8 m, 1e-6 m/s: ln(1e-6 / 2e-4) / ln 0.98 sweeps or so
  EXPECT_GE(sweeps(1e-8), 100);
}

TEST(Ica, LearnsTheSameAnswerWithEitherInnerRule) {
  const ContactProblem problem = zoo::specimen("planted_implicit").problem;
  std::vector<double> ours, papers;
  Ica::Options options;
  Ica plain(options);
  const SolveReport by_reduction = solve(plain, problem, 1e-10, ours);
  ASSERT_EQ(by_reduction.status, SolveStatus::converged);
  options.inner_stop = IcaInnerStop::paper5;
  Ica paper(options);
  const SolveReport by_change = solve(paper, problem, 1e-10, papers);
  ASSERT_EQ(by_change.status, SolveStatus::converged);
  EXPECT_NE(by_reduction.counters.contact_sweeps, by_change.counters.contact_sweeps);
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(papers[i], ours[i], 1e-6);
}

/// C27, H14: M is positive definite and Gauss–Seidel converges, the mixture with Jacobi anticipation
/// does not (spectral radii 1.0958 and 1.0508).
TEST(Ica, FallsBackOnDampedJacobiWhereTheMixtureDiverges) {
  const Matrix first = zoo::matrix_of(3, 3, {1, -.8, -.9, -.8, 1, .9, -.9, .9, 1});
  const Matrix second = zoo::matrix_of(3, 3, {1, .8, .9, .8, 1, .6, .9, .6, 1});
  const std::vector<ContactProblem> problems{
      scalar_problem(first, zoo::matrix_of(2, 3, {1, 1, 1, 1, 1, -1}), 0.0),
      scalar_problem(second, zoo::matrix_of(1, 3, {0, 1, 2}), 0.0),
      scalar_problem(first, zoo::matrix_of(2, 3, {1, 1, 1, 1, 1, -1}), 0.5),
      scalar_problem(second, zoo::matrix_of(1, 3, {0, 1, 2}), 0.5)};
  for (const ContactProblem& problem : problems) {
    for (const Judge judge : {Judge::exact, Judge::own}) {
      Ica::Options options;
      options.judge = judge;
      Ica solver(options);
      std::vector<double> r;
      const SolveReport report = solve(solver, problem, 1e-8, r);
      EXPECT_GT(report.counters.guards, 0);
      EXPECT_EQ(enum_name(report.status), "converged");
      // the velocity at hand and D in the place of M: at most cond(D⁻¹ M) < 100 times too optimistic here
      EXPECT_LE(Referee(problem).measure(r, {}).residual, judge == Judge::exact ? 1e-8 : 1e-6);
    }
  }
}

/// As printed there is no fallback: the mixture runs in circles, and the report says that there is no answer.
TEST(Ica, NeverConvergesThereWithoutTheFallback) {
  const Matrix M = zoo::matrix_of(3, 3, {1, -.8, -.9, -.8, 1, .9, -.9, .9, 1});
  const ContactProblem problem = scalar_problem(M, zoo::matrix_of(2, 3, {1, 1, 1, 1, 1, -1}), 0.0);
  Ica::Options options;
  options.fallback = false;
  Ica solver(options);
  std::vector<double> r;
  const SolveReport report = solve(solver, problem, 1e-8, r);
  EXPECT_EQ(report.counters.guards, 0);
  EXPECT_NE(enum_name(report.status), "converged");
  // no iterate is much better than the start, whose residual is of order 1
  EXPECT_GT(Referee(problem).measure(r, {}).residual, 0.1);
}

/// What `auto` asks for: where the mixture runs in circles, the solve ends long before the fallback would come (200 iterations).
TEST(Ica, LeavesWhereTheErrorStandsStill) {
  class Impatient : public Ica {
   public:
    Impatient() : Ica(IcaOptions{}) { leave_when_stale(25); }
  };
  const Matrix M = zoo::matrix_of(3, 3, {1, -.8, -.9, -.8, 1, .9, -.9, .9, 1});
  const ContactProblem problem = scalar_problem(M, zoo::matrix_of(2, 3, {1, 1, 1, 1, 1, -1}), 0.0);
  Impatient solver;
  std::vector<double> r;
  const SolveReport report = solve(solver, problem, 1e-8, r);
  EXPECT_EQ(enum_name(report.status), "stalled");
  EXPECT_EQ(report.counters.guards, 0);
  EXPECT_GE(report.iterations, 25);
  EXPECT_LT(report.iterations, 200);
  // on a sound problem nothing changes
  const ContactProblem sound = zoo::specimen("planted_implicit").problem;
  Ica patient({});
  std::vector<double> expected;
  EXPECT_EQ(solve(solver, sound, 1e-8, r).iterations, solve(patient, sound, 1e-8, expected).iterations);
  EXPECT_EQ(r, expected);
}

TEST(Ica, DoesNotFallBackOnSoundProblems) {
  for (const char* name : {"planted_implicit", "planted_implicit_regions"}) {
    Ica solver({});
    std::vector<double> r;
    EXPECT_EQ(solve(solver, zoo::specimen(name).problem, 1e-8, r).counters.guards, 0) << name;
  }
}

/// With M block diagonal the inner problem is the exact one. A rigid body's six dofs are
/// one block.
TEST(Ica, NeedsOneOuterIterationWhereMIsItsBlockDiagonal) {
  for (const char* name : {"h1", "h2_stack", "planted_cone", "planted_regions", "four_legged_plate"}) {
    const zoo::Specimen specimen = zoo::specimen(name);
    Ica solver({});
    std::vector<double> r;
    const SolveReport report = solve(solver, specimen.problem, 1e-8, r);
    EXPECT_EQ(enum_name(report.status), "converged") << name;
    EXPECT_EQ(report.iterations, 1) << name;
  }
}

/// A rigid body whose M couples displacement and turning (reference point beside the centre of mass).
TEST(Ica, TakesACoupledRigidBodyAsOneBlock) {
  ContactProblem problem = zoo::specimen("four_legged_plate").problem;
  Matrix M(problem.M);
  M(0, 4) = M(4, 0) = 2.5;
  M(1, 3) = M(3, 1) = -1.5;
  problem.M = M.sparseView();
  problem.M.makeCompressed();
  Ica solver({});
  std::vector<double> r;
  const SolveReport report = solve(solver, problem, 1e-9, r);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_LE(Referee(problem).measure(r, {}).residual, 1e-9);
}

TEST(Ica, StartsConstrainedWithoutAnIterationFromTheAnswer) {
  const zoo::Specimen specimen = zoo::specimen("planted_implicit");
  Ica::Options options;
  options.judge = Judge::own;
  Ica solver(options);
  std::vector<double> r;
  solve(solver, specimen.problem, 1e-10, r);
  StopRule stop;
  stop.residual = 1e-8;
  EXPECT_EQ(solver.solve(r, stop, nullptr).iterations, 0);
}

TEST(Ica, NamesTheNodeWhereMIsNotPositiveDefinite) {
  ContactProblem problem = zoo::specimen("planted_implicit").problem;
  problem.M.coeffRef(4, 4) = -1.0;
  for (const Judge judge : {Judge::exact, Judge::own}) {
    Ica::Options options;
    options.judge = judge;
    Ica solver(options);
    EXPECT_THROW(solver.prepare(problem), InputError);
  }
}

/// The sweeps against their dense formulas; `skew` parts the two triangles of M.
void expect_sweep(double skew) {
  Rng rng(3);
  const Eigen::Index n = 21;
  Matrix R(n, n);
  for (Eigen::Index i = 0; i < R.size(); ++i) R.data()[i] = rng.uniform(-1.0, 1.0);
  Matrix M = R * R.transpose() + 5.0 * Matrix::Identity(n, n);
  // nodes 2 and 5 are a body of their own: a pair
  for (Eigen::Index i = 0; i < n / 3; ++i) {
    for (Eigen::Index j = 0; j < n / 3; ++j) {
      const bool pair_i = i == 2 || i == 5, pair_j = j == 2 || j == 5;
      if (pair_i != pair_j) M.block<3, 3>(3 * i, 3 * j).setZero();
    }
  }
  M.block<3, 3>(0, 3) *= 1.0 + skew;
  Matrix H = Matrix::Zero(n, 3);
  H(0, 0) = H(1, 1) = H(2, 2) = 1.0;
  const ContactProblem problem =
      zoo::make_primal(M, H, Vector::Zero(n), Vector::Zero(3), Vector::Constant(1, 0.5));
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
  ASSERT_EQ(system.pairs.size(), 1U);
  NodeSweep sweep;
  sweep.prepare(system);

  Matrix upper = Matrix::Zero(n, n);
  for (Eigen::Index i = 0; i < n / 3; ++i) {
    for (Eigen::Index j = i + 1; j < n / 3; ++j) {
      if (!(i == 2 && j == 5)) upper.block<3, 3>(3 * i, 3 * j) = M.block<3, 3>(3 * i, 3 * j);
    }
  }
  Vector b(n), old(n);
  for (Eigen::Index i = 0; i < n; ++i) b[i] = rng.uniform(-1.0, 1.0), old[i] = rng.uniform(-1.0, 1.0);
  Vector product(n);
  sweep.multiply_upper(span_of(old), span_of(product));
  EXPECT_LE((product - upper * old).norm(), 1e-14 * upper.norm() * old.norm());
  Vector dv = old, next = Vector::Constant(n, 7.0);
  sweep.forward(system, span_of(b), span_of(product), span_of(dv), span_of(next));
  const Vector expected = (M - upper).partialPivLu().solve(b - upper * old);
  // n roundings of a well conditioned triangular solve
  EXPECT_LE((dv - expected).norm(), 1e-13 * (1.0 + expected.norm()) * M.norm());
  EXPECT_LE((next - upper * dv).norm(), 1e-14 * upper.norm() * dv.norm());
}

/// One contact of the falling cloth (Otaduy 2009, Fig. 5) on which the printed loop (section 5.5, 3.2.1) goes
/// back and forth for ever. While it slides both ways a normal correction x turns into −μ (|B_N1| + |B_N2|) /
/// B_NN x = −1.0555 x, and the order of N, T1 and T2 does not matter to that; while the second direction
/// sticks it comes back. With the cone the factor is −μ ‖B_NT‖ / B_NN = −0.75 at most.
TEST(ContactSweep, PyramidMayGoBackAndForthAtASingleContact) {
  const Matrix B = zoo::matrix_of(3, 3,
                                  {3.9050677, -3.5188364, 3.3508585, -3.5188364, 4.0673691, -3.7011477,
                                   3.3508585, -3.7011477, 4.1682788});
  const Matrix H = B.llt().matrixU();
  const ContactProblem problem =
      zoo::make_primal(Matrix::Identity(3, 3), H, Vector::Zero(3), Vector::Zero(3), Vector::Constant(1, 0.6));
  const std::vector<double> q{-0.2108, 0.8017, -0.2157};
  const auto last = [&](FrictionLaw law, int limit, int& sweeps) {
    PrimalSystem system;
    system.prepare(problem, law, Judge::own, nullptr);
    ContactSweep sweep;
    sweep.prepare(system);
    ContactSweep::Rule rule;
    rule.enough = 1e-9;
    rule.limit = limit;
    std::vector<double> r(3, 0.0);
    sweeps = sweep.run(1.0, q, rule, r).sweeps;
    return r;
  };
  int sweeps = 0;
  const std::vector<double> odd = last(FrictionLaw::pyramid, 1001, sweeps);
  EXPECT_EQ(sweeps, 1001);
  const std::vector<double> even = last(FrictionLaw::pyramid, 1002, sweeps);
  const std::vector<double> odd_again = last(FrictionLaw::pyramid, 1003, sweeps);
  EXPECT_NEAR(odd[0], odd_again[0], 1e-12);
  EXPECT_GT(std::abs(odd[0] - even[0]), 1e-4);
  last(FrictionLaw::cone, 1000, sweeps);
  EXPECT_LE(sweeps, 100);
}

ContactProblem bricks(int contacts) {
  PileOptions options;
  options.of = PileKind::bricks;
  options.contacts = contacts;
  options.tilt_deg = 10.0;
  return make_pile_problem(options);
}

/// Contact order[p] of `problem` as contact p.
ContactProblem renumbered(const ContactProblem& problem, std::span<const Index> order) {
  ContactProblem result;
  result.M = problem.M;
  result.f = problem.f;
  result.mu.resize(problem.mu.size());
  result.w.resize(problem.w.size());
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index p = 0; p < count(order); ++p) {
    result.mu[p] = problem.mu[order[p]];
    for (Index j = 0; j < 3; ++j) {
      result.w[3 * p + j] = problem.w[3 * order[p] + j];
      for (SparseColumns::InnerIterator entry(problem.H, 3 * order[p] + j); entry; ++entry)
        entries.emplace_back(entry.row(), 3 * p + j, entry.value());
    }
  }
  result.H.resize(problem.H.rows(), problem.H.cols());
  result.H.setFromTriplets(entries.begin(), entries.end());
  return result;
}

std::vector<double> swept(const ContactProblem& problem, std::span<const double> q, SweepOrder order,
                          TaskArena* arena) {
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
  ContactSweep sweep;
  sweep.prepare(system, order);
  ContactSweep::Rule rule;
  rule.limit = 4;
  std::vector<double> r(q.size(), 0.0);
  EXPECT_EQ(sweep.run(1.0, q, rule, r, arena).sweeps, 4);
  return r;
}

/// Sweeps colour by colour are those in the order of numbers over contacts that are numbered by their colours; sums of a row are
/// then in another order.
TEST(ContactSweep, ColouredIsNaturalWithContactsNumberedByColour) {
  const ContactProblem problem = bricks(400);
  PrimalSystem system;
  system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
  const std::vector<Index> colour = first_fit_colours(neighbours_by_delassus(system.W_D));
  std::vector<Index> order(colour.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index k) { return colour[k]; });
  Rng rng(3);
  std::vector<double> q(3 * colour.size()), placed(q.size());
  for (double& value : q) value = rng.uniform(-1.0, 0.5);
  for (std::size_t p = 0; p < order.size(); ++p)
    std::copy_n(q.data() + 3 * order[p], 3, placed.data() + 3 * p);
  const std::vector<double> coloured = swept(problem, q, SweepOrder::coloured, nullptr);
  const std::vector<double> natural = swept(renumbered(problem, order), placed, SweepOrder::natural, nullptr);
  const double most = *std::ranges::max_element(natural);
  ASSERT_GT(most, 0.0);
  for (std::size_t p = 0; p < order.size(); ++p) {
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(coloured[3 * order[p] + j], natural[3 * p + j], 1e-11 * most);
  }
  EXPECT_NE(coloured, swept(problem, q, SweepOrder::natural, nullptr));
}

TEST(ContactSweep, ColouredHasTheSameBitsForAnyNumberOfThreads) {
  const ContactProblem problem = bricks(3000);
  Rng rng(4);
  std::vector<double> q(3 * static_cast<std::size_t>(problem.contacts()));
  for (double& value : q) value = rng.uniform(-1.0, 0.5);
  const std::vector<double> serial = swept(problem, q, SweepOrder::coloured, nullptr);
  for (const int threads : {1, 2, 4, 8, 16}) {
    TaskArena arena(threads);
    EXPECT_EQ(swept(problem, q, SweepOrder::coloured, &arena), serial) << threads << " threads";
  }
}

TEST(ContactSweep, AutomaticColoursLargeRegionsOnly) {
  const ContactProblem few = bricks(1000), many = bricks(10000);
  for (const ContactProblem* problem : {&few, &many}) {
    const std::vector<double> q(3 * static_cast<std::size_t>(problem->contacts()), -0.1);
    const std::vector<double> chosen = swept(*problem, q, SweepOrder::automatic, nullptr);
    const SweepOrder same = problem == &few ? SweepOrder::natural : SweepOrder::coloured;
    const SweepOrder other = problem == &few ? SweepOrder::coloured : SweepOrder::natural;
    EXPECT_EQ(chosen, swept(*problem, q, same, nullptr));
    EXPECT_NE(chosen, swept(*problem, q, other, nullptr));
  }
}

TEST(Ica, ArrivesWithColouredSweeps) {
  Ica::Options options;
  options.order = SweepOrder::coloured;
  for (const ContactProblem& problem : {bricks(300), zoo::specimen("planted_implicit").problem}) {
    Ica solver(options);
    std::vector<double> r;
    const SolveReport report = solve(solver, problem, 1e-6, r);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(Referee(problem).measure(r, options.common.spec()).residual, 1e-6);
  }
}

TEST(Ica, RefusesSymmetricSweeps) {
  Ica::Options options;
  options.order = SweepOrder::symmetric;
  EXPECT_THROW(options.validate(), UsageError);
}

TEST(NodeSweep, SolvesWithTheLowerTriangle) { expect_sweep(0.0); }
TEST(NodeSweep, TakesTheUpperTriangleOfAnAsymmetricMatrix) { expect_sweep(0.25); }

}  // namespace
}  // namespace signorini::ica_test
