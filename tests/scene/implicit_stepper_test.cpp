#include "scene/implicit_stepper.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/check.h"
#include "scene/implicit_world.h"

namespace signorini::implicit_stepper_test {
namespace {

using testing_tools::centred_block;
using testing_tools::centred_box;
using testing_tools::elastic;
using testing_tools::ImplicitWorld;

constexpr double kEps = 2.22e-16;
double total(const StepReport& r) { return r.kinetic_energy + r.elastic_energy + r.potential_energy; }

// --- falling, resting, sliding --------------------------------------------------------------------------

class ContactLoops : public testing::TestWithParam<ContactLoop> {};
INSTANTIATE_TEST_SUITE_P(Loops, ContactLoops, testing::Values(ContactLoop::refine, ContactLoop::relinearise),
                         [](const auto& loop) { return std::string(enum_name(loop.param)); });

TEST_P(ContactLoops, ABlockFallsComesToRestAndGainsNoEnergy) {
  ImplicitWorld world;
  world.settings.loop = GetParam();
  world.bodies.add_solid("block", centred_block(Vector3(0.2, 0.2, 0.2), 2), elastic(5e5, 5.0),
                         {.translation = Vector3(0, 0, 0.11), .velocity = Vector3(0.2, 0, 0)});
  world.floor();
  world.start();
  double last = 1e9;
  StepReport report;
  for (int s = 0; s < 1500; ++s) {
    report = world.advance();
    EXPECT_LE(report.residual, 1e-4);
    EXPECT_EQ(report.halvings, 0);
    EXPECT_FALSE(report.restarted);
    // A recovery from d < δ to δ may lift by 0.2 mm in all: m g 0.2 mm.
    EXPECT_LE(total(report), last + world.mass() * 9.81 * 2e-4) << s;
    last = total(report);
  }
  EXPECT_EQ(report.contacts, 13) << "9 vertices and the edges around them";
  EXPECT_NEAR(report.smallest_gap, 0.5e-3, 1e-9);
  EXPECT_NEAR(report.pressed_gap, 0.5e-3, 1e-9);
  EXPECT_LT(report.kinetic_energy, 1e-8 * world.mass());
}

TEST_P(ContactLoops, StepsWithoutContactHaveNoSmallestGap) {
  ImplicitWorld world;
  world.settings.loop = GetParam();
  world.bodies.add_solid("ball", tet_ball(1, 0.1), elastic(2e5),
                         {.translation = Vector3(0, 0, 0.11), .velocity = Vector3(0, 0, -1)});
  world.floor();
  world.start();
  int apart = 0, touching = 0;
  for (int s = 0; s < 20; ++s) {
    const StepReport report = world.advance();
    EXPECT_EQ(std::isnan(report.smallest_gap), report.contacts == 0) << s;
    EXPECT_EQ(std::isnan(report.pressed_gap), report.pressed == 0) << s;
    EXPECT_EQ(report.deepest_point, 0.0) << s;
    ++(report.contacts == 0 ? apart : touching);
  }
  EXPECT_GT(apart, 5);
  EXPECT_GT(touching, 5);
}

/// Two boxes at rest, closer than the safety distance: they part to it, and gain no energy at any time step.
TEST_P(ContactLoops, RecoveryLeavesNoEnergyAtAnyTimeStep) {
  constexpr double kPush = 0.1 * 0.5e-3 / 4e-3;  // m/s: a tenth of δ in 4 ms
  for (const double dt : {4e-3, 1e-3, 1e-4, 1e-5}) {
    ImplicitWorld world;
    world.settings.loop = GetParam();
    world.settings.dt = dt;
    world.settings.gravity.setZero();
    for (const double side : {-1.0, 1.0}) {
      world.bodies.add_rigid(side < 0 ? "left" : "right", centred_box(Vector3(0.1, 0.1, 0.1)), 1000.0,
                             {.translation = Vector3(side * (0.05 + 0.5e-4), 0, 0)});
    }
    world.start();
    StepReport report;
    double last_gap = 1e-4;
    for (int s = 0; s < 60; ++s) {
      report = world.advance();
      // Solved to 1e-7: speeds of some 1e-7 of the push may be left, of two boxes of 1 kg.
      EXPECT_LT(report.kinetic_energy, std::pow(1e-6 * kPush, 2)) << "dt = " << dt << ", step " << s;
      EXPECT_GE(report.smallest_gap, last_gap - 1e-15);
      last_gap = report.smallest_gap;
    }
    EXPECT_NEAR(last_gap, std::min(5e-4, 1e-4 + 60 * kPush * dt), 1e-9) << "dt = " << dt;
  }
}

/// T19: a ball at rest for one second.
TEST_P(ContactLoops, ARestingBallOnlyLosesEnergyWithRestitutionToo) {
  for (const double restitution : {0.0, 0.8}) {
    ImplicitWorld world;
    world.settings.loop = GetParam();
    world.settings.restitution = restitution;
    world.bodies.add_solid("ball", tet_ball(1, 0.1), elastic(2e5, 1.0),
                           {.translation = Vector3(0, 0, 0.1005)});
    world.floor();
    world.start();
    for (int s = 0; s < 300; ++s) world.advance();  // it finds its rest
    double last = 1e9;
    for (int s = 0; s < 1000; ++s) {
      const StepReport report = world.advance();
      // Backward Euler dissipates; what the residual of 1e-7 of U = 10 mm/s may add over the moving mass is
      // below 1e-9 J.
      EXPECT_LE(total(report), last + 1e-9) << restitution << " " << s;
      last = total(report);
    }
    EXPECT_GT(world.bodies.potential_energy(world.stepper->state(), world.settings.gravity),
              0.9 * world.mass() * 9.81 * 0.1);
  }
}

/// Block on a slope of the given tangent: its mean acceleration along it from 0.3 s to 0.5 s, and that of a
/// point mass, m/s².
struct Slide {
  double acceleration = 0.0, expected = 0.0;
};
Slide slide(double friction, double tangent, const std::string& law, TangentFrame tangents, bool rigid) {
  ImplicitWorld world;
  const double angle = std::atan(tangent);
  world.settings.gravity = 9.81 * Vector3(std::sin(angle), 0.0, -std::cos(angle));
  world.settings.friction = friction;
  world.settings.tangents = tangents;
  world.settings.stop.residual = 1e-9;
  world.options = {{"law", law}};
  const Placement placement{.translation = Vector3(0, 0, 0.0255)};
  if (rigid) {
    world.bodies.add_rigid("block", centred_box(Vector3(0.2, 0.2, 0.05)), 1000.0, placement);
  } else {
    // Damped by its stiffness: the shiver of the start ends, the motion as a whole is not braked. ν = 0: the
    // base must not push its feet apart, which would use up a part of the friction.
    ElasticMaterial material = elastic(1e6);
    material.stiffness_damping = 5e-3;
    material.poisson_ratio = 0.0;
    world.bodies.add_solid("block", centred_block(Vector3(0.2, 0.2, 0.05), 1), material, placement);
  }
  world.floor();
  world.start();
  double before = 0.0;
  for (int s = 0; s < 500; ++s) {
    world.advance();
    if (s == 299) before = world.bodies.linear_momentum(world.stepper->state())[0];
  }
  const double after = world.bodies.linear_momentum(world.stepper->state())[0];
  return {(after - before) / world.mass() / 0.2, 9.81 * std::cos(angle) * std::max(0.0, tangent - friction)};
}

TEST(ImplicitStepper, ABlockSticksAndSlidesAtTheFrictionAngleWithinAThousandth) {
  const double friction = 0.5;
  for (const bool rigid : {false, true}) {
    for (const auto& [law, frame] : {std::pair<std::string, TangentFrame>{"cone", TangentFrame::fixed},
                                     {"pyramid", TangentFrame::aligned}}) {
      const Slide below = slide(friction, friction * (1.0 - 1e-3), law, frame, rigid);
      const Slide above = slide(friction, friction * (1.0 + 1e-3), law, frame, rigid);
      const Slide far = slide(friction, 2.0 * friction, law, frame, rigid);
      // One thousandth above the angle the acceleration is 4.4e-3 m/s²; a tenth of it is 1e-4 of μ g.
      EXPECT_LT(std::abs(below.acceleration), 0.1 * above.expected) << law << rigid;
      EXPECT_NEAR(above.acceleration / above.expected, 1.0, 0.1) << law << rigid;
      EXPECT_NEAR(far.acceleration / far.expected, 1.0, 1e-4) << law << rigid;
    }
  }
}

class ImplicitRebound : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Kappa, ImplicitRebound, testing::Values(0.0, 0.3, 0.5, 1.0));

TEST_P(ImplicitRebound, ARigidBoxLeavesWithTheStatedShareOfItsSpeed) {
  for (const ConstraintLevel level : {ConstraintLevel::position, ConstraintLevel::velocity}) {
    ImplicitWorld world;
    world.settings.gravity = Vector3::Zero();
    world.settings.restitution = GetParam();
    world.settings.level = level;
    world.bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                           {.translation = Vector3(0, 0, 0.105), .velocity = Vector3(0, 0, -1)});
    world.floor();
    world.start();
    for (int s = 0; s < 20; ++s) world.advance();
    // Residual 1e-7 of U = (1 + κ) 1 m/s; κ = 0 at position level ends at rest at distance δ.
    EXPECT_NEAR(world.stepper->state().velocity[0][2], GetParam(), 1e-6);
    EXPECT_LT(world.stepper->state().velocity[1].norm(), 1e-5);
  }
}

