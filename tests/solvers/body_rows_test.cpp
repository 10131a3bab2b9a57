#include "solvers/relaxation/body_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "linalg/random_blocks.h"
#include "solvers/allocation_counter.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"
#include "solvers/relaxation/exact_sweep.h"
#include "solvers/relaxation/ordered_sweep.h"

// Sweeps on the velocities of bodies are those over W up to rounding, and W is never formed.

namespace signorini::body_rows_test {
namespace {

using test::random_vector;
using test::view;

constexpr double kEps = 2.220446049250313e-16;

ContactProblem points(int contacts, std::uint64_t seed) {
  PlantedOptions options;
  options.contacts = contacts;
  options.sharing = 0.3;
  options.seed = seed;
  return make_planted_problem(options).problem;
}

/// Bodies of six dofs with full 6×6 masses; every contact joins two of them, or one and the ground.
ContactProblem rigid_bodies(Index bodies, Index contacts, std::uint64_t seed, double skew = 0.0) {
  Rng rng(seed);
  const auto any = [&] { return rng.uniform(-1.0, 1.0); };
  ContactProblem problem;
  const Index n = 6 * bodies;
  std::vector<Eigen::Triplet<double, Index>> mass, directions;
  for (Index body = 0; body < bodies; ++body) {
    Eigen::Matrix<double, 6, 6> A;
    for (Index i = 0; i < 36; ++i) A.data()[i] = any();
    Eigen::Matrix<double, 6, 6> M = A * A.transpose() + 4.0 * Eigen::Matrix<double, 6, 6>::Identity();
    M(0, 5) += skew;
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j) mass.emplace_back(6 * body + i, 6 * body + j, M(i, j));
  }
  for (Index k = 0; k < contacts; ++k) {
    const auto first = static_cast<Index>(rng.below(bodies)),
               second = static_cast<Index>(rng.below(bodies + 1));
    for (const Index body : {first, second}) {
      if (body == bodies || (body == second && second == first)) continue;
      for (Index i = 0; i < 6; ++i)
        for (Index a = 0; a < 3; ++a) directions.emplace_back(6 * body + i, 3 * k + a, any());
    }
    if (second == first) {
      for (Index i = 0; i < 3; ++i) directions.emplace_back(6 * first + i, 3 * k + i, 1.0);
    }
  }
  problem.M.resize(n, n);
  problem.M.setFromTriplets(mass.begin(), mass.end());
  problem.H.resize(n, 3 * contacts);
  problem.H.setFromTriplets(directions.begin(), directions.end());
  problem.f = random_vector(n, seed + 1);
  problem.w = random_vector(3 * contacts, seed + 2);
  problem.mu = Vector::Constant(contacts, 0.4);
  problem.dt = 1e-3;
  return problem;
}

std::vector<ContactProblem> specimens() {
  return {points(200, 3), rigid_bodies(30, 90, 5), rigid_bodies(20, 60, 7, 0.5)};
}

GaussSeidelData with_delassus(const ContactProblem& problem, FrictionLaw law) {
  ReducedProblem reduced = assemble_reduced(problem);
  return make_gauss_seidel_data(std::move(reduced.W), std::move(reduced.q), problem.mu, law,
                                TangentChoice::automatic);
}

GaussSeidelData with_bodies(const ContactProblem& problem, FrictionLaw law) {
  return make_gauss_seidel_data(make_body_rows(problem), problem.mu, law, TangentChoice::automatic);
}

TEST(BodyRows, HoldTheProblemThatWAndQHold) {
  for (const ContactProblem& problem : specimens()) {
    const GaussSeidelData expected = with_delassus(problem, FrictionLaw::cone);
    const GaussSeidelData got = with_bodies(problem, FrictionLaw::cone);
    ASSERT_TRUE(got.bodies.has_value());
    EXPECT_EQ(got.W.blocks(), 0);
    const Vector r = random_vector(expected.q.size(), 9);
    Vector u(r.size()), v(r.size());
    multiply(expected.W, view(r), view(u));
    got.bodies->relative_velocities(view(r), view(v));
    // J (free + P r) against W r: free comes with q, so both begin with q - w. Sums of some dozens of terms.
    u += expected.q;
    v += got.bodies->w;
    EXPECT_LE((u - v).lpNorm<Eigen::Infinity>(), 100 * kEps * (1.0 + u.lpNorm<Eigen::Infinity>()));
    EXPECT_LE((expected.q - got.q).lpNorm<Eigen::Infinity>(),
              100 * kEps * (1.0 + expected.q.lpNorm<Eigen::Infinity>()));
    for (std::size_t k = 0; k < expected.diagonal.size(); ++k)
      EXPECT_LE((expected.diagonal[k] - got.diagonal[k]).norm(), 100 * kEps * expected.diagonal[k].norm());
  }
}

TEST(BodyRows, SweepsAreThoseOverWUpToRounding) {
  for (const ContactProblem& problem : specimens()) {
    for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
      for (const SweepOrder order : {SweepOrder::natural, SweepOrder::symmetric}) {
        const GaussSeidelData expected = with_delassus(problem, law), got = with_bodies(problem, law);
        SweepPlan plan;
        plan.symmetric = order == SweepOrder::symmetric;
        OrderedSweep by_W, by_bodies;
        by_W.prepare(expected, plan);
        by_bodies.prepare(got, plan);
        Vector r = Vector::Zero(3 * problem.contacts()), s = r;
        for (int i = 0; i < 20; ++i) {
          const double a = by_W.run(view(r)), b = by_bodies.run(view(s));
          // A sweep does not enlarge what differs by much; 20 of them, each with some dozens of roundings.
          EXPECT_NEAR(a, b, 1e-10 * (1.0 + a));
        }
        EXPECT_LE((r - s).lpNorm<Eigen::Infinity>(), 1e-10 * r.lpNorm<Eigen::Infinity>());
        EXPECT_GT(r.lpNorm<Eigen::Infinity>(), 0.0);
        Vector u(r.size()), v(r.size());
        EXPECT_NEAR(alart_curnier_error(expected, view(r), view(u)),
                    alart_curnier_error(got, view(s), view(v)), 1e-9);
      }
    }
  }
}

