#include "scene/explicit_stepper.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <memory>

#include "base/check.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/box_surface.h"
#include "geometry/bucket.h"
#include "solvers/registry.h"

namespace signorini::explicit_stepper_test {
namespace {

constexpr double kEps = 2.22e-16;

Placement at_rest(const Vector3& x) { return {.translation = x}; }
Placement moving(const Vector3& x, const Vector3& v) { return {.translation = x, .velocity = v}; }
ElasticMaterial soft(double damping = 0.0) {
  return {.young_modulus = 2e5, .poisson_ratio = 0.3, .density = 1000.0, .damping = damping};
}

/// A stepper together with what its last step solved.
struct Run {
  TaskArena arena;
  BodySystem& bodies;
  ExplicitStepper stepper;
  ContactProblem problem;
  std::vector<double> impulses;
  std::vector<SurfaceContact> contacts;

  Run(BodySystem& system, const DetectionSettings& detection, const ExplicitSettings& settings, int threads)
      : arena(threads), bodies(system), stepper(system, detection, make_solver("pgs"), settings) {}
  StepReport advance() {
    problem = {};
    impulses.clear();
    contacts.clear();
    return stepper.advance(arena, [this](const SolveEvent& event) {
      EXPECT_TRUE(event.accepted);
      EXPECT_FALSE(find_defect(event.problem).has_value()) << *find_defect(event.problem);
      problem = event.problem;
      impulses.assign(event.impulses.begin(), event.impulses.end());
      contacts.assign(event.contacts.begin(), event.contacts.end());
    });
  }
  Vector3 momentum() const { return bodies.linear_momentum(stepper.state()); }
  Vector3 total_world_impulse() const {
    Vector3 sum = Vector3::Zero();
    for (Index k = 0; k < problem.contacts(); ++k) {
      for (Index d = 0; d < 3; ++d)
        sum += impulses[3 * k + d] * problem.frame.block<1, 3>(k, 3 * d).transpose();
    }
    return sum;
  }
};

/// Bodies over a floor at z = 0 (or none), with the settings at hand.
struct World {
  BodySystem bodies;
  TriangleMesh obstacle = ground(2.0);
  Motion motion;  // of the obstacle
  ExplicitSettings settings;
  bool edges = false;

