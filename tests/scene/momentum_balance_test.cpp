// The balance of momentum: its definition by hand, and that steps of both kinds satisfy it.

#include "scene/momentum_balance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "collision/contact_finder.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"
#include "scene/explicit_stepper.h"
#include "scene/implicit_stepper.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

const Vector3 kGravity(0, 0, -9.81);

ElasticMaterial damped_rubber() {
  ElasticMaterial material;
  material.young_modulus = 2e5;
  material.poisson_ratio = 0.3;
  material.density = 1000.0;
  material.damping = 2.0;
  return material;
}

/// A soft ball and a rigid cube that fly at a floor.
void add_bodies(BodySystem& system) {
  Placement ball, cube;
  ball.translation = Vector3(0, 0, 0.105);
  ball.velocity = Vector3(0.5, 0, -1);
  cube.translation = Vector3(0.4, 0, 0.11);
  cube.velocity = Vector3(0, 0.3, -1);
  system.add_solid("ball", tet_ball(1, 0.1), damped_rubber(), ball);
  TriangleMesh surface;
  const TetMesh block = kuhn_block({1, 1, 1}, Vector3::Constant(0.1));
  surface.vertices = block.vertices;
  surface.triangles = boundary_triangles(block);
  system.add_rigid("cube", surface, 500.0, cube);
  system.add_kinematic("floor", ground(2.0), {});
}

/// Of every step at most `most` m/s; more than ten steps have contact.
void expect_balance(Stepper& stepper, int steps, double most) {
  TaskArena arena(2);
  int in_contact = 0;
  for (int s = 0; s < steps; ++s) {
    const StepReport report = stepper.advance(arena, nullptr);
    in_contact += report.contacts > 0;
    EXPECT_LT(report.momentum_error, most) << s;
  }
  EXPECT_GT(in_contact, 10);
}

TEST(MomentumBalance, IsTheUnexplainedChangeOfTheMeanVelocity) {
  BodySystem system;
  add_bodies(system);
  system.finish();
  const MomentumBalance balance(system);
  const double dt = 1e-2;
  std::vector<Vector3> before(system.blocks(), Vector3(1, 2, 3)), after = before, load(system.blocks());
  std::fill(load.begin(), load.end(), Vector3::Zero());
  std::vector<Matrix3> mass(system.blocks());
  system.mass_blocks(system.start(), mass);
  double total = 0.0, damped = 0.0;
  for (Index b = 0; b < system.blocks(); ++b) {
    if (b == system.nodes() + 1) continue;  // angular
    total += mass[b](0, 0);
    damped += system.damping()[b] * mass[b](0, 0);
  }
  // nothing but damping acts: dt α v of the ball is missing
  const double missing = dt * damped / total * Vector3(1, 2, 3).norm();
  ASSERT_GT(missing, 0.0);
  const auto error = [&](MomentumBalance::Damping damping) {
    return balance.error(before, after, load, dt, Vector3::Zero(), damping);
  };
  EXPECT_NEAR(error(MomentumBalance::Damping::by_end), missing, 1e-14);
  EXPECT_NEAR(error(MomentumBalance::Damping::by_start), missing, 1e-14);
  // an impulse of 3 N s that moved nothing, on top of nothing else
  before.assign(before.size(), Vector3::Zero());
  after = before;
  load[0] = Vector3(0, 0, 3);
  load[system.nodes() + 1] = Vector3(7, 7, 7);  // a torque is no part of it
  EXPECT_NEAR(error(MomentumBalance::Damping::by_end), 3.0 / total, 1e-14);
}

TEST(MomentumBalance, HoldsInImplicitStepsWithContactsDampingAndRigidBodies) {
  BodySystem system;
  add_bodies(system);
  system.finish();
  ImplicitSettings settings;
  settings.dt = 2e-3;
  settings.free_tolerance = 1e-12;
  FinderSettings finder;
  finder.tolerance = 1e-3;
  ImplicitStepper stepper(system, ContactFinder(system.surface(), finder), make_solver("pgs"), settings);
  // the linear solves leave 1e-12 of loads of at most 10 m/s times the mass
  expect_balance(stepper, 100, 1e-10);
}

TEST(MomentumBalance, HoldsInExplicitStepsWithContactsAndDamping) {
  BodySystem system;
  add_bodies(system);
  system.finish();
  ExplicitSettings settings;
  settings.dt = 1e-4;
  DetectionSettings detection;
  ExplicitStepper stepper(system, detection, make_solver("pgs"), settings);
  // rounding of elastic forces of up to 1e3 N in 42 nodes, over 4 kg
  expect_balance(stepper, 1000, 1e-12);
}

TEST(MomentumBalance, HasNoValueWherePinsOrAxlesPull) {
  const auto is_known = [](const BodySystem& system) {
    const std::vector<Vector3> still(system.blocks(), Vector3::Zero());
    return !std::isnan(
        MomentumBalance(system).error(still, still, still, 1e-3, kGravity, MomentumBalance::Damping::by_end));
  };
  const auto system = [](bool pinned, bool mounted) {
    BodySystem made;
    const TetMesh cube = kuhn_block({1, 1, 1}, Vector3::Constant(0.1));
    const Index block = made.add_solid("block", cube, damped_rubber(), {});
    TriangleMesh surface;
    surface.vertices = cube.vertices;
    surface.triangles = boundary_triangles(cube);
    Placement aside;
    aside.translation = Vector3(1, 0, 0);
    const Index rigid = made.add_rigid("cube", surface, 500.0, aside);
    if (pinned) made.pin(block, 0, {});
    if (mounted) made.mount(rigid, Axle{.axis = Vector3::UnitZ()});
    made.finish();
    return made;
  };
  EXPECT_TRUE(is_known(system(false, false)));
  EXPECT_FALSE(is_known(system(true, false)));
  EXPECT_FALSE(is_known(system(false, true)));
}

}  // namespace
}  // namespace signorini