TEST(BodyRows, ExactSweepsAreThoseOverWUpToRounding) {
  for (const ContactProblem& problem : specimens()) {
    for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
      const GaussSeidelData expected = with_delassus(problem, law), got = with_bodies(problem, law);
      ExactSweep by_W, by_bodies;
      by_W.prepare(expected);
      by_bodies.prepare(got);
      Vector r = Vector::Zero(3 * problem.contacts()), s = r;
      std::vector<double> v(got.bodies->free.size());
      got.bodies->velocities(view(s), v);
      for (int i = 0; i < 20; ++i) {
        by_W.run({0, expected.contacts()}, view(r));
        by_bodies.run({0, got.contacts()}, view(s), v);
        // as above; b = u − W_kk r_k loses what u is smaller than its parts
        ASSERT_LE((r - s).lpNorm<Eigen::Infinity>(), 1e-10 * r.lpNorm<Eigen::Infinity>()) << i;
      }
      EXPECT_GT(r.lpNorm<Eigen::Infinity>(), 0.0);
      std::vector<double> anew(v.size());
      got.bodies->velocities(view(s), anew);
      for (std::size_t i = 0; i < v.size(); ++i)
        EXPECT_NEAR(v[i], anew[i], 1e-11 * (1.0 + std::abs(anew[i])));
    }
  }
}

