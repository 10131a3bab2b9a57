// Rigid bodies on axles: what the equation of one rotation says, and what contacts see of them.

#include "bodies/axle.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "bodies/body_system.h"
#include "geometry/ball.h"
#include "geometry/lathe.h"

namespace signorini::axle_test {
namespace {

constexpr double kEps = 2.22e-16;
constexpr double kRadius = 0.05, kLength = 0.2, kDensity = 800.0;
const Vector3 kGravity(0.0, 0.0, -9.81);

/// A cylinder whose axis lies along the direction a, in the axle that `axle` says.
struct Roller {
  BodySystem system;
  TaskArena arena{1};
  ImplicitSystem linear;
  SystemState state;
  double inertia = 0.0;

  explicit Roller(const Axle& axle, double spin = 0.0, const Vector3& velocity = Vector3::Zero()) {
    Placement placement;
    placement.rotation =
        Eigen::Quaterniond::FromTwoVectors(Vector3::UnitZ(), axle.axis.normalized()).toRotationMatrix();
    placement.translation = Vector3(0.3, -0.1, 0.7);
    placement.velocity = velocity;
    placement.angular_velocity = spin * axle.axis.normalized();
    const TriangleMesh surface = cylinder_surface(kRadius, kLength, 24);
    inertia = mass_properties(surface, kDensity, "roller").inertia(2, 2);
    system.mount(system.add_rigid("roller", surface, kDensity, placement), axle);
    system.finish();
    state = system.start();
  }
  void step(double dt) {
    system.implicit_system(arena, state, dt, kGravity, linear);
    std::vector<Vector3> velocity(2);
    for (Index b = 0; b < 2; ++b) {
      const Matrix3 A = Eigen::Map<const Matrix3>(linear.A.block(linear.A.row_begin[b]));
      velocity[b] = A.inverse() * linear.b.segment<3>(3 * b);
    }
    system.advance(state, velocity, dt);
  }
  double spin(const Axle& axle) const { return axle.axis.normalized().dot(state.velocity[1]); }
};

TEST(Axle, SpinsUpEvenlyUnderConstantTorque) {
  const Axle axle{.axis = Vector3(1, 2, -0.5), .torque = 0.3};
  Roller roller(axle);
  for (int n = 1; n <= 200; ++n) {
    roller.step(1e-2);
    const double expected = n * 1e-2 * axle.torque / roller.inertia;  // I ω = τ t
    // A sum of n terms, each with the rounding of a 3×3 inverse.
    ASSERT_NEAR(roller.spin(axle), expected, 20 * n * kEps * expected);
  }
  const Vector3 a = axle.axis.normalized();
  EXPECT_LT(roller.state.velocity[1].cross(a).norm(), 1e-12 * roller.state.velocity[1].norm());
  // Backward Euler: the angle is dt² τ/I (1 + 2 + … + n); the last of 200 full pictures of the pose.
  const double angle = 1e-4 * axle.torque / roller.inertia * 200 * 201 / 2;
  const Eigen::Quaterniond start = roller.system.start().rigid[0].rotation;
  const Matrix3 turned = (roller.state.rigid[0].rotation * start.conjugate()).toRotationMatrix();
  EXPECT_LT((turned - Eigen::AngleAxisd(angle, a).toRotationMatrix()).norm(), 1e-9);
}

TEST(Axle, ADriveApproachesItsNoLoadSpeedWithoutOscillation) {
  const Axle axle{.axis = Vector3(0, -3, 0), .torque = 0.1, .speed = 4.0, .slope = 0.25};
  const double no_load = axle.speed + axle.torque / axle.slope;
  for (const double dt : {1e-4, 1e-2, 10.0}) {
    Roller roller(axle, -2.0);
    double lack = -2.0 - no_load;
    for (int n = 0; n < 100; ++n) {
      roller.step(dt);
      lack /= 1.0 + dt * axle.slope / roller.inertia;
      ASSERT_NEAR(roller.spin(axle), no_load + lack, 1e-12 * 10.0) << dt;
    }
  }
  // The steps converge to ω = ω∞ + (ω₀ − ω∞) exp(−c t/I), with an error that halves with dt.
  double before = 0.0;
  for (const int steps : {100, 200, 400}) {
    Roller roller(axle, -2.0);
    const double time = roller.inertia / axle.slope;
    for (int n = 0; n < steps; ++n) roller.step(time / steps);
    const double error = std::abs(roller.spin(axle) - no_load - (-2.0 - no_load) * std::exp(-1.0));
    if (before > 0.0) {
      EXPECT_NEAR(before / error, 2.0, 0.05);
    }
    before = error;
  }
}

TEST(Axle, RunsFreelyWithoutADriveAndItsCentreStays) {
  const Axle axle{.axis = Vector3(0, 0, 1)};
  Roller roller(axle, 5.0, Vector3(1, 2, 3));
  const double energy = roller.system.kinetic_energy(roller.state);
  EXPECT_NEAR(energy, 0.5 * roller.inertia * 25.0, 100 * kEps * energy);
  const Vector3 centre = roller.state.rigid[0].centre;
  for (int n = 0; n < 50; ++n) roller.step(1e-2);
  EXPECT_EQ(roller.state.rigid[0].centre, centre);
  EXPECT_NEAR(roller.spin(axle), 5.0, 100 * kEps * 5.0);
  EXPECT_EQ(roller.system.potential_energy(roller.state, kGravity), 0.0) << "the bearings carry its weight";
  EXPECT_TRUE(roller.system.is_prescribed(0));
  EXPECT_FALSE(roller.system.is_prescribed(1));
}

TEST(Axle, OneThatSlidesFallsAlongItsAxisOnly) {
  const Axle axle{.axis = Vector3(1, 0, 1), .slides = true};
  Roller roller(axle, 0.0, Vector3(0, 7, 0));
  const Vector3 a = axle.axis.normalized(), centre = roller.state.rigid[0].centre;
  for (int n = 0; n < 100; ++n) roller.step(1e-3);
  const Vector3 expected = 0.1 * a.dot(kGravity) * a;
  EXPECT_LT((roller.state.velocity[0] - expected).norm(), 1000 * kEps);
  EXPECT_LT((roller.state.rigid[0].centre - centre).cross(a).norm(), 1000 * kEps);
  EXPECT_FALSE(roller.system.is_prescribed(0));
}

TEST(Axle, RowsAreTheVelocitiesThatItAllows) {
  for (const bool slides : {false, true}) {
    const Axle axle{.axis = Vector3(0.2, 1, -0.4), .slides = slides};
    Roller roller(axle);
    const Vector3 a = axle.axis.normalized();
    const std::vector<Vector3> velocity{slides ? Vector3(0.7 * a) : Vector3::Zero(), Vector3(-3.0 * a)};
    std::vector<Vector3> x0(roller.system.surface().vertices()), x1(x0.size());
    roller.system.surface_positions(roller.arena, roller.state, x0);
    SystemState moved = roller.state;
    constexpr double kStep = 1e-6;
    roller.system.advance(moved, velocity, kStep);
    roller.system.surface_positions(roller.arena, moved, x1);
    VertexRow row;
    for (Index i = 0; i < count(x0); ++i) {
      for (Index d = 0; d < 3; ++d) {
        const int entries = roller.system.vertex_row(roller.state, i, Vector3::Unit(d), row);
        ASSERT_EQ(entries, slides ? 2 : 1);
        double speed = 0.0;
        for (Index e = 0; e < entries; ++e) {
          ASSERT_FALSE(roller.system.is_prescribed(row[e].block));
          EXPECT_LT(row[e].coefficient.cross(a).norm(), 10 * kEps);
          speed += row[e].coefficient.dot(velocity[row[e].block]);
        }
        // Second order: ω² R dt/2 < 1e-6, and the rounding of positions over dt.
        EXPECT_NEAR(speed, (x1[i][d] - x0[i][d]) / kStep, 1e-6);
      }
    }
    EXPECT_EQ(roller.system.main_block(0), slides ? 0 : 1);
  }
}

TEST(Axle, MistakesAreNamed) {
  const auto message = [](bool rigid, const Axle& axle, int times) -> std::string {
    BodySystem system;
    try {
      const Index body = rigid ? system.add_rigid("drum", cylinder_surface(0.1, 0.1, 8), 1.0, {})
                               : system.add_solid("drum", tet_ball(1, 0.1), {}, {});
      for (int i = 0; i < times; ++i) system.mount(body, axle);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(true, {}, 1), "");
  EXPECT_NE(message(false, {}, 1).find("only a rigid body"), std::string::npos);
  EXPECT_NE(message(true, {}, 2).find("already"), std::string::npos);
  EXPECT_NE(message(true, {.axis = Vector3::Zero()}, 1).find("length 0"), std::string::npos);
  EXPECT_NE(message(true, {.slope = -1.0}, 1).find("negative"), std::string::npos);
  EXPECT_NE(message(true, {.torque = std::numeric_limits<double>::quiet_NaN()}, 1).find("finite"),
            std::string::npos);
}

}  // namespace
}  // namespace signorini::axle_test