// --- balances --------------------------------------------------------------------------------------------

TEST(ImplicitStepper, MomentumChangesByGravityAndTheFloorsImpulses) {
  ImplicitWorld world;
  world.settings.free_tolerance = 1e-14;
  world.settings.recovery_speed = 1e-9;  // no push, whose impulses move positions alone (C24)
  world.bodies.add_solid("block", centred_block(Vector3(0.2, 0.2, 0.2), 2), elastic(5e5),
                         {.translation = Vector3(0, 0, 0.103), .velocity = Vector3(0.3, 0.1, -1)});
  world.bodies.add_rigid("box", centred_box(Vector3(0.1, 0.1, 0.1)), 500.0,
                         {.translation = Vector3(0.02, 0, 0.256), .velocity = Vector3(0, 0, -2)});
  world.floor();
  world.start();
  int contact_steps = 0;
  for (int s = 0; s < 60; ++s) {
    const Vector3 before = world.bodies.linear_momentum(world.stepper->state());
    const StepReport report = world.advance();
    Vector3 expected = before + world.mass() * world.settings.dt * world.settings.gravity;
    if (report.contacts > 0) {
      ++contact_steps;
      const std::size_t last = world.problems.size() - 1;
      const ContactProblem& p = world.problems[last];
      for (Index k = 0; k < p.contacts(); ++k) {
        // Impulses between the bodies cancel; those of the floor (body −1) remain.
        const double sign = (p.bodies(k, 0) >= 0 ? 1.0 : 0.0) - (p.bodies(k, 1) >= 0 ? 1.0 : 0.0);
        for (Index d = 0; d < 3; ++d)
          expected += sign * world.impulses[last][3 * k + d] * p.frame.block<1, 3>(k, 3 * d).transpose();
      }
    }
    // 27 nodes and the tolerance 1e-14 of the linear solves: 1e-12 of the momentum of 9 kg at 2 m/s.
    EXPECT_LT((world.bodies.linear_momentum(world.stepper->state()) - expected).norm(), 1e-12 * 20.0) << s;
  }
  EXPECT_GT(contact_steps, 20);
}

