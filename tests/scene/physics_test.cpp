// What mechanics says about scenes that can be solved by hand, whatever solver and loop drives them.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "collision/contact_finder.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"
#include "scene/explicit_stepper.h"
#include "scene/implicit_stepper.h"
#include "solvers/registry.h"

namespace signorini::physics_test {
namespace {

constexpr double kGravity = 9.81;

TetMesh block(const Vector3& size, const std::array<Index, 3>& cells) {
  TetMesh mesh = kuhn_block(cells, size);
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}

ElasticMaterial rubber(double young_modulus) {
  ElasticMaterial material;
  material.young_modulus = young_modulus;
  material.poisson_ratio = 0.3;
  material.density = 1000.0;
  material.damping = 0.0;
  return material;
}

struct World {
  BodySystem system;
  ImplicitSettings settings;
  FinderSettings finder;
  TaskArena arena{2};

  void add_ground() { system.add_kinematic("ground", ground(2.0), {}); }
  ImplicitStepper stepper(const OptionMap& options = {}) {
    system.finish();
    return {system, ContactFinder(system.surface(), finder), make_solver("pgs", options), settings};
  }
};

/// Mean velocity of the free blocks, weighted by mass; m/s.
Vector3 mean_velocity(const BodySystem& system, const SystemState& state) {
  std::vector<Matrix3> mass(system.blocks());
  system.mass_blocks(state, mass);
  double total = 0.0;
  for (Index b = 0; b < system.nodes(); ++b) total += mass[b](0, 0);
  for (Index r = 0; r < system.rigids(); ++r) total += mass[system.nodes() + 2 * r](0, 0);
  return system.linear_momentum(state) / total;
}

// --- the inclined plane
// -------------------------------------------------------------------------------------
//
// The plane stays level and gravity is turned. A block first rests at tan θ = 0.9 μ until its own
// oscillations have died out, then tan θ goes to (1 ± accuracy) μ for a second.

enum class Kind { implicit_deformable, implicit_rigid, explicit_deformable };

struct InclineCase {
  const char* name;
  Kind kind;
  OptionMap options;
  ContactLoop loop;
  TangentFrame tangents;
  double friction;
  double accuracy;  ///< of tan θ / μ
};
void PrintTo(const InclineCase& c, std::ostream* out) { *out << c.name; }

class Incline : public ::testing::TestWithParam<InclineCase> {
 protected:
  Incline() {
    const InclineCase& c = GetParam();
    const Placement placement{Matrix3::Identity(), Vector3(0, 0, 0.05 + 5e-5)};
    const TetMesh mesh = block({0.2, 0.2, 0.1}, {2, 2, 1});
    if (c.kind == Kind::implicit_rigid) {
      std::vector<Index> vertex_of;
      world_.system.add_rigid("block", boundary_surface(mesh, vertex_of), 1000.0, placement);
    } else {
      ElasticMaterial material = rubber(1e6);
      // Explicit steps damp nothing by themselves. This damping also slows a slide down, so the explicit test
      // looks at whether the block slides, not at how fast.
      if (c.kind == Kind::explicit_deformable) material.damping = 20.0;
      world_.system.add_solid("block", mesh, material, placement);
    }
    world_.add_ground();
    world_.system.finish();
  }

