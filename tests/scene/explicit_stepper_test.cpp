#include "scene/explicit_stepper.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

constexpr double kEps = 2.22e-16;

/// Bodies over a floor at z = 0 (or none), with the settings at hand.
struct World {
  SolidSystem solids;
  TriangleMesh obstacle = ground(2.0);
  ExplicitSettings settings;
  TaskArena arena{1};

  World() {
    settings.dt = 5e-4;
    settings.law = {0.4, 0.0, 0.0, 0.2, 0.1};
  }
  ExplicitStepper stepper() {
    std::vector<Index> body_of;
    for (Index i = 0; i < solids.nodes(); ++i) body_of.push_back(solids.body_of(i));
    settings.law.rest_speed = 2.0 * settings.dt * settings.gravity.norm();
    const DetectionSettings detection{1e-3, 5e-3, settings.law.rest_speed, 0.05};
    return {solids, ContactDetector(make_collision_model(solids.surface(), body_of, obstacle), detection),
            make_solver("pgs"), settings, arena};
  }
  Vector3 momentum(const NodeState& state) const {
    Vector3 sum = Vector3::Zero();
    for (std::size_t i = 0; i < state.velocity.size(); ++i) sum += solids.masses()[i] * state.velocity[i];
    return sum;
  }
  double mass() const {
    double sum = 0.0;
    for (const double m : solids.masses()) sum += m;
    return sum;
  }
};

TetMesh centred_block(const Vector3& size, Index cells) {
  TetMesh mesh = kuhn_block({cells, cells, cells}, size);
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}

Vector3 total_world_impulse(const ExplicitStepper& stepper) {
  Vector3 sum = Vector3::Zero();
  const ContactProblem& p = stepper.problem();
  for (Index k = 0; k < p.contacts(); ++k) {
    for (Index d = 0; d < 3; ++d)
      sum +=
          stepper.impulses()[static_cast<std::size_t>(3 * k + d)] * p.frame.block<1, 3>(k, 3 * d).transpose();
  }
  return sum;
}

TEST(ExplicitStepper, MomentumChangesByTheImpulsesAndGravityToRounding) {
  World world;
  world.solids.add(tet_ball(2, 0.1), {2e5, 0.3, 1000.0, 0.0},
                   {Matrix3::Identity(), Vector3(0, 0, 0.0995), Vector3(0.5, 0, -1)});
  world.settings.dt = 2e-4;
  ExplicitStepper stepper = world.stepper();
  int contact_steps = 0;
  for (int s = 0; s < 100; ++s) {
    const Vector3 before = world.momentum(stepper.state());
    contact_steps += stepper.advance(world.arena).contacts > 0;
    const Vector3 expected =
        before + world.mass() * world.settings.dt * world.settings.gravity + total_world_impulse(stepper);
    // 217 nodes, each with forces of about 10 N: 217 ε of the momentum, times 10 for the inner forces.
    EXPECT_LT((world.momentum(stepper.state()) - expected).norm(), 2170 * kEps * world.mass() * 1.2);
  }
  EXPECT_GT(contact_steps, 50);
}

TEST(ExplicitStepper, ContactsBetweenBodiesConserveMomentum) {
  World world;
  world.obstacle = {};
  world.settings.gravity = Vector3::Zero();
  world.settings.dt = 2e-4;
  const ElasticMaterial material{2e5, 0.3, 1000.0, 0.0};
  world.solids.add(tet_ball(2, 0.1), material,
                   {Matrix3::Identity(), Vector3(-0.101, 0, 0), Vector3(1, 0, 0)});
  world.solids.add(tet_ball(1, 0.1), material,
                   {Matrix3::Identity(), Vector3(0.101, 0.05, 0.02), Vector3(-1, 0, 0)});
  ExplicitStepper stepper = world.stepper();
  const auto angular = [&] {
    Vector3 sum = Vector3::Zero();
    for (std::size_t i = 0; i < stepper.state().position.size(); ++i) {
      sum += stepper.state().position[i].cross(world.solids.masses()[i] * stepper.state().velocity[i]);
    }
    return sum;
  };
  const Vector3 linear_start = world.momentum(stepper.state());
  const Vector3 angular_start = angular();
  int contact_steps = 0;
  double twist = 0.0;  // Σ |gap| |r|: an impulse across an open gap has that torque
  for (int s = 0; s < 300; ++s) {
    contact_steps += stepper.advance(world.arena).contacts > 0;
    for (Index k = 0; k < stepper.problem().contacts(); ++k) {
      twist += std::abs(stepper.problem().gap[k]) *
               Eigen::Map<const Vector3>(&stepper.impulses()[static_cast<std::size_t>(3 * k)]).norm();
    }
  }
  EXPECT_GT(contact_steps, 50);
  EXPECT_LT((world.momentum(stepper.state()) - linear_start).norm(), 1e4 * kEps * world.mass());
  EXPECT_LE((angular() - angular_start).norm(), twist + 1e4 * kEps * world.mass());
}

class Restitution : public testing::TestWithParam<double> {};