TEST(ImplicitStepper, ContactsBetweenBodiesConserveMomentum) {
  ImplicitWorld world;
  world.settings.gravity = Vector3::Zero();
  world.settings.free_tolerance = 1e-14;
  world.bodies.add_solid("left", tet_ball(2, 0.1), elastic(2e5),
                         {.translation = Vector3(-0.102, 0, 0), .velocity = Vector3(1, 0, 0)});
  world.bodies.add_solid("right", tet_ball(1, 0.1), elastic(2e5),
                         {.translation = Vector3(0.101, 0.05, 0.02), .velocity = Vector3(-1, 0, 0)});
  world.start();
  const Vector3 before = world.bodies.linear_momentum(world.stepper->state());
  int contact_steps = 0;
  for (int s = 0; s < 60; ++s) contact_steps += world.advance().contacts > 0;
  EXPECT_GT(contact_steps, 20);
  EXPECT_LT((world.bodies.linear_momentum(world.stepper->state()) - before).norm(),
            60 * 1e-13 * world.mass());
}

// --- collisions and the refinement of the constraint manifold ----------------------------------------------

/// C23: nothing is near at the start of the step, and everything is passed within it.
TEST_P(ContactLoops, ABulletDoesNotTunnel) {
  ImplicitWorld world;
  world.settings.loop = GetParam();
  world.settings.gravity = Vector3::Zero();
  world.bodies.add_solid("bullet", tet_ball(1, 0.02), elastic(1e7),
                         {.translation = Vector3(0.013, 0.007, 0.35), .velocity = Vector3(0, 0, -600)});
  world.floor();
  world.start();
  const StepReport report = world.advance();  // 0.6 m per step, 0.33 m above the floor
  EXPECT_GT(report.contacts, 0);
  EXPECT_GE(report.detection_rounds, 2);
  for (const Vector3& x : world.stepper->state().node) EXPECT_GT(x[2], 0.0);
}

TEST(ImplicitStepper, ARigidBulletStopsAtAThinPlate) {
  ImplicitWorld world;
  world.settings.gravity = Vector3::Zero();
  world.bodies.add_rigid("bullet", centred_box(Vector3(0.02, 0.02, 0.02)), 1000.0,
                         {.translation = Vector3(0.013, 0.007, 0.35),
                          .velocity = Vector3(0, 0, -600),
                          .angular_velocity = Vector3(30, 20, 10)});
  world.bodies.add_rigid("plate", centred_box(Vector3(0.3, 0.3, 0.002)), 1000.0, {});
  world.start();
  const Vector3 before = world.bodies.linear_momentum(world.stepper->state());
  const StepReport report = world.advance();
  EXPECT_GT(report.contacts, 0);
  const SystemState& state = world.stepper->state();
  EXPECT_GT(state.rigid[0].centre[2], state.rigid[1].centre[2]);
  EXPECT_LT((world.bodies.linear_momentum(state) - before).norm(), 1e-9 * before.norm());
}

/// T21, C24: sheets that start at 0.3 δ part slowly instead of exploding.
TEST_P(ContactLoops, StackedSheetsBelowTheSafetyDistanceDoNotExplode) {
  ImplicitWorld world;
  world.settings.loop = GetParam();
  world.settings.stop.residual = 1e-5;
  const double distance = 0.5e-3;
  ClothMaterial material;
  material.damping = 1.0;
  for (int layer = 0; layer < 3; ++layer) {
    world.bodies.add_springs(
        "sheet" + std::to_string(layer), grid_cloth(5, 5, 0.3, 0.3, material),
        {.translation = Vector3(0.003 * layer, 0.002 * layer, 0.3 * distance * (layer + 1))});
  }
  world.floor();
  world.start();
  const double mass = world.mass();
  double fastest = 0.0;
  StepReport report;
  for (int s = 0; s < 32; ++s) {
    report = world.advance();
    fastest = std::max(fastest, std::sqrt(2.0 * report.kinetic_energy / mass));
    EXPECT_EQ(report.halvings, 0) << s;
  }
  // v_rec = 0.1 δ/4 ms = 0.0125 m/s between neighbours, so the top of three layers at most 3 v_rec.
  EXPECT_LT(fastest, 3 * 0.0125);
  EXPECT_GE(report.smallest_gap, 0.95 * distance) << "0.7 δ are won in 28 steps";
}