  World() {
    settings.dt = 5e-4;
    settings.law = {0.4, 0.0, 0.0, 0.2, 0.1};
  }
  std::unique_ptr<Run> run(int threads = 1) {
    if (!obstacle.triangles.empty()) bodies.add_kinematic("floor", obstacle, motion);
    bodies.finish();
    settings.law.rest_speed = 2.0 * settings.dt * settings.gravity.norm();
    const DetectionSettings detection{1e-3, 5e-3, settings.law.rest_speed, 0.05, edges};
    return std::make_unique<Run>(bodies, detection, settings, threads);
  }
  double mass() const {
    std::vector<Matrix3> blocks(bodies.blocks());
    bodies.mass_blocks(bodies.start(), blocks);
    double sum = 0.0;
    for (Index b = 0; b < bodies.nodes(); ++b) sum += blocks[b](0, 0);
    return sum;
  }
};

TetMesh centred_block(const Vector3& size, Index cells) {
  TetMesh mesh = kuhn_block({cells, cells, cells}, size);
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}

TEST(NormalOffset, FollowsTheThreeCases) {
  const ContactLawSettings law{0.4, 0.5, 4e-3, 0.2, 0.1};
  const double dt = 1e-3;
  // Impact at 2 m/s from 1 mm: touched within the step, leaves with κ = ½ of the speed.
  EXPECT_EQ(normal_offset(law, 1e-3, -2.0, -2.0, dt), -1.0);
  // The same point from 3 mm is not reached: it may come closer, not more.
  EXPECT_EQ(normal_offset(law, 3e-3, -2.0, -2.0, dt), 3.0);
  // Slower than v_rest: no rebound.
  EXPECT_EQ(normal_offset(law, 0.0, -3e-3, -3e-3, dt), 0.0);
  // Separating before the step: κ has nothing to reflect.
  EXPECT_EQ(normal_offset(law, 0.0, 2.0, -1.0, dt), 0.0);
  // Penetrating: a fifth per step, at most 0.1 m/s.
  EXPECT_NEAR(normal_offset(law, -1e-4, 0.0, 0.0, dt), -0.02, kEps);
  EXPECT_EQ(normal_offset(law, -1.0, 0.0, 0.0, dt), -0.1);
}

TEST(ExplicitStepper, SmallestGapIsThatOfTheContactsAtTheEndOfTheStepOrMissing) {
  World world;
  world.bodies.add_solid("ball", tet_ball(1, 0.1), soft(), moving(Vector3(0, 0, 0.105), Vector3(0, 0, -1)));
  const auto run = world.run();
  bool apart = false, above = false;
  double gap = std::numeric_limits<double>::quiet_NaN();
  for (int s = 0; s < 30; ++s) {
    const StepReport report = run->advance();
    // The contacts of a step are those found at the end of the one before.
    ASSERT_EQ(report.contacts == 0, std::isnan(gap)) << s;
    if (report.contacts > 0) {
      double closest = std::numeric_limits<double>::infinity();
      for (const SurfaceContact& contact : run->contacts) closest = std::min(closest, contact.gap);
      EXPECT_EQ(gap, closest) << s;
    }
    gap = report.smallest_gap;
    apart = apart || std::isnan(gap);
    above = above || gap > 0.0;
  }
  EXPECT_TRUE(apart);
  EXPECT_TRUE(above) << "a gap above zero is one too";
}

TEST(ExplicitStepper, MomentumChangesByTheImpulsesAndGravityToRounding) {
  World world;
  world.bodies.add_solid("ball", tet_ball(2, 0.1), soft(),
                         moving(Vector3(0, 0, 0.0995), Vector3(0.5, 0, -1)));
  world.settings.dt = 2e-4;
  const auto run = world.run();
  int contact_steps = 0;
  for (int s = 0; s < 100; ++s) {
    const Vector3 before = run->momentum();
    contact_steps += run->advance().contacts > 0;
    const Vector3 expected =
        before + world.mass() * world.settings.dt * world.settings.gravity + run->total_world_impulse();
    // 217 nodes, each with forces of about 10 N: 217 ε of the momentum, times 10 for the inner forces.
    EXPECT_LT((run->momentum() - expected).norm(), 2170 * kEps * world.mass() * 1.2);
  }
  EXPECT_GT(contact_steps, 50);
}

TEST(ExplicitStepper, ContactsBetweenBodiesConserveMomentum) {
  World world;
  world.obstacle = {};
  world.settings.gravity = Vector3::Zero();
  world.settings.dt = 2e-4;
  world.bodies.add_solid("left", tet_ball(2, 0.1), soft(), moving(Vector3(-0.101, 0, 0), Vector3(1, 0, 0)));
  world.bodies.add_solid("right", tet_ball(1, 0.1), soft(),
                         moving(Vector3(0.101, 0.05, 0.02), Vector3(-1, 0, 0)));
  const auto run = world.run();
  const auto angular = [&] { return world.bodies.angular_momentum(run->stepper.state()); };
  const Vector3 linear_start = run->momentum();
  const Vector3 angular_start = angular();
  int contact_steps = 0;
  double twist = 0.0;  // Σ |gap| |r|: an impulse across an open gap has that torque
  for (int s = 0; s < 300; ++s) {
    contact_steps += run->advance().contacts > 0;
    for (Index k = 0; k < run->problem.contacts(); ++k) {
      twist += std::abs(run->problem.gap[k]) * Eigen::Map<const Vector3>(&run->impulses[3 * k]).norm();
    }
  }
  EXPECT_GT(contact_steps, 50);
  EXPECT_LT((run->momentum() - linear_start).norm(), 1e4 * kEps * world.mass());
  EXPECT_LE((angular() - angular_start).norm(), twist + 1e4 * kEps * world.mass());
}

class Restitution : public testing::TestWithParam<double> {};

TEST_P(Restitution, TheImpactReflectsTheStatedShareOfTheNormalSpeed) {
  World world;
  world.settings.gravity = Vector3::Zero();
  world.settings.law.restitution = GetParam();
  world.settings.law.friction = 0.0;
  world.bodies.add_solid("block", centred_block(Vector3(0.2, 0.2, 0.2), 2), soft(),
                         moving(Vector3(0, 0, 0.1002), Vector3(0, 0, -1)));
  const auto run = world.run();
  ASSERT_GT(run->advance().contacts, 0);
  // The block flies undeformed, so every touching node arrives with −1 m/s and leaves with κ (κ = 0: it
  // closes the gap).
  const double leaving = GetParam() > 0.0 ? GetParam() : -2e-4 / world.settings.dt;
  for (const SurfaceContact& c : run->contacts) {
    const std::size_t node = world.bodies.main_block(c.key.vertex[0]);
    EXPECT_NEAR(run->stepper.state().velocity[node][2], leaving, 1e-7);  // residual 1e-8 of q ≈ 2
  }
}
INSTANTIATE_TEST_SUITE_P(Kappa, Restitution, testing::Values(0.0, 0.3, 0.5, 1.0));

/// Block on a slope (gravity is tilted) with damping 20/s, which ends the elastic shiver of the start
/// (e^−10 after 1 s); returns its mean speed down the slope during the second half of 1 s = 1000 steps.
constexpr double kSlopeDamping = 20.0;
double slope_speed(double friction, double tangent, Index cells) {
  World world;
  world.settings.dt = 1e-3;
  world.settings.law.friction = friction;
  const double angle = std::atan(tangent);
  world.settings.gravity = 9.81 * Vector3(std::sin(angle), 0, -std::cos(angle));
  world.bodies.add_solid("block", centred_block(Vector3(0.2, 0.2, 0.1), cells), soft(kSlopeDamping),
                         at_rest(Vector3(0, 0, 0.05)));
  const auto run = world.run();
  double sum = 0.0;
  for (int s = 0; s < 1000; ++s) {
    run->advance();
    if (s >= 500) sum += run->momentum()[0] / world.mass();
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
  // One cell has four feet that slide together. Finer blocks flutter at low speed: every contact stays on
  // the cone, but the directions differ and the mean friction is a few per cent below μ N.
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
  world.bodies.add_solid("ball", tet_ball(1, 0.1), soft(1.0), at_rest(Vector3(0, 0, 0.1)));
  const auto run = world.run();
  double last = std::numeric_limits<double>::infinity();
  double first = 0.0;
  double deepest = 0.0;
  for (int s = 0; s < 2500; ++s) {
    const StepReport report = run->advance();
    deepest = std::max(deepest, report.deepest_point);
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
  world.bodies.add_solid("block", centred_block(Vector3(0.2, 0.2, 0.2), 2), soft(),
                         moving(Vector3(0, 0, 0.1151), Vector3(0, 0, -4)));
  const auto run = world.run();
  for (int s = 0; s < 60; ++s) {
    run->advance();
    for (const Vector3& x : run->stepper.state().node) EXPECT_GT(x[2], -1e-9);  // residual 1e-8 × 4 m/s × dt
  }
}

class SameBits : public testing::TestWithParam<bool> {};  // with edges

TEST_P(SameBits, ForAnyNumberOfThreadsAndAfterACheckpoint) {
  std::vector<std::string> bytes;
  for (const int threads : {1, 2, 4}) {
    World world;
    world.edges = GetParam();
    world.settings.dt = 2e-4;
    world.bodies.add_solid("a", tet_ball(2, 0.1), soft(), moving(Vector3(0, 0, 0.101), Vector3(0.3, 0, -1)));
    world.bodies.add_solid("b", tet_ball(1, 0.1), soft(), moving(Vector3(0.05, 0, 0.3), Vector3(0, 0, -2)));
    const auto run = world.run(threads);
    int contact_steps = 0;
    std::size_t edge_contacts = 0;
    for (int s = 0; s < 60; ++s) {
      contact_steps += run->advance().contacts > 0;
      edge_contacts += std::ranges::count_if(
          run->contacts, [](const SurfaceContact& c) { return c.key.kind == PairKind::edge_edge; });
    }
    EXPECT_GT(contact_steps, 30);
    EXPECT_EQ(edge_contacts > 0, GetParam());
    bytes.push_back(run->stepper.checkpoint());
    if (threads != 1) continue;
    // Going on from step 30 of another run gives the same bits.
    World again;
    again.edges = GetParam();
    again.settings.dt = 2e-4;
    again.bodies.add_solid("a", tet_ball(2, 0.1), soft(), moving(Vector3(0, 0, 0.101), Vector3(0.3, 0, -1)));
    again.bodies.add_solid("b", tet_ball(1, 0.1), soft(), moving(Vector3(0.05, 0, 0.3), Vector3(0, 0, -2)));
    const auto first = again.run();
    for (int s = 0; s < 30; ++s) first->advance();
    const std::string half = first->stepper.checkpoint();
    for (int s = 0; s < 7; ++s) first->advance();
    first->stepper.restore(half);
    EXPECT_EQ(first->stepper.steps_taken(), 30);
    for (int s = 0; s < 30; ++s) first->advance();
    EXPECT_EQ(first->stepper.checkpoint(), bytes.front());
  }
  EXPECT_EQ(bytes[1], bytes[0]);
  EXPECT_EQ(bytes[2], bytes[0]);
}
INSTANTIATE_TEST_SUITE_P(Edges, SameBits, testing::Bool());

TEST(ExplicitStepper, AMovingFloorCarriesTheBallAlong) {
  // A floor that rises at 0.5 m/s and slides at V = 0.3 m/s: the ball rises with it and is set rolling. A
  // rigid ball ends at 2/7 V; this one also loses spin to the damping, so more of V reaches its centre.
  World world;
  world.settings.dt = 2e-4;
  world.motion.velocity = Vector3(0.3, 0.0, 0.5);
  world.bodies.add_solid("ball", tet_ball(1, 0.1), soft(5.0), at_rest(Vector3(0, 0, 0.1)));
  const auto run = world.run();
  double deepest = 0.0;
  for (int s = 0; s < 2000; ++s) deepest = std::max(deepest, run->advance().deepest_point);
  const Vector3 velocity = run->momentum() / world.mass();
  EXPECT_LT(deepest, 1e-3);
  EXPECT_NEAR(velocity[2], 0.5, 0.1);  // it bobs on its elasticity
  EXPECT_GT(velocity[0], 2.0 / 7.0 * 0.3);
  EXPECT_LT(velocity[0], 0.3);
  double lowest = 1.0;
  for (const Vector3& x : run->stepper.state().node) lowest = std::min(lowest, x[2]);
  EXPECT_NEAR(lowest, 0.5 * run->stepper.state().time, 5e-3);
}

TEST(ExplicitStepper, ARigidBoxFallsAndComesToRest) {
  World world;
  world.settings.dt = 1e-3;
  const TetMesh block = centred_block(Vector3(0.2, 0.2, 0.2), 1);
  std::vector<Index> vertex_of;
  world.bodies.add_rigid("box", boundary_surface(block, vertex_of), 1000.0,
                         moving(Vector3(0, 0, 0.12), Vector3(0.5, 0, 0)));
  const auto run = world.run();
  for (int s = 0; s < 1000; ++s) {
    const StepReport report = run->advance();
    EXPECT_LT(report.deepest_point, 1e-3);
  }
  EXPECT_LT(run->stepper.state().velocity[0].norm(), 1e-6);
  EXPECT_NEAR(run->stepper.state().rigid[0].centre[2], 0.1, 1e-4);
}

/// Two bars that cross at right angles, 0.1 m wide, the upper one 5 mm above the lower one on the floor: their faces overlap
/// in a square that has a vertex of neither.
enum class Bars { rigid, elastic };
void add_crossed_bars(World& world, Bars kind) {
  const auto add = [&](const char* name, const Vector3& size, const Vector3& place) {
    if (kind == Bars::rigid) {
      world.bodies.add_rigid(name, box_surface(size), 1000.0, at_rest(place));
    } else {
      TetMesh mesh = kuhn_block({1, 1, 1}, size);
      for (Vector3& x : mesh.vertices) x -= 0.5 * size;
      world.bodies.add_solid(name, mesh, soft(10.0), at_rest(place));
    }
  };
  add("lower", {0.4, 0.1, 0.1}, {0, 0, 0.05});
  add("upper", {0.1, 0.4, 0.1}, {0, 0, 0.155});
}
double upper_height(const World& world, const Run& run) {
  const auto [begin, end] = world.bodies.body_blocks(1);
  const SystemState& state = run.stepper.state();
  if (world.bodies.rigids() > 0) return state.rigid[1].centre[2];
  double sum = 0.0;
  for (Index b = begin; b < end; ++b) sum += state.node[b][2];
  return sum / (end - begin);
}

class CrossedBars : public testing::TestWithParam<Bars> {};

TEST_P(CrossedBars, TheUpperOneComesToRestOnTheLowerOneWithEdgeContactsAndFallsThroughWithout) {
  for (const bool edges : {true, false}) {
    World world;
    world.edges = edges;
    world.settings.dt = 2.5e-4;
    add_crossed_bars(world, GetParam());
    const auto run = world.run();
    double energy = 0.0, most = 0.0;
    for (int s = 0; s < 2400; ++s) {  // 0.6 s; the fall of 5 mm takes 0.03 s
      const StepReport report = run->advance();
      energy = report.kinetic_energy;
      most = std::max(most, energy);
    }
    const double height = upper_height(world, *run);
    if (edges) {
      EXPECT_GT(height, 0.145)
          << "the lower bar's top is at 0.1 m; elastic bars are pressed by less than 5 mm";
      EXPECT_LT(height, 0.1501);
      EXPECT_LT(energy, 1e-3 * most) << "at rest";
    } else {
      EXPECT_LT(height, 0.1) << "their overlap has no vertex: nothing holds it";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, CrossedBars, testing::Values(Bars::rigid, Bars::elastic),
                         [](const auto& kind) { return kind.param == Bars::rigid ? "rigid" : "elastic"; });

TEST(ExplicitStepper, RefusesCheckpointsOfOthersAndDamagedOnes) {
  World world;
  world.bodies.add_solid("ball", tet_ball(1, 0.1), soft(), at_rest(Vector3(0, 0, 0.1)));
  const auto run = world.run();
  run->advance();
  const std::string bytes = run->stepper.checkpoint();
  World other;
  other.bodies.add_solid("boll", tet_ball(1, 0.1), soft(), at_rest(Vector3(0, 0, 0.1)));
  EXPECT_THROW(other.run()->stepper.restore(bytes), InputError);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THROW(run->stepper.restore(damaged), InputError) << i;
    EXPECT_THROW(run->stepper.restore(bytes.substr(0, i)), InputError) << i;
  }
  EXPECT_EQ(run->stepper.checkpoint(), bytes) << "a refused restore changes nothing";
}

}  // namespace
}  // namespace signorini::explicit_stepper_test