  std::unique_ptr<Stepper> stepper(double ratio) {
    const InclineCase& c = GetParam();
    const double theta = std::atan(ratio * c.friction);
    const Vector3 gravity = kGravity * Vector3(std::sin(theta), 0, -std::cos(theta));
    if (c.kind == Kind::explicit_deformable) {
      ExplicitSettings settings;
      settings.dt = dt();
      settings.gravity = gravity;
      settings.law = {c.friction, 0.0, 2.0 * dt() * kGravity, 0.2, 0.1 * 1e-4 / dt()};
      settings.stop.residual = 1e-10;
      return std::make_unique<ExplicitStepper>(world_.system,
                                               DetectionSettings{1e-4, 5e-3, 2.0 * dt() * kGravity, 0.05},
                                               make_solver("pgs", c.options), settings);
    }
    world_.settings.dt = dt();
    world_.settings.gravity = gravity;
    world_.settings.friction = c.friction;
    world_.settings.loop = c.loop;
    world_.settings.tangents = c.tangents;
    world_.settings.stop.residual = 1e-10;
    world_.finder.tolerance = 1e-4;
    return std::make_unique<ImplicitStepper>(world_.system,
                                             ContactFinder(world_.system.surface(), world_.finder),
                                             make_solver("pgs", c.options), world_.settings);
  }
  double dt() const { return GetParam().kind == Kind::explicit_deformable ? 2e-4 : 2e-3; }
  void advance(Stepper& stepper, double seconds) {
    const auto steps = static_cast<int>(std::lround(seconds / dt()));
    for (int s = 0; s < steps; ++s) stepper.advance(world_.arena, nullptr);
  }
  /// Velocity down the slope after each of two halves of a second; m/s. The distance to the angle of friction
  /// shrinks by 0.7 every 0.1 s: so slowly that the block, whose elastic shear overshoots by as much as a
  /// turn adds, never passes the angle.
  std::array<double, 2> slide(double ratio) {
    std::unique_ptr<Stepper> tilted = stepper(0.9);
    advance(*tilted, 0.5);
    for (double distance = 0.07; distance > 1e-3; distance *= 0.7) {
      tilted = turned(*tilted, 1.0 - distance);
      advance(*tilted, 0.1);
    }
    tilted = turned(*tilted, ratio);
    std::array<double, 2> speed{};
    for (double& v : speed) {
      advance(*tilted, 0.5);
      v = mean_velocity(world_.system, tilted->state()).x();
    }
    return speed;
  }
  /// Gravity is the stepper's; the state goes over as a checkpoint.
  std::unique_ptr<Stepper> turned(const Stepper& from, double ratio) {
    std::unique_ptr<Stepper> to = stepper(ratio);
    to->restore(from.checkpoint());
    return to;
  }
  /// What half a second of sliding at this angle gains; m/s.
  static double gain(double ratio) {
    const double theta = std::atan(ratio * GetParam().friction);
    return 0.5 * kGravity * (std::sin(theta) - GetParam().friction * std::cos(theta));
  }