/// O13: at a large step position-level constraints close the gap, velocity-level ones stop at once.
TEST(ImplicitStepper, PositionLevelClosesTheGapAndVelocityLevelLeavesIt) {
  double gap[2];
  for (const ConstraintLevel level : {ConstraintLevel::position, ConstraintLevel::velocity}) {
    ImplicitWorld world;
    world.settings.dt = 1e-2;
    world.settings.level = level;
    world.settings.gravity = Vector3::Zero();
    world.bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                           {.translation = Vector3(0, 0, 0.105), .velocity = Vector3(0, 0, -1)});
    world.floor();
    world.start();
    world.advance();
    gap[static_cast<int>(level)] = world.stepper->state().rigid[0].centre[2] - 0.1;
  }
  EXPECT_NEAR(gap[0], 0.5e-3, 1e-8);
  EXPECT_NEAR(gap[1], 5e-3, 1e-8);
}

/// T20, C25: a pile at rest keeps its frames although the tangential free velocity is noise.
TEST(ImplicitStepper, AlignedTangentsOfAPileAtRestDoNotTurn) {
  ImplicitWorld world;
  world.settings.tangents = TangentFrame::aligned;
  world.options = {{"law", "pyramid"}};
  for (int i = 0; i < 3; ++i) {
    world.bodies.add_solid("block" + std::to_string(i), centred_block(Vector3(0.2, 0.2, 0.1), 1),
                           elastic(1e6, 50.0), {.translation = Vector3(0.01 * i, 0, 0.0505 + 0.1005 * i)});
  }
  world.floor();
  world.start();
  for (int s = 0; s < 600; ++s) world.advance();
  std::map<PairKey, Vector3> before;
  int compared = 0;
  double worst = 1.0;
  for (int s = 0; s < 50; ++s) {
    ASSERT_EQ(world.advance().solves, 1);
    for (std::size_t k = 0; k < world.contacts[0].size(); ++k) {
      const Vector3 t = world.problems[0].frame.block<1, 3>(k, 3).transpose();
      const auto known = before.find(world.contacts[0][k].key);
      if (known != before.end()) {
        worst = std::min(worst, t.dot(known->second));
        ++compared;
      }
      before[world.contacts[0][k].key] = t;
    }
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(worst, 1.0 - 1e-6) << "no frame turned";
}

// --- sliding over a triangulated plane
// -----------------------------------------------------------------------

/// T24: a corner slides over many small faces; its impulse goes with it, so no solve starts from nothing.
TEST_P(ContactLoops, AVertexThatSlidesOverFacesKeepsItsImpulse) {
  ImplicitWorld world;
  world.settings.loop = GetParam();
  world.settings.friction = 0.2;
  // A fine, flat floor: 40 × 8 cells of 25 mm.
  TriangleMesh floor;
  for (int j = 0; j <= 8; ++j) {
    for (int i = 0; i <= 40; ++i) floor.vertices.push_back(Vector3(0.025 * i, 0.025 * j - 0.1, 0.0));
  }
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 40; ++i) {
      const Index v = 41 * j + i;
      floor.triangles.push_back({v, v + 1, v + 42});
      floor.triangles.push_back({v, v + 42, v + 41});
    }
  }
  world.bodies.add_rigid("box", centred_box(Vector3(0.1, 0.1, 0.02)), 1000.0,
                         {.translation = Vector3(0.0713, 0.0017, 0.0105), .velocity = Vector3(1.5, 0, 0)});
  world.bodies.add_kinematic("floor", floor, Motion{});
  world.start();
  int carried = 0, changed = 0;
  std::set<PairKey> before;
  std::map<PairKey, std::pair<Index, Index>> features;  // what every pair was called when it was first met
  const double weight = world.mass() * 9.81 * world.settings.dt;
  for (int s = 0; s < 200; ++s) {
    world.advance();
    ASSERT_FALSE(world.problems.empty());
    std::set<PairKey> now;
    for (std::size_t k = 0; k < world.contacts[0].size(); ++k) {
      const PairKey& key = world.contacts[0][k].key;
      now.insert(key);
      // A corner keeps its features while it slides over one face, whatever comes and goes beside it.
      const auto row = world.problems[0].features.row(k);
      const auto [known, fresh] = features.try_emplace(key, row[0], row[1]);
      EXPECT_EQ(known->second, std::pair(row[0], row[1])) << "step " << s;
      EXPECT_EQ(row[0] < 0, key.kind == PairKind::edge_edge);
    }
    if (s >= 5) {
      double given = 0.0;
      for (Index k = 0; k < world.problems[0].contacts(); ++k) given += world.problems[0].warm_start[3 * k];
      changed += now != before;
      carried += given > 0.5 * weight;
    }
    before = now;
  }
  EXPECT_GE(changed, 15) << "faces change under the corners";
  std::set<std::pair<Index, Index>> names;
  for (const auto& [key, name] : features) names.insert(name);
  EXPECT_EQ(names.size(), features.size()) << "different pairs have different features";
  EXPECT_EQ(carried, 195) << "more than half of the weight is carried into every step";
  // v = v₀ − μ g t, to the residual and the solver's tolerance.
  EXPECT_NEAR(world.stepper->state().velocity[0][0], 1.5 - 0.2 * 9.81 * 0.2, 2e-3);
}