TEST(BodyRows, ExactSweepsHaveTheSameBitsOnEveryLevelWithFusedProducts) {
  const ContactProblem problem = rigid_bodies(30, 90, 5);
  const GaussSeidelData data = with_bodies(problem, FrictionLaw::cone);
  Vector one;
  for (const Isa level : {Isa::fused, best_isa()}) {
    if (level == Isa::portable) continue;  // rounds products
    ExactSweep sweep;
    sweep.prepare(data);
    Vector r = Vector::Zero(3 * problem.contacts());
    std::vector<double> v(data.bodies->free.size());
    data.bodies->velocities(view(r), v);
    for (int i = 0; i < 5; ++i) sweep.run(level, view(r), v);
    if (one.size() == 0) one = r;
    EXPECT_EQ(r, one) << enum_name(level);
  }
  EXPECT_GT(one.lpNorm<Eigen::Infinity>(), 0.0);
}

TEST(BodyRows, StepsTellWhatTheyChanged) {
  const ContactProblem problem = rigid_bodies(30, 90, 11);
  const GaussSeidelData expected = with_delassus(problem, FrictionLaw::cone),
                        got = with_bodies(problem, FrictionLaw::cone);
  OrderedSweep by_W, by_bodies;
  by_W.prepare(expected, {});
  by_bodies.prepare(got, {});
  const Vector along = random_vector(3 * problem.contacts(), 4);
  Vector r = Vector::Zero(along.size()), s = r, d = r, e = r;
  for (int i = 0; i < 5; ++i) {
    const SweepStep a = by_W.step(view(along), view(r), view(d));
    const SweepStep b = by_bodies.step(view(along), view(s), view(e));
    EXPECT_NEAR(a.correction, b.correction, 1e-11 * (1.0 + a.correction));
    EXPECT_NEAR(a.square, b.square, 1e-11 * (1.0 + a.square));
    EXPECT_NEAR(a.along, b.along, 1e-11 * (1.0 + std::abs(a.along)));
    EXPECT_LE((d - e).lpNorm<Eigen::Infinity>(), 1e-11 * (1.0 + d.lpNorm<Eigen::Infinity>()));
    s *= 1.5;  // another r than the last sweep left: the velocities are found anew
    r *= 1.5;
  }
}

TEST(BodyRows, ColoursAreThoseOfW) {
  for (const ContactProblem& problem : specimens()) {
    const SweepPlan by_W = plan_sweeps(assemble_delassus(problem), SweepOrder::coloured);
    const SweepPlan by_bodies = plan_sweeps(make_body_rows(problem), SweepOrder::coloured);
    EXPECT_EQ(by_W.contact, by_bodies.contact);
    EXPECT_EQ(by_W.colour_begin, by_bodies.colour_begin);
  }
}

TEST(BodyRows, ColouredSweepsHaveTheSameBitsForAnyThreads) {
  const ContactProblem problem = points(9000, 5);
  BodyRows rows = make_body_rows(problem);
  const SweepPlan plan = plan_sweeps(rows, SweepOrder::coloured);
  ASSERT_GT(plan.colour_begin[1], 4 * OrderedSweep::kPiece);
  const GaussSeidelData data =
      make_gauss_seidel_data(in_order(std::move(rows), plan.contact), in_order(problem.mu, plan),
                             FrictionLaw::cone, TangentChoice::automatic);
  Vector one;
  for (const int threads : {0, 1, 2, 4, 8, 16}) {
    std::optional<TaskArena> arena;
    if (threads > 0) arena.emplace(threads);
    OrderedSweep sweep;
    sweep.prepare(data, plan);
    Vector r = Vector::Zero(data.q.size());
    for (int i = 0; i < 4; ++i) sweep.run(view(r), arena ? &*arena : nullptr);
    if (threads == 0) one = r;
    EXPECT_EQ(r, one) << threads << " threads";
  }
  EXPECT_GT(one.lpNorm<Eigen::Infinity>(), 0.0);
}