  World world_;
};

TEST_P(Incline, SticksJustBelowTheAngleOfFriction) {
  const auto speed = slide(1.0 - GetParam().accuracy);
  // Less than a hundredth of what the same distance above the angle gains.
  EXPECT_LT(std::abs(speed[1]), 1e-2 * gain(1.0 + GetParam().accuracy))
      << "after 0.5 s: " << speed[0] << " m/s";
}

TEST_P(Incline, SlidesJustAboveTheAngleOfFriction) {
  const auto speed = slide(1.0 + GetParam().accuracy);
  const double expected = gain(1.0 + GetParam().accuracy);
  if (GetParam().kind == Kind::explicit_deformable) {
    // Terminal velocity of a slide against the damping of 20 1/s: the gain of half a second divided by 10.
    EXPECT_GT(speed[1], 0.5 * expected / 10.0) << "after 0.5 s: " << speed[0] << " m/s";
  } else if (GetParam().accuracy > 1e-3) {
    EXPECT_GT(speed[1], 0.1 * expected) << "after 0.5 s: " << speed[0] << " m/s";
  } else {
    // Every contact slips down the slope, so friction is μ times the weight. What is left is the oscillation
    // under turned gravity: a tenth, 1e-4 in terms of tan θ / μ.
    EXPECT_NEAR(speed[1] - speed[0], expected, 0.1 * expected) << "after 0.5 s: " << speed[0] << " m/s";
  }
}

// The pyramid along the free velocity is exact where that is the direction of slip at every contact: on a
// rigid block, and in explicit steps, where the free velocity of a node at rest points against its own
// friction. An implicit step frees the whole deformable block, whose nodes then move some degrees off the
// slope (sin 2° / 2 … of μ): 2e-3 instead of 1e-3.
const OptionMap kCone{{"law", "cone"}};
const OptionMap kPyramid{{"law", "pyramid"}};
const OptionMap kAlignedPyramid{{"law", "pyramid"}, {"frame", "aligned"}};

INSTANTIATE_TEST_SUITE_P(
    LawsAndLoops, Incline,
    ::testing::Values(InclineCase{"implicit_cone", Kind::implicit_deformable, kCone, ContactLoop::refine,
                                  TangentFrame::fixed, 0.5, 1e-3},
                      InclineCase{"implicit_cone_relinearised", Kind::implicit_deformable, kCone,
                                  ContactLoop::relinearise, TangentFrame::fixed, 0.3, 1e-3},
                      InclineCase{"implicit_pyramid_aligned_by_the_solver", Kind::implicit_deformable,
                                  kAlignedPyramid, ContactLoop::refine, TangentFrame::fixed, 0.5, 2e-3},
                      InclineCase{"implicit_pyramid_aligned_by_the_stepper", Kind::implicit_deformable,
                                  kPyramid, ContactLoop::refine, TangentFrame::aligned, 0.5, 2e-3},
                      InclineCase{"rigid_cone", Kind::implicit_rigid, kCone, ContactLoop::refine,
                                  TangentFrame::fixed, 0.5, 1e-3},
                      InclineCase{"rigid_pyramid_aligned_by_the_stepper", Kind::implicit_rigid, kPyramid,
                                  ContactLoop::refine, TangentFrame::aligned, 0.5, 1e-3},
                      InclineCase{"rigid_pyramid_aligned_by_the_solver", Kind::implicit_rigid,
                                  kAlignedPyramid, ContactLoop::refine, TangentFrame::fixed, 0.5, 1e-3},
                      InclineCase{"explicit_cone", Kind::explicit_deformable, kCone, ContactLoop::refine,
                                  TangentFrame::fixed, 0.5, 1e-3},
                      InclineCase{"explicit_pyramid_aligned", Kind::explicit_deformable, kAlignedPyramid,
                                  ContactLoop::refine, TangentFrame::fixed, 0.5, 1e-3}),
    [](const auto& test) { return std::string(test.param.name); });

// --- impacts
// ------------------------------------------------------------------------------------------------

/// A rigid ball that falls straight on its lowest vertex keeps no spin; it leaves with κ times the speed it
/// came with.
class Rebound : public ::testing::TestWithParam<double> {};

TEST_P(Rebound, KeepsTheStatedShareOfTheSpeed) {
  World world;
  world.settings.dt = 1e-3;
  world.settings.restitution = GetParam();
  world.settings.friction = 0.3;
  world.finder.tolerance = 1e-4;
  const TriangleMesh ball = icosphere(1);
  TriangleMesh shape = ball;
  // A vertex of the icosphere straight below the centre: the impulse then has no torque.
  const Eigen::Quaterniond turn = Eigen::Quaterniond::FromTwoVectors(ball.vertices[0], Vector3(0, 0, -1));
  for (Vector3& x : shape.vertices) x = 0.1 * (turn * x);
  Placement placement;
  placement.translation = Vector3(0, 0, 0.3);
  world.system.add_rigid("ball", shape, 500.0, placement);
  world.add_ground();
  ImplicitStepper stepper = world.stepper();
  double before = 0.0, after = 0.0;
  for (int s = 0; s < 400 && after == 0.0; ++s) {
    const double vz = stepper.state().velocity[0].z();
    const StepReport report = stepper.advance(world.arena, nullptr);
    const double now = stepper.state().velocity[0].z();
    if (report.contacts > 0 && now > vz + 0.5) {
      before = vz;
      after = now;
    }
  }
  ASSERT_LT(before, -1.5);
  // u_N = −κ u_N⁻ at the end of the step, with the velocity at its start; the solver stops at 1e-7 of the
  // free velocity.
  EXPECT_NEAR(after, -GetParam() * before, 1e-5 * std::abs(before));
}

INSTANTIATE_TEST_SUITE_P(Kappa, Rebound, ::testing::Values(0.3, 0.5, 0.9, 1.0));

// --- energy and momentum
// ------------------------------------------------------------------------------------

TEST(Physics, ARestingPileGainsNoEnergyOverASecond) {
  World world;
  world.settings.dt = 4e-3;
  world.settings.friction = 0.5;
  world.settings.stop.residual = 1e-6;
  world.finder.tolerance = 5e-4;
  constexpr int kBlocks = 3;
  for (int i = 0; i < kBlocks; ++i) {
    world.system.add_solid("block " + std::to_string(i), block({0.2, 0.2, 0.1}, {2, 2, 1}), rubber(5e5),
                           {Matrix3::Identity(), Vector3(0.01 * (i % 2), 0, 0.05 + 5.1e-4 + 0.1006 * i)});
  }
  world.add_ground();
  ImplicitStepper stepper = world.stepper();
  for (int s = 0; s < 100; ++s) stepper.advance(world.arena, nullptr);  // settle
  double lowest = std::numeric_limits<double>::infinity(), gained = 0.0, first = 0.0, last = 0.0;
  for (int s = 0; s < 250; ++s) {
    const StepReport r = stepper.advance(world.arena, nullptr);
    const double energy = r.kinetic_energy + r.elastic_energy + r.potential_energy;
    gained = std::max(gained, energy - lowest);
    lowest = std::min(lowest, energy);
    (s == 0 ? first : last) = r.kinetic_energy;
    EXPECT_FALSE(r.unresolved);
  }
  // The solver answers to 1e-6 of the speed that gravity gives in a step: the work of its error over the
  // weight in 250 steps.
  const double weight = kBlocks * 0.2 * 0.2 * 0.1 * 1000.0 * kGravity;
  EXPECT_LE(gained, 250 * 1e-6 * weight * kGravity * 4e-3 * 4e-3);
  EXPECT_LT(last, first);
}

/// One linearised step moves a body that turns along the tangents: x₁ = x₀ + dt ω × x₀, so that F has the singular
/// values √(1 + θ²) twice and 1, θ = ω dt. Co-rotational forces and their linearisation vanish at rest, so the
/// velocity stays and the total energy grows by 2 (λ + μ) (√(1 + θ²) − 1)² V, about (λ + μ) V θ⁴ / 2: an error of the
/// step, of order dt⁴ (docs/energy.md, letters).
TEST(Physics, ALinearisedStepExtendsABodyThatTurns) {
  constexpr double kModulus = 1e5, kPoisson = 0.3, kSpin = 10.0, kVolume = 0.2 * 0.2 * 0.1;
  const double lambda = kModulus * kPoisson / ((1.0 + kPoisson) * (1.0 - 2.0 * kPoisson));
  const double mu = kModulus / (2.0 * (1.0 + kPoisson));
  for (const double dt : {0.03, 0.015, 0.0075}) {
    World world;
    world.settings.dt = dt;
    world.settings.gravity = Vector3::Zero();
    world.settings.free_tolerance = 1e-13;
    Placement placement;
    placement.angular_velocity = Vector3(0, 0, kSpin);
    world.system.add_solid("block", block({0.2, 0.2, 0.1}, {2, 2, 1}), rubber(kModulus), placement);
    ImplicitStepper stepper = world.stepper();
    const double kinetic = world.system.kinetic_energy(stepper.state());
    const StepReport report = stepper.advance(world.arena, nullptr);
    const double stretch = std::sqrt(1.0 + std::pow(kSpin * dt, 2)) - 1.0;
    const double expected = 2.0 * (lambda + mu) * stretch * stretch * kVolume;
    EXPECT_NEAR(report.elastic_energy, expected, 1e-9 * expected) << dt;
    EXPECT_NEAR(report.kinetic_energy, kinetic, 1e-9 * kinetic) << dt;
  }
}

TEST(Physics, CollidingBodiesKeepTheirLinearMomentumToRounding) {
  World world;
  world.settings.dt = 1e-3;
  world.settings.gravity = Vector3::Zero();
  world.settings.friction = 0.4;
  world.settings.free_tolerance = 1e-14;
  world.finder.tolerance = 5e-4;
  Placement left, right;
  left.translation = Vector3(-0.12, 0, 0);
  left.velocity = Vector3(3, 0, 0);
  right.translation = Vector3(0.12, 0.03, 0.02);
  world.system.add_solid("ball", tet_ball(1, 0.1), rubber(2e5), left);
  world.system.add_solid("block", block({0.2, 0.2, 0.2}, {2, 2, 2}), rubber(2e5), right);
  ImplicitStepper stepper = world.stepper();
  const Vector3 start = world.system.linear_momentum(stepper.state());
  int in_contact = 0;
  for (int s = 0; s < 60; ++s) {
    in_contact += stepper.advance(world.arena, nullptr).contacts > 0;
    // The linear solves leave 1e-14 of the momentum of a step, 60 times, times the conditioning of A (about
    // 10).
    EXPECT_LT((world.system.linear_momentum(stepper.state()) - start).norm(), 1e-11 * start.norm());
  }
  EXPECT_GT(in_contact, 3);
}

}  // namespace
}  // namespace signorini::physics_test