// --- what the response reaches --------------------------------------------------------------------------

/// O26 (Otaduy 2009, Fig. 2): springs a–b and b–c and a torsional spring at b hit a wall with c.
double energy_after_impact(ContactResponse response, double& distance) {
  ImplicitWorld world;
  world.settings.dt = 1e-2;
  world.settings.gravity = Vector3::Zero();
  world.settings.friction = 0.0;
  world.settings.response = response;
  world.settings.stop.residual = 1e-12;
  SpringNetwork toy;
  toy.vertices = {{0.0, 0, 0.35}, {0.2, 0, 0.25}, {0.3, 0, 0.05}};
  toy.mass = {0.1, 0.1, 0.1};
  for (Index i = 0; i < 2; ++i) {
    const std::size_t k = i;
    toy.springs.push_back({i, i + 1, 200.0, 0.0, (toy.vertices[k + 1] - toy.vertices[k]).norm()});
    toy.edges.push_back({i, i + 1});
  }
  const Vector3 e = toy.vertices[0] - toy.vertices[1], f = toy.vertices[2] - toy.vertices[1];
  toy.hinges.push_back({0, 1, 2, 2.0, std::atan2(e.cross(f).norm(), e.dot(f))});
  world.bodies.add_springs("toy", toy, {.velocity = Vector3(0, 0, -15)});
  world.floor();
  world.start();
  const StepReport report = world.advance();
  EXPECT_EQ(report.contacts, 1);
  EXPECT_EQ(report.halvings, 0);
  distance = world.stepper->state().node[2][2];
  return report.elastic_energy;
}

TEST(ImplicitStepper, AGlobalResponseAddsLessElasticEnergyThanALocalOne) {
  double at_global = 0.0, at_local = 0.0;
  const double global = energy_after_impact(ContactResponse::global, at_global);
  const double local = energy_after_impact(ContactResponse::local, at_local);
  // Both put c at the safety distance; the local one leaves b to run into the springs.
  EXPECT_NEAR(at_global, 0.5e-3, 1e-9);
  EXPECT_NEAR(at_local, 0.5e-3, 1e-9);
  EXPECT_GT(global, 0.0);
  EXPECT_LT(global, 0.5 * local);
}

/// The same on a straight chain along the normal, by hand. Masses m = 0.1 kg, springs κ = 1000 N/m, dt = 10
/// ms: dt² κ / m = 1. With x the change of c's velocity, backward Euler moves b by 2x/5 and a by x/5; a local
/// response moves neither. The springs then hold ½ κ dt² x² (9/25 + 1/25) and ½ κ dt² x².
TEST(ImplicitStepper, ResponsesOfAStraightChainAreThoseByHand) {
  for (const ContactResponse response : {ContactResponse::global, ContactResponse::local}) {
    ImplicitWorld world;
    world.settings.dt = 1e-2;
    world.settings.gravity = Vector3::Zero();
    world.settings.friction = 0.0;
    world.settings.response = response;
    world.settings.stop.residual = 1e-12;
    SpringNetwork toy;
    toy.vertices = {{0.3, 0.1, 0.45}, {0.3, 0.1, 0.25}, {0.3, 0.1, 0.05}};
    toy.mass = {0.1, 0.1, 0.1};
    for (Index i = 0; i < 2; ++i) {
      toy.springs.push_back({i, i + 1, 200.0, 0.0, 0.2});  // 200 N per stretch: 1000 N/m
      toy.edges.push_back({i, i + 1});
    }
    world.bodies.add_springs("toy", toy, {.velocity = Vector3(0, 0, -15)});
    world.floor();
    world.start();
    const StepReport report = world.advance();
    ASSERT_EQ(report.contacts, 1);
    const double x = (0.5e-3 - 0.05) / 1e-2 + 15.0;
    const bool global = response == ContactResponse::global;
    const auto& v = world.stepper->state().velocity;
    EXPECT_NEAR(v[2][2], -15.0 + x, 1e-7);
    EXPECT_NEAR(v[1][2], -15.0 + (global ? 0.4 * x : 0.0), 1e-7);
    EXPECT_NEAR(v[0][2], -15.0 + (global ? 0.2 * x : 0.0), 1e-7);
    EXPECT_NEAR(report.elastic_energy, 0.05 * x * x * (global ? 0.4 : 1.0), 1e-6);
  }
}

// --- stiff and strongly deformed bodies
// ---------------------------------------------------------------------