TEST(BodyRows, ASweepAfterStepsOfACallerFindsTheVelocitiesAnew) {
  const ContactProblem problem = rigid_bodies(30, 90, 11);
  const GaussSeidelData data = with_bodies(problem, FrictionLaw::cone);
  OrderedSweep mixed, plain;
  mixed.prepare(data, {});
  plain.prepare(data, {});
  Vector r = Vector::Zero(3 * problem.contacts()), change = r;
  plain.run(view(r));
  const Vector once = r;
  Vector expected = once;
  plain.run(view(expected));
  r.setZero();
  mixed.run(view(r));  // the impulses that a later comparison would find
  mixed.forget();
  Vector other = random_vector(r.size(), 5).cwiseAbs();
  EXPECT_TRUE(mixed.refresh_velocities(view(other)));
  mixed.step(view(change), view(other), view(change));
  EXPECT_FALSE(mixed.refresh_velocities(view(other)));
  mixed.step(view(change), view(other), view(change));
  r = once;  // what the first sweep left; the velocities are those of `other`
  mixed.run(view(r));
  EXPECT_LE((r - expected).lpNorm<Eigen::Infinity>(), 1e-12 * expected.lpNorm<Eigen::Infinity>());
}

TEST(BodyRows, ConjugateSweepsHaveTheSameBitsForAnyThreads) {
  const ContactProblem problem = points(9000, 5);
  Vector one;
  for (const int threads : {1, 2, 4, 8, 16}) {
    TaskArena arena(threads);
    const auto solver = make_solver("nncg", {{"matrix", "bodies"}, {"order", "coloured"}});
    solver->use_arena(&arena);
    solver->prepare(problem);
    StopRule stop;
    stop.max_iterations = 150;  // velocities are found anew twice
    Vector r = Vector::Zero(3 * problem.contacts());
    static_cast<void>(solver->solve(view(r), stop, nullptr));
    if (threads == 1) one = r;
    EXPECT_EQ(r, one) << threads << " threads";
    EXPECT_EQ(arena.busiest(), threads);
    static_cast<void>(solver->solve(view(r.setZero()), stop, nullptr));
    EXPECT_EQ(r, one) << "a second solve";
  }
  EXPECT_GT(one.lpNorm<Eigen::Infinity>(), 0.0);
}

TEST(BodyRows, SolversMeetTheResidualAndAllocateNothing) {
  PlantedOptions options;
  options.regions = 5;
  options.contacts = 100;
  const ContactProblem problem = make_planted_problem(options).problem;
  const Referee referee(problem);
  for (const char* name : {"pgs", "nsgs", "nncg", "anderson"}) {
    for (const char* order : {"natural", "symmetric", "coloured", "auto"}) {
      for (const char* law : {"cone", "pyramid"}) {
        for (const RegionMode mode : {RegionMode::none, RegionMode::points, RegionMode::islands}) {
          SCOPED_TRACE(std::string(name) + " " + order + " " + law);
          const auto solver =
              make_region_solver(name, {{"matrix", "bodies"}, {"order", order}, {"law", law}}, {mode, 1});
          ASSERT_EQ(solver->unsupported_reason(problem), "");
          solver->prepare(problem);
          std::vector<double> r(3 * problem.contacts(), 0.0);
          StopRule stop;
          stop.residual = 1e-9;
          SolveReport report;
          const long long allocations =
              test::allocations_during([&] { report = solver->solve(r, stop, nullptr); });
          EXPECT_EQ(allocations, 0);
          EXPECT_EQ(report.status, SolveStatus::converged);
          EXPECT_LE(referee.measure(r, solver->common().spec()).residual, stop.residual);
        }
      }
    }
  }
}

TEST(BodyRows, AutomaticTakesThemWhereTheyAreLessToRead) {
  int taken = 0, left = 0, shared = 0;
  for (const Index bodies : {1, 2, 3, 5, 12}) {
    for (const Index contacts : {1, 4, 8, 16, 24, 40}) {
      const ContactProblem problem = rigid_bodies(bodies, contacts, 3);
      // J and P against W, counted from the matrices
      const std::size_t own = 2 * make_body_rows(problem).J.blocks(),
                        delassus = assemble_delassus(problem).blocks();
      EXPECT_EQ(takes_body_rows(problem, SweepMatrix::automatic), own < delassus)
          << bodies << " bodies, " << contacts << " contacts: " << own << ", " << delassus;
      ++(own < delassus ? taken : left);
      if (own >= delassus && static_cast<double>(own) < delassus_blocks_at_most(problem)) ++shared;
      EXPECT_TRUE(takes_body_rows(problem, SweepMatrix::bodies));
      EXPECT_FALSE(takes_body_rows(problem, SweepMatrix::delassus));
    }
  }
  EXPECT_GT(taken, 5);
  EXPECT_GT(left, 5);
  EXPECT_GT(shared, 0);  // contacts of one pair of bodies counted twice would have decided otherwise
}