TEST_P(Restitution, TheImpactReflectsTheStatedShareOfTheNormalSpeed) {
  World world;
  world.settings.gravity = Vector3::Zero();
  world.settings.law.restitution = GetParam();
  world.settings.law.friction = 0.0;
  world.solids.add(centred_block(Vector3(0.2, 0.2, 0.2), 2), {2e5, 0.3, 1000.0, 0.0},
                   {Matrix3::Identity(), Vector3(0, 0, 0.1002), Vector3(0, 0, -1)});
  ExplicitStepper stepper = world.stepper();
  ASSERT_GT(stepper.advance(world.arena).contacts, 0);
  // The block flies undeformed, so every touching node arrives with −1 m/s and leaves with κ (κ = 0: it
  // closes the gap).
  const double leaving = GetParam() > 0.0 ? GetParam() : -2e-4 / world.settings.dt;
  for (const PointTriangleContact& c : stepper.contacts()) {
    EXPECT_NEAR(stepper.state().velocity[static_cast<std::size_t>(c.node)][2], leaving,
                1e-7);  // residual 1e-8 of q ≈ 2
  }
}
INSTANTIATE_TEST_SUITE_P(Kappa, Restitution, testing::Values(0.0, 0.3, 0.5, 1.0));

/// Block on a slope (gravity is tilted) with damping 20/s, which ends the elastic shiver of the start (e^−10
/// after 1 s); returns its mean speed down the slope during the second half of 1 s = 1000 steps.
constexpr double kSlopeDamping = 20.0;
double slope_speed(double friction, double tangent, Index cells) {
  World world;
  world.settings.dt = 1e-3;
  world.settings.law.friction = friction;
  const double angle = std::atan(tangent);
  world.settings.gravity = 9.81 * Vector3(std::sin(angle), 0, -std::cos(angle));
  world.solids.add(centred_block(Vector3(0.2, 0.2, 0.1), cells), {2e5, 0.3, 1000.0, kSlopeDamping},
                   {Matrix3::Identity(), Vector3(0, 0, 0.05), Vector3::Zero()});
  ExplicitStepper stepper = world.stepper();
  double sum = 0.0;
  for (int s = 0; s < 1000; ++s) {
    stepper.advance(world.arena);
    if (s >= 500) sum += world.momentum(stepper.state())[0] / world.mass();
  }
  return sum / 500;
}

TEST(ExplicitStepper, ABlockSticksBelowTheFrictionAngleAndSlidesAboveIt) {
  const double friction = 0.4;
  // Mean speed of a mass point under the same damping: v⁺ = v (1 − α dt) + dt g s.
  const auto expected = [](double slope_share) {
    double v = 0.0;
    double sum = 0.0;
    for (int step = 0; step < 1000; ++step) {
      v = v * (1.0 - kSlopeDamping * 1e-3) + 1e-3 * 9.81 * slope_share;
      if (step >= 500) sum += v;
    }
    return sum / 500;
  };
  const auto cosine = [](double tangent) { return 1.0 / std::sqrt(1.0 + tangent * tangent); };
  const double free = expected(friction);
  for (const Index cells : {1, 2})
    EXPECT_LT(std::abs(slope_speed(friction, 0.95 * friction, cells)), 1e-3 * free);
  // One cell has four feet that slide together. Finer blocks flutter at low speed: every contact stays on the
  // cone, but the directions differ and the mean friction is a few per cent below μ N.
  for (const double tangent : {1.05 * friction, 1.5 * friction}) {
    EXPECT_NEAR(slope_speed(friction, tangent, 1), expected((tangent - friction) * cosine(tangent)),
                1e-3 * free);
  }
  EXPECT_GT(slope_speed(friction, 1.05 * friction, 2), 0.5 * expected(0.05 * friction * cosine(friction)));
  // Without friction the whole slope acts, to rounding: contacts have no tangential part.
  EXPECT_NEAR(slope_speed(0.0, 0.6, 2), expected(0.6 * cosine(0.6)), 1e-9);
}

TEST(ExplicitStepper, ABallAtRestGainsNoEnergyAndStaysWithinTheTolerance) {
  World world;
  world.settings.dt = 2e-4;
  world.solids.add(tet_ball(1, 0.1), {2e5, 0.3, 1000.0, 1.0},
                   {Matrix3::Identity(), Vector3(0, 0, 0.1), Vector3::Zero()});
  ExplicitStepper stepper = world.stepper();
  double last = std::numeric_limits<double>::infinity();
  double first = 0.0;
  double deepest = 0.0;
  for (int s = 0; s < 2500; ++s) {
    const StepReport report = stepper.advance(world.arena);
    deepest = std::max(deepest, report.penetration);
    if ((s + 1) % 250 != 0) continue;
    // Symplectic Euler oscillates around the true energy with amplitude ∝ dt, so 50 ms marks are compared.
    const double total = report.kinetic_energy + report.elastic_energy + report.potential_energy;
    EXPECT_LE(total, last);
    if (first == 0.0) first = total;
    last = total;
  }
  EXPECT_LT(last, first);
  EXPECT_LT(deepest, 1e-3);  // the detection tolerance
  const double scale = world.mass() * 9.81 * 0.1;
  EXPECT_GT(last, 0.9 * scale) << "the ball still lies on the floor";
}

TEST(ExplicitStepper, FirstContactWithAPlaneLeavesNoPenetration) {
  // A fast block: 4 m/s is 2 mm per step, twice the tolerance.
  World world;
  world.solids.add(centred_block(Vector3(0.2, 0.2, 0.2), 2), {2e5, 0.3, 1000.0, 0.0},
                   {Matrix3::Identity(), Vector3(0, 0, 0.1151), Vector3(0, 0, -4)});
  ExplicitStepper stepper = world.stepper();
  for (int s = 0; s < 60; ++s) {
    stepper.advance(world.arena);
    for (const Vector3& x : stepper.state().position) EXPECT_GT(x[2], -1e-9);  // residual 1e-8 × 4 m/s × dt
  }
}

}  // namespace
}  // namespace signorini