/// T26: where the extrapolated neo-Hookean energy is linear A stays positive definite, and the solves go on.
TEST_P(ContactLoops, ANeoHookeanBallIsPressedFlatAndComesBack) {
  ImplicitWorld world;
  world.settings.loop = GetParam();
  world.settings.stop.residual = 1e-6;
  ElasticMaterial material = elastic(2e5, 2.0);
  material.model = ElasticModel::neo_hookean;
  world.bodies.add_solid("ball", tet_ball(1, 0.1), material, {.translation = Vector3(0, 0, 0.101)});
  world.floor();
  TriangleMesh press = centred_box(Vector3(0.4, 0.4, 0.05));
  for (Vector3& x : press.vertices) x[2] += 0.24;
  Motion down_and_up;
  down_and_up.key_time = {0.0, 0.1, 0.2};
  down_and_up.key_displacement = {Vector3::Zero(), Vector3(0, 0, -0.13), Vector3::Zero()};
  down_and_up.key_angle = {0.0, 0.0, 0.0};
  world.bodies.add_kinematic("press", press, down_and_up);
  world.start();
  double smallest = 1.0;
  StepReport report;
  for (int s = 0; s < 150; ++s) {
    report = world.advance();
    smallest = std::min(smallest, report.volume_ratio);
  }
  EXPECT_LT(smallest, 0.7) << "the extrapolation must have been reached";
  for (int s = 0; s < 150; ++s) report = world.advance();
  EXPECT_GT(report.volume_ratio, 0.9);
}

/// A soft ball between the floor and a plate that has come down, at rest: what both starts see in the same
/// step.
class PressedBall : public testing::TestWithParam<ContactLoop> {
 protected:
  static std::unique_ptr<ImplicitWorld> world(ContactLoop loop, ContactStart start) {
    auto world = std::make_unique<ImplicitWorld>();
    world->settings.loop = loop;
    world->settings.start = start;
    world->settings.dt = 2e-3;
    Motion press;
    press.velocity = Vector3(0, 0, -0.5);
    press.stop = 0.1;
    TriangleMesh plate = centred_box(Vector3(0.4, 0.4, 0.05));
    for (Vector3& x : plate.vertices) x += Vector3(0, 0, 0.23);
    world->bodies.add_kinematic("press", plate, press);
    world->bodies.add_solid("ball", tet_ball(2, 0.1), elastic(5e5), {.translation = Vector3(0, 0, 0.101)});
    world->floor();
    world->start();
    return world;
  }
  static std::set<PairKey> first_keys(const ImplicitWorld& world) {
    std::set<PairKey> keys;
    for (const SurfaceContact& contact : world.contacts.at(0)) keys.insert(contact.key);
    return keys;
  }
};

/// V48: the motion without contact lets go of the ball's elastic energy.
TEST_P(PressedBall, FreeStartAddsContactsThatTheConstrainedMotionNeverMakes) {
  const auto constrained = world(GetParam(), ContactStart::constrained);
  const auto free = world(GetParam(), ContactStart::free);
  for (int s = 0; s < 45; ++s) constrained->advance();
  free->stepper->restore(constrained->stepper->checkpoint());
  const StepReport one = constrained->advance(), other = free->advance();
  const std::set<PairKey> touching = first_keys(*constrained), crossing = first_keys(*free);
  EXPECT_GT(crossing.size(), touching.size());
  EXPECT_TRUE(std::includes(crossing.begin(), crossing.end(), touching.begin(), touching.end()));
  EXPECT_GE(other.contacts, one.contacts);
  EXPECT_FALSE(one.unresolved || other.unresolved);
  // The superfluous contacts push nothing: the ball ends in the same place.
  EXPECT_NEAR(other.elastic_energy, one.elastic_energy, 1e-3 * one.elastic_energy);
}

INSTANTIATE_TEST_SUITE_P(Loops, PressedBall, testing::Values(ContactLoop::refine, ContactLoop::relinearise),
                         [](const auto& loop) { return std::string(enum_name(loop.param)); });

/// T27: steps so large that normals turn by more than 15° within one; the loop follows in rounds, and the
/// gaps are those of the turned surfaces.
TEST(ImplicitStepper, LargeStepsTurnNormalsInRoundsOfFifteenDegrees) {
  ImplicitWorld world;
  world.settings.loop = ContactLoop::relinearise;
  world.settings.dt = 2e-2;
  world.detection.tolerance = 4e-3;
  world.settings.friction = 0.1;
  // A slab that turns by 20° per step about its long axis, with a ball on it.
  Motion turning;
  turning.axis = Vector3(0, 1, 0);
  turning.spin = 20.0 / 180.0 * 3.141592653589793 / 2e-2;
  turning.start = 0.02;
  turning.stop = 0.04;
  world.bodies.add_kinematic("slab", centred_box(Vector3(1.0, 1.0, 0.1)), turning);
  world.bodies.add_solid("ball", tet_ball(1, 0.1), elastic(2e5), {.translation = Vector3(-0.1, 0, 0.152)});
  world.start();
  double turn = 0.0;
  int rounds = 0;
  for (int s = 0; s < 6; ++s) {
    const StepReport report = world.advance();
    EXPECT_EQ(report.halvings, 0) << s;
    turn = std::max(turn, report.largest_turn);
    rounds = std::max(rounds, report.detection_rounds);
    if (report.contacts > 0) {
      EXPECT_GE(report.smallest_gap, 0.5 * 2e-3) << s;
    }
  }
  EXPECT_GT(turn, 15.0);
  EXPECT_GE(rounds, 3) << "15°, then the rest, then nothing to change";
  EXPECT_LT(rounds, 20);
}