TEST(BodyRows, WhatHasNoSuchFormIsUnsupportedWithTheReason) {
  PlantedOptions options;
  options.stiffness = 1.0;
  const ContactProblem soft = make_planted_problem(options).problem;
  ContactProblem dual;
  dual.W = to_scalar(assemble_delassus(soft));
  dual.q = assemble_q(soft);
  dual.mu = soft.mu;
  for (const char* name : {"pgs", "nsgs", "nncg", "anderson"}) {
    const auto solver = make_solver(name, {{"matrix", "bodies"}});
    EXPECT_NE(solver->unsupported_reason(soft).find("matrix = bodies needs bodies of at most 12 dofs"),
              std::string::npos);
    EXPECT_NE(solver->unsupported_reason(dual).find("matrix = bodies needs M and H"), std::string::npos);
    EXPECT_THROW(solver->prepare(dual), UsageError);
    const auto any = make_solver(name, {{"matrix", "auto"}});
    EXPECT_EQ(any->unsupported_reason(soft), "");
    EXPECT_EQ(any->unsupported_reason(dual), "");
  }
  EXPECT_THROW(make_solver("pgs", {{"matrix", "bodies"}, {"form", "printed"}}), UsageError);
  EXPECT_THROW(make_solver("pgs", {{"matrix", "auto"}, {"kernel", "dense"}}), UsageError);
}

// Then there are no slots, and no velocities.
TEST(BodyRows, ContactsThatTouchNoBodyAreFine) {
  ContactProblem problem = points(4, 1);
  problem.H.setZero();
  for (const char* name : {"pgs", "nsgs", "nncg", "anderson", "mass-splitting"}) {
    for (const char* order : {"natural", "coloured", "symmetric"}) {
      OptionMap options;
      if (name != std::string_view("mass-splitting")) options = {{"matrix", "bodies"}, {"order", order}};
      const auto solver = make_solver(name, options);
      solver->prepare(problem);
      std::vector<double> r(3 * problem.contacts(), 1.0);
      static_cast<void>(solver->solve(r, {}, nullptr));
      EXPECT_EQ(r, std::vector<double>(r.size(), 0.0)) << name << ", " << order;
    }
  }
}

TEST(BodyRows, FixedBodiesAndNoContactsAreFine) {
  ContactProblem problem = points(4, 1);
  for (Index column = 3; column < 6; ++column) {
    for (SparseColumns::InnerIterator entry(problem.H, column); entry; ++entry) entry.valueRef() = 0.0;
  }
  problem.w.segment<3>(3) << 0.5, 0.0, 0.0;  // contact 1 between fixed bodies, separating
  const auto solver = make_solver("pgs", {{"matrix", "bodies"}});
  solver->prepare(problem);
  std::vector<double> r(3 * problem.contacts(), 1.0);
  EXPECT_EQ(solver->solve(r, {}, nullptr).status, SolveStatus::converged);
  EXPECT_EQ(r[3], 0.0);
  EXPECT_LE(Referee(problem).measure(r, {}).residual, 1e-6);

  ContactProblem none = points(4, 1);
  none.H.resize(none.dofs(), 0);
  none.w.resize(0);
  none.mu.resize(0);
  none.points = {};
  none.weights = {};
  none.bodies = {};
  solver->prepare(none);
  std::vector<double> empty;
  EXPECT_EQ(solver->solve(empty, {}, nullptr).status, SolveStatus::converged);
}

}  // namespace
}  // namespace signorini::body_rows_test
