#include "contact/pile_problem.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <set>
#include <utility>

#include "base/check.h"
#include "contact/residuals.h"
#include "regions/region_partition.h"
#include "solvers/registry.h"

namespace signorini::pile_problem_test {
namespace {

constexpr PileKind kKinds[] = {PileKind::spheres, PileKind::bricks, PileKind::sphere_tower,
                               PileKind::brick_tower};

PileOptions options_of(PileKind kind, int contacts, double unevenness = 0.02) {
  PileOptions options;
  options.of = kind;
  options.contacts = contacts;
  options.unevenness = unevenness;
  if (kind == PileKind::brick_tower) options.left_out = 0.0;
  return options;
}

/// The impulse and the moment about the origin of one unit of r in this column of H, of one body or of both; N s, N m s.
Eigen::Matrix<double, 6, 1> wrench(const ContactProblem& problem, Index column,
                                   const std::vector<Vector3>& centre) {
  Eigen::Matrix<double, 6, 1> sum = Eigen::Matrix<double, 6, 1>::Zero();
  for (SparseColumns::InnerIterator entry(problem.H, column); entry; ++entry) {
    const Index body = static_cast<Index>(entry.row()) / 6, dof = static_cast<Index>(entry.row()) % 6;
    if (dof >= 3) {
      sum[dof] += entry.value();
      continue;
    }
    const Vector3 push = entry.value() * Vector3::Unit(dof);
    sum.head<3>() += push;
    sum.tail<3>() += centre[body].cross(push);
  }
  return sum;
}

/// Of the bodies of a straight tower.
std::vector<Vector3> tower_centres(PileKind kind, Index bodies) {
  std::vector<Vector3> centres;
  for (Index k = 0; k < bodies; ++k) {
    centres.push_back(kind == PileKind::sphere_tower ? Vector3(0.0, 0.0, 0.01 * (k + 0.5))
                                                     : Vector3(0.1, 0.05, 0.06 * (k + 0.5)));
  }
  return centres;
}

TEST(PileProblem, IsWellFormedAndOneIsland) {
  for (const PileKind kind : kKinds) {
    SCOPED_TRACE(enum_name(kind));
    const ContactProblem problem = make_pile_problem(options_of(kind, 700));
    ASSERT_EQ(find_defect(problem), std::nullopt);
    EXPECT_GE(problem.contacts(), 700);
    EXPECT_EQ(partition_regions(problem, RegionMode::islands).regions(), 1);
    EXPECT_LE(problem.contacts(), 950);  // a layer more or less at the most
    EXPECT_EQ(problem.dofs() % 6, 0);
  }
}

/// Four layers of four by four sites, 8 spheres each, every unit square of the lattice one contact: 9 in each of 4 layers,
/// 2 × 4 × 3 between two, 3 times; 8 on the floor.
TEST(PileProblem, CountsAreThoseOfTheLattice) {
  PileOptions options = options_of(PileKind::spheres, 1);
  options.left_out = 0.0;
  options.layers = 4;
  options.contacts = 80;  // 3 × 3 sites have fewer
  const ContactProblem all = make_pile_problem(options);
  EXPECT_EQ(all.dofs(), 6 * 32);
  EXPECT_EQ(all.contacts(), 36 + 72 + 8);
  std::set<std::pair<Index, Index>> pairs;
  for (Index k = 0; k < all.contacts(); ++k) {
    EXPECT_LT(all.bodies(k, 0), all.bodies(k, 1));
    EXPECT_TRUE(all.bodies(k, 0) == -1 || pairs.emplace(all.bodies(k, 0), all.bodies(k, 1)).second);
  }
  options.left_out = 0.3;  // 32 of 108 between bodies
  EXPECT_EQ(make_pile_problem(options).contacts(), 116 - 32);
  options.left_out = 0.99;
  options.contacts = 39;  // 31 hold the 32 bodies together
  const ContactProblem tree = make_pile_problem(options);
  EXPECT_EQ(tree.contacts(), 31 + 8);
  EXPECT_EQ(partition_regions(tree, RegionMode::islands).regions(), 1);
}

/// Three courses of 2 × 2 bricks: 4, 9 (four of them quarters, four halves) and 4 bodies of the same mass together; 16 quarters
/// of faces between two courses, four contacts on each; 16 on the floor.
TEST(PileProblem, CoursesAreBonded) {
  PileOptions options = options_of(PileKind::bricks, 1);
  options.left_out = 0.0;
  options.layers = 3;
  const ContactProblem problem = make_pile_problem(options);
  EXPECT_EQ(problem.dofs(), 6 * 17);
  EXPECT_EQ(problem.contacts(), 16 + 2 * 64);
  double mass[3] = {};
  for (Index body = 0; body < 17; ++body)
    mass[body < 4 ? 0 : body < 13 ? 1 : 2] += problem.M.coeff(6 * body, 6 * body);
  EXPECT_NEAR(mass[1], mass[0], 1e-12 * mass[0]);
  EXPECT_NEAR(mass[2], mass[0], 1e-12 * mass[0]);
  EXPECT_NEAR(mass[0], 2500.0 * 0.2 * 0.1 * 0.06 * 4, 1e-12 * mass[0]);
}

/// Action and reaction: what a contact does to a pair leaves their momentum and their angular momentum.
TEST(PileProblem, PairsKeepTheirMomentum) {
  for (const PileKind kind : {PileKind::sphere_tower, PileKind::brick_tower}) {
    const ContactProblem problem =
        make_pile_problem(options_of(kind, 40, kind == PileKind::brick_tower ? 0.05 : 0.0));
    const std::vector<Vector3> centres = tower_centres(kind, problem.dofs() / 6);
    for (Index k = 0; k < problem.contacts(); ++k) {
      for (Index axis = 0; axis < 3; ++axis) {
        const Eigen::Matrix<double, 6, 1> sum = wrench(problem, 3 * k + axis, centres);
        if (problem.bodies(k, 0) >= 0) {
          EXPECT_LE(sum.norm(), 1e-14) << k;  // sums of six products below 1
          continue;
        }
        // on the floor: a push at the contact point
        const Vector3 d = problem.frame.block<1, 3>(k, 3 * axis).transpose();
        EXPECT_LE((sum.head<3>() - d).norm(), 1e-14);
        EXPECT_LE((sum.tail<3>() - Vector3(problem.position.row(k)).cross(d)).norm(), 1e-14);
      }
    }
  }
  // elsewhere: the momentum alone, with every contact pushing at once
  for (const PileKind kind : {PileKind::spheres, PileKind::bricks}) {
    const ContactProblem problem = make_pile_problem(options_of(kind, 300));
    for (Index k = 0; k < problem.contacts(); ++k) {
      if (problem.bodies(k, 0) < 0) continue;
      const std::vector<Vector3> anywhere(problem.dofs() / 6, Vector3::Zero());
      for (Index axis = 0; axis < 3; ++axis)
        EXPECT_LE(wrench(problem, 3 * k + axis, anywhere).head<3>().norm(), 1e-15);
    }
  }
}

TEST(PileProblem, IsTheSameForTheSameSeed) {
  for (const PileKind kind : {PileKind::spheres, PileKind::bricks}) {
    PileOptions options = options_of(kind, 300);
    const ContactProblem one = make_pile_problem(options), same = make_pile_problem(options);
    EXPECT_EQ(one.bodies, same.bodies);
    EXPECT_EQ((one.H - same.H).norm(), 0.0);
    EXPECT_EQ(one.f, same.f);
    options.seed = 2;
    const ContactProblem other = make_pile_problem(options);
    EXPECT_EQ(other.contacts(), one.contacts());
    EXPECT_NE(other.bodies, one.bodies);
  }
}

/// Impulse over every interface of a straight tower: the weight of what lies above times dt, whatever the number of contacts.
TEST(PileProblem, TowersCarryWhatLiesAbove) {
  for (const PileKind kind : {PileKind::sphere_tower, PileKind::brick_tower}) {
    SCOPED_TRACE(enum_name(kind));
    PileOptions options = options_of(kind, kind == PileKind::sphere_tower ? 6 : 24, 0.0);
    options.tilt_deg =
        kind == PileKind::brick_tower ? 5.0 : 0.0;  // spheres would roll; tan 5° < μ, and 6 bricks do not tip
    const ContactProblem problem = make_pile_problem(options);
    const Index bodies = problem.dofs() / 6;
    ASSERT_EQ(bodies, 6);
    const auto solver = make_solver("nncg", {});
    solver->prepare(problem);
    Vector r = Vector::Zero(3 * problem.contacts());
    StopRule stop;
    stop.residual = 1e-10;
    ASSERT_EQ(solver->solve(span_of(r), stop, nullptr).status, SolveStatus::converged);
    const double mass = problem.M.coeff(0, 0);
    const double tilt = options.tilt_deg * std::acos(-1.0) / 180.0;
    for (Index layer = 0; layer < bodies; ++layer) {
      Vector3 carried = Vector3::Zero();
      for (Index k = 0; k < problem.contacts(); ++k) {
        if (problem.bodies(k, 1) != layer) continue;
        for (Index axis = 0; axis < 3; ++axis)
          carried += r[3 * k + axis] * problem.frame.block<1, 3>(k, 3 * axis).transpose();
      }
      const double weight = 1e-3 * mass * 9.81 * (bodies - layer);
      const Vector3 expected = weight * Vector3(-std::sin(tilt), 0.0, std::cos(tilt));
      // a residual of 1e-10 g dt in the velocities of six bodies, times their mass and the condition of the tower, about 6²
      EXPECT_LE((carried - expected).norm(), 1e-8 * weight) << layer;
    }
  }
}

TEST(PileProblem, NncgSolvesSmallOnes) {
  for (const PileKind kind : {PileKind::spheres, PileKind::bricks}) {
    SCOPED_TRACE(enum_name(kind));
    const ContactProblem problem = make_pile_problem(options_of(kind, 120));
    const auto solver = make_solver("nncg", {});
    solver->prepare(problem);
    Vector r = Vector::Zero(3 * problem.contacts());
    StopRule stop;
    stop.residual = 1e-8;
    stop.max_iterations = 100000;
    EXPECT_EQ(solver->solve(span_of(r), stop, nullptr).status, SolveStatus::converged);
    const Residuals errors = Referee(problem).measure(span_of(r), {FrictionLaw::cone, PyramidFrame::fixed});
    EXPECT_LE(errors.residual, 1.01e-8);
  }
}

TEST(PileProblem, RefusesWrongOptions) {
  const auto refused = [](auto change) {
    PileOptions options;
    change(options);
    EXPECT_THROW(check_pile_options(options), UsageError);
  };
  refused([](PileOptions& o) { o.contacts = 0; });
  refused([](PileOptions& o) { o.layers = 1; });
  refused([](PileOptions& o) { o.of = PileKind::brick_tower, o.layers = 3; });
  refused([](PileOptions& o) { o.left_out = 1.0; });
  refused([](PileOptions& o) { o.unevenness = 0.3; });
  refused([](PileOptions& o) { o.mu = -0.1; });
  refused([](PileOptions& o) { o.tilt_deg = 90.0; });
}

}  // namespace
}  // namespace signorini::pile_problem_test