// --- halving and failure
// -------------------------------------------------------------------------------------

/// Hands on to pgs, except that solves whose number `fails` names end with nothing.
class Unreliable final : public Solver {
 public:
  explicit Unreliable(std::function<bool(int solve, double dt)> fails)
      : fails_(std::move(fails)), inner_(make_solver("pgs")) {}
  std::string_view name() const override { return "unreliable"; }
  std::string options() const override { return ""; }
  const CommonOptions& common() const override { return inner_->common(); }
  const SolverTraits& traits() const override { return inner_->traits(); }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<Unreliable>(fails_); }
  std::string unsupported_reason(const ContactProblem&) const override { return ""; }
  void prepare(const ContactProblem& problem) override {
    dt_ = problem.dt;
    inner_->prepare(problem);
  }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    if (!fails_(++count_, dt_)) return inner_->solve(r, stop, observer);
    SolveReport report;
    report.status = SolveStatus::stalled;
    report.own_residual = 0.5;
    report.iterations = 7;
    return report;
  }

 private:
  std::function<bool(int, double)> fails_;
  std::unique_ptr<Solver> inner_;
  int count_ = 0;
  double dt_ = 0.0;
};

/// A rigid box that lies on the floor.
std::unique_ptr<ImplicitWorld> box_at_rest(std::function<bool(int, double)> fails,
                                           Unresolved unresolved = Unresolved::stop) {
  auto world = std::make_unique<ImplicitWorld>();
  world->settings.unresolved = unresolved;
  world->bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                          {.translation = Vector3(0, 0, 0.1005)});
  world->floor();
  world->start(1, std::make_unique<Unreliable>(std::move(fails)));
  return world;
}

TEST(ImplicitStepper, AWarmSolveThatFailsIsRepeatedFromZero) {
  const auto world = box_at_rest([](int solve, double) { return solve == 2; });
  EXPECT_FALSE(world->advance().restarted);
  const StepReport report = world->advance();
  EXPECT_TRUE(report.restarted);
  EXPECT_EQ(report.solves, 1);
  EXPECT_EQ(report.halvings, 0);
  EXPECT_GE(report.iterations, 7) << "those of the failed start count";
  EXPECT_LE(report.residual, 1e-7);
  EXPECT_TRUE(world->accepted[0]);
}

TEST(ImplicitStepper, ASolveThatFailsTwiceHalvesTheStep) {
  const auto world = box_at_rest([](int, double dt) { return dt > 0.4e-3; });
  const StepReport report = world->advance();
  EXPECT_EQ(report.halvings, 2);
  EXPECT_EQ(report.solves, 7);  // dt, dt/2, 2 × dt/4, dt/2, 2 × dt/4
  EXPECT_EQ(world->accepted, (std::vector<bool>{false, false, true, true, false, true, true}));
  EXPECT_EQ(world->substeps, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(world->problems[2].dt, 0.25e-3);
  EXPECT_NEAR(world->stepper->state().time, 1e-3, 4 * kEps * 1e-3);
  EXPECT_LT(std::abs(world->stepper->state().velocity[0][2]), 1e-8);
}

TEST(ImplicitStepper, AfterTheLastHalvingTheRunEndsAndTheStateIsThatOfTheStepBefore) {
  const auto world = box_at_rest([](int solve, double) { return solve > 3; });
  world->advance();
  const std::string before = world->stepper->checkpoint();
  try {
    for (int s = 0; s < 3; ++s) world->advance();
    FAIL() << "a failed solve must not pass";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("step 4"), std::string::npos) << text;
    EXPECT_NE(text.find("solver 'unreliable' ends as stalled with residual 5.00e-01"), std::string::npos)
        << text;
    EXPECT_NE(text.find("after 2 halvings"), std::string::npos) << text;
  }
  EXPECT_EQ(world->stepper->steps_taken(), 3);
  EXPECT_NE(world->stepper->checkpoint(), before);
  EXPECT_NEAR(world->stepper->state().time, 3e-3, 1e-17);
}

TEST(ImplicitStepper, OnHoldTheMotionEndsBeforeTheImpactAndIsMarked) {
  auto world = std::make_unique<ImplicitWorld>();
  world->settings.unresolved = Unresolved::hold;
  world->settings.gravity = Vector3::Zero();
  world->bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                          {.translation = Vector3(0, 0, 0.15), .velocity = Vector3(0, 0, -400)});
  world->floor();
  world->start(1, std::make_unique<Unreliable>([](int, double) { return true; }));
  const StepReport report = world->advance();
  EXPECT_TRUE(report.unresolved);
  EXPECT_EQ(report.halvings, 2);
  EXPECT_EQ(world->accepted, (std::vector<bool>(world->accepted.size(), false)));
  const double gap = world->stepper->state().rigid[0].centre[2] - 0.1;
  EXPECT_GT(gap, 0.0);
  EXPECT_LT(gap, 0.1 * 0.05 + 1e-9) << "0.9 of the first impact of the first sub-step, then nothing";
  EXPECT_NEAR(world->stepper->state().time, 1e-3, 1e-17);
}

TEST(ImplicitStepper, AScriptThatLeavesNoRoomIsAnErrorOnHoldToo) {
  ImplicitWorld world;
  world.settings.unresolved = Unresolved::hold;
  world.bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                         {.translation = Vector3(0, 0, 0.1005)});
  world.floor();
  Motion down;
  down.velocity = Vector3(0, 0, -1);
  TriangleMesh press = centred_box(Vector3(0.5, 0.5, 0.1));
  for (Vector3& x : press.vertices) x[2] += 0.26;
  world.bodies.add_kinematic("press", press, down);
  world.start();
  try {
    for (int s = 0; s < 20; ++s) world.advance();
    FAIL() << "the box has nowhere to go";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("scripted motion leaves no room"), std::string::npos) << text;
    EXPECT_NE(text.find("'box'"), std::string::npos) << text;
  }
}

// --- same bits ---------------------------------------------------------------------------------------------

/// Soft, rigid, embedded, cloth and moving bodies in one scene.
void fill_mixed(ImplicitWorld& world) {
  world.bodies.add_solid("ball", tet_ball(1, 0.08), elastic(2e5, 1.0), {.translation = Vector3(0, 0, 0.09)});
  world.bodies.add_rigid(
      "box", centred_box(Vector3(0.1, 0.1, 0.1)), 700.0,
      {.rotation = Eigen::AngleAxisd(0.4, Vector3(1, 1, 0).normalized()).toRotationMatrix(),
       .translation = Vector3(0.02, 0.01, 0.27),
       .velocity = Vector3(0, 0, -1)});
  TriangleMesh skin = icosphere(1);
  for (Vector3& x : skin.vertices) x *= 0.05;
  world.bodies.add_solid("skinned", centred_block(Vector3(0.12, 0.12, 0.12), 1), elastic(2e5, 1.0),
                         {.translation = Vector3(0.2, 0, 0.06), .velocity = Vector3(-2, 0, 0)}, &skin);
  world.bodies.add_springs("cloth", grid_cloth(9, 9, 0.4, 0.4, {}), {.translation = Vector3(0.03, 0, 0.4)});
  Motion belt;
  belt.velocity = Vector3(0.2, 0, 0);
  world.floor(2.0, belt);
}

TEST_P(ContactLoops, AMixedSceneHasTheSameBitsForAnyNumberOfThreadsAndAfterACheckpoint) {
  std::string reference, half;
  for (const int threads : {1, 2, 4}) {
    ImplicitWorld world;
    world.settings.loop = GetParam();
    world.settings.dt = 2e-3;
    fill_mixed(world);
    world.start(threads);
    int contact_steps = 0;
    for (int s = 0; s < 60; ++s) {
      contact_steps += world.advance().contacts > 0;
      if (threads == 1 && s == 39) half = world.stepper->checkpoint();
    }
    EXPECT_GT(contact_steps, 20);
    const std::string bytes = world.stepper->checkpoint();
    if (threads == 1) reference = bytes;
    EXPECT_EQ(bytes, reference) << threads << " threads";
    world.stepper->restore(half);
    EXPECT_EQ(world.stepper->steps_taken(), 40);
    for (int s = 0; s < 20; ++s) world.advance();
    EXPECT_EQ(world.stepper->checkpoint(), reference) << "resumed with " << threads << " threads";
  }
}

TEST(ImplicitStepper, RefusesDamagedAndForeignCheckpoints) {
  const auto never = [](int, double) { return false; };
  const auto world = box_at_rest(never);
  world->advance();
  const std::string bytes = world->stepper->checkpoint();
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_THROW(world->stepper->restore(damaged), InputError) << i;
    EXPECT_THROW(world->stepper->restore(bytes.substr(0, i)), InputError) << i;
  }
  ImplicitWorld other;
  other.bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.1)), 1000.0,
                         {.translation = Vector3(0, 0, 0.2)});
  other.floor();
  other.start();
  EXPECT_THROW(other.stepper->restore(bytes), InputError);
  EXPECT_EQ(world->stepper->checkpoint(), bytes);
}

TEST(ImplicitStepper, RefusesSettingsOutsideTheirRange) {
  const auto refused = [](auto&& change) {
    ImplicitWorld world;
    world.floor();
    change(world.settings);
    EXPECT_THROW(world.start(), UsageError);
  };
  refused([](ImplicitSettings& s) { s.dt = 0.0; });
  refused([](ImplicitSettings& s) { s.friction = -0.1; });
  refused([](ImplicitSettings& s) { s.restitution = 1.1; });
  refused([](ImplicitSettings& s) { s.safety_distance = 2e-3; });  // beyond the finder's tolerance
  refused([](ImplicitSettings& s) { s.halvings = -1; });
  refused([](ImplicitSettings& s) { s.free_tolerance = 0.0; });
}

}  // namespace
}  // namespace signorini::implicit_stepper_test
