#include "bodies/body_system.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"
#include "bodies/polar_rotation.h"
#include "geometry/ball.h"
#include "geometry/block.h"

namespace signorini::solid_forces_test {
namespace {

constexpr double kEps = 2.22e-16;
const ElasticMaterial kSoft{.young_modulus = 2e5, .poisson_ratio = 0.3, .density = 1000.0};

Vector3 random_vector(Rng& rng, double size) {
  const double x = rng.uniform(-size, size);
  const double y = rng.uniform(-size, size);
  return {x, y, rng.uniform(-size, size)};
}

std::vector<Vector3> shaken(const std::vector<Vector3>& x, double size, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Vector3> result = x;
  for (Vector3& p : result) p += random_vector(rng, size);
  return result;
}

double norm(const std::vector<Vector3>& v) {
  double sum = 0.0;
  for (const Vector3& x : v) sum += x.squaredNorm();
  return std::sqrt(sum);
}

/// One solid alone.
struct Fixture {
  BodySystem bodies;
  SystemState state;
  TaskArena arena{1};
  std::vector<Vector3> force;
  std::vector<double> mass;

  Fixture(const TetMesh& mesh, const ElasticMaterial& material, const Placement& placement = {}) {
    bodies.add_solid("solid", mesh, material, placement);
    bodies.finish();
    state = bodies.start();
    force.resize(state.node.size());
    std::vector<Matrix3> blocks(state.node.size());
    bodies.mass_blocks(state, blocks);
    for (const Matrix3& m : blocks) mass.push_back(m(0, 0));
  }
  double evaluate(const std::vector<Vector3>& x) {
    state.node = x;
    return bodies.forces(arena, state, force);
  }
};

TEST(SolidForces, LumpsTheWholeMassAtTheNodes) {
  Fixture f(tet_ball(2, 0.1), kSoft);
  double mass = 0.0;
  for (const double m : f.mass) mass += m;
  const double volume = total_volume(tet_ball(2, 0.1));
  EXPECT_NEAR(mass / (1000.0 * volume), 1.0, 720 * kEps);
}

TEST(SolidForces, RigidMotionGivesNoForceAndNoEnergy) {
  const TetMesh ball = tet_ball(2, 0.1);
  const Matrix3 Q = Eigen::AngleAxisd(2.5, Vector3(1, 2, -1).normalized()).toRotationMatrix();
  Fixture f(ball, kSoft, {.rotation = Q, .translation = Vector3(3.0, -2.0, 1.0)});
  const double energy = f.evaluate(f.bodies.start().node);
  // Positions of size 4 m carry an error of 4 ε; a strain of 4 ε over an element of 0.03 m acts on faces of
  // 1e-3 m².
  const double force = 2e5 * (4 * kEps / 0.03) * 1e-3 * 20;
  for (const Vector3& x : f.force) EXPECT_LT(x.norm(), force);
  EXPECT_LT(energy, 2e5 * std::pow(4 * kEps / 0.03, 2) * 720);
}

TEST(SolidForces, ForcesTurnWithTheBody) {
  const TetMesh ball = tet_ball(1, 0.1);
  Fixture f(ball, kSoft);
  const std::vector<Vector3> x = shaken(ball.vertices, 0.01, 1);
  const double energy = f.evaluate(x);
  const std::vector<Vector3> force = f.force;
  const Matrix3 Q = Eigen::AngleAxisd(1.1, Vector3(-1, 0.3, 2).normalized()).toRotationMatrix();
  std::vector<Vector3> turned = x;
  for (Vector3& p : turned) p = Q * p + Vector3(0.1, 0.2, 0.3);
  EXPECT_NEAR(f.evaluate(turned), energy, 1e-12 * energy);  // rounding of 160 elements, 10× above observed
  std::vector<Vector3> difference = force;
  for (std::size_t i = 0; i < force.size(); ++i) difference[i] = f.force[i] - Q * force[i];
  EXPECT_LT(norm(difference), 1e-12 * norm(force));
}

TEST(SolidForces, ForceIsMinusTheGradientOfTheEnergyAtLargeStrainToo) {
  const TetMesh ball = tet_ball(1, 0.1);
  Fixture f(ball, kSoft);
  for (const double strain : {1e-4, 0.02}) {  // 0.02 m on elements of 0.05 m: some are nearly flat
    std::vector<Vector3> x = shaken(ball.vertices, strain, 2);
    f.evaluate(x);
    const std::vector<Vector3> force = f.force;
    const double scale = norm(force) / std::sqrt(static_cast<double>(3 * force.size()));
    for (std::size_t node = 0; node < x.size(); node += 7) {
      for (Index d = 0; d < 3; ++d) {
        const double h = 1e-6;
        const double kept = x[node][d];
        x[node][d] = kept + h;
        const double above = f.evaluate(x);
        x[node][d] = kept - h;
        const double below = f.evaluate(x);
        x[node][d] = kept;
        // Central differences: truncation h² ∂³Ψ ≈ (h / 0.05 m)² and rounding ε Ψ/(h f) ≈ 1e-8 of the mean
        // force.
        EXPECT_NEAR(-(above - below) / (2.0 * h), force[node][d], 1e-5 * scale) << node << " " << d;
      }
    }
  }
}

/// K_0 = V Bᵀ C B with the strain matrix B (Voigt: xx, yy, zz, xy, yz, zx) and Hooke's C, from the textbook.
Eigen::Matrix<double, 12, 12> linear_stiffness(const TetMesh& mesh, const ElasticMaterial& material) {
  Matrix3 D;
  D << mesh.vertices[1] - mesh.vertices[0], mesh.vertices[2] - mesh.vertices[0],
      mesh.vertices[3] - mesh.vertices[0];
  Eigen::Matrix<double, 4, 3> gradient;
  gradient.bottomRows<3>() = D.inverse();
  gradient.row(0) = -gradient.bottomRows<3>().colwise().sum();
  Eigen::Matrix<double, 6, 12> B = Eigen::Matrix<double, 6, 12>::Zero();
  for (Index i = 0; i < 4; ++i) {
    const double x = gradient(i, 0), y = gradient(i, 1), z = gradient(i, 2);
    B.col(3 * i) << x, 0, 0, y, 0, z;
    B.col(3 * i + 1) << 0, y, 0, x, z, 0;
    B.col(3 * i + 2) << 0, 0, z, 0, y, x;
  }
  Eigen::Matrix<double, 6, 6> C = Eigen::Matrix<double, 6, 6>::Zero();
  C.topLeftCorner<3, 3>().setConstant(material.lambda());
  for (Index i = 0; i < 3; ++i) {
    C(i, i) += 2.0 * material.mu();
    C(i + 3, i + 3) = material.mu();
  }
  return D.determinant() / 6.0 * B.transpose() * C * B;
}

TEST(SolidForces, OneElementIsTheCorotationalFormulaWithTheLinearStiffness) {
  const TetMesh tet{{{0, 0, 0}, {0.11, 0.01, 0}, {0.02, 0.12, 0.01}, {0.01, 0.03, 0.09}}, {{0, 1, 2, 3}}};
  Fixture f(tet, kSoft);
  const auto K0 = linear_stiffness(tet, kSoft);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Vector3> x = shaken(tet.vertices, 0.02, seed);
    f.evaluate(x);
    Matrix3 rest, now;
    rest << tet.vertices[1] - tet.vertices[0], tet.vertices[2] - tet.vertices[0],
        tet.vertices[3] - tet.vertices[0];
    now << x[1] - x[0], x[2] - x[0], x[3] - x[0];
    const Matrix3 R = polar_rotation(now * rest.inverse());
    // f = −R K_0 (Rᵀ x − X)
    Eigen::Matrix<double, 12, 1> displacement;
    for (Index i = 0; i < 4; ++i) {
      displacement.segment<3>(3 * i) = R.transpose() * x[i] - tet.vertices[i];
    }
    const Eigen::Matrix<double, 12, 1> expected = -K0 * displacement;
    for (Index i = 0; i < 4; ++i) {
      EXPECT_LT((f.force[i] - R * expected.segment<3>(3 * i)).norm(), 1e-12 * K0.norm());
    }
  }
}

TEST(SolidForces, InnerForcesHaveNoResultantAndNoTorque) {
  const TetMesh ball = tet_ball(1, 0.1);
  Fixture f(ball, kSoft);
  const std::vector<Vector3> x = shaken(ball.vertices, 0.04, 5);  // inverted elements among them
  f.evaluate(x);
  Vector3 force = Vector3::Zero();
  Vector3 torque = Vector3::Zero();
  for (std::size_t i = 0; i < x.size(); ++i) {
    force += f.force[i];
    torque += x[i].cross(f.force[i]);
  }
  const double scale = norm(f.force);
  EXPECT_LT(force.norm(), 100 * kEps * scale);
  EXPECT_LT(torque.norm(), 1000 * kEps * scale * 0.1);  // the rotation of a nearly flat element is less exact
}

TEST(SolidForces, AnUniaxialPullFollowsHookesLaw) {
  // A bar stretched by 1e-4 with free sides: stress E ε along, zero across.
  const TetMesh bar = kuhn_block({2, 2, 2}, Vector3(0.1, 0.1, 0.1));
  Fixture f(bar, kSoft);
  std::vector<Vector3> x = bar.vertices;
  const double strain = 1e-4;
  for (Vector3& p : x) p = Vector3(p[0] * (1 - 0.3 * strain), p[1] * (1 - 0.3 * strain), p[2] * (1 + strain));
  const double energy = f.evaluate(x);
  double pull = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (bar.vertices[i][2] == 0.1) pull -= f.force[i][2];
    EXPECT_LT(f.force[i].head<2>().norm(), 1e-9 * 2e5 * strain * 0.01);
  }
  // Nominal stress of the co-rotational law is linear in the strain.
  EXPECT_NEAR(pull / (2e5 * strain * 0.01), 1.0, 1e-9);
  EXPECT_NEAR(energy / (0.5 * 2e5 * strain * strain * 1e-3), 1.0, 1e-9);
}

struct NodeState {
  std::vector<Vector3> position, velocity;
};
/// Free symplectic Euler steps without gravity.
void fly(Fixture& f, NodeState& state, double dt, int steps) {
  for (int s = 0; s < steps; ++s) {
    f.evaluate(state.position);
    for (std::size_t i = 0; i < state.position.size(); ++i) {
      state.velocity[i] += dt / f.mass[i] * f.force[i];
      state.position[i] += dt * state.velocity[i];
    }
  }
}

TEST(SolidForces, FreeFlightKeepsLinearAndAngularMomentum) {
  const TetMesh ball = tet_ball(1, 0.1);
  Fixture f(ball, kSoft);
  NodeState state{shaken(ball.vertices, 0.005, 8),
                  shaken(std::vector<Vector3>(ball.vertices.size(), Vector3(1, 2, 3)), 1.0, 9)};
  const auto momentum = [&](Vector3& linear, Vector3& angular) {
    linear = angular = Vector3::Zero();
    for (std::size_t i = 0; i < state.position.size(); ++i) {
      linear += f.mass[i] * state.velocity[i];
      angular += state.position[i].cross(f.mass[i] * state.velocity[i]);
    }
  };
  Vector3 linear, angular, linear_after, angular_after;
  momentum(linear, angular);
  fly(f, state, 2e-4, 2000);
  momentum(linear_after, angular_after);
  // 2000 steps of 55 nodes; rounding grows like a random walk of √(2000·55) ≈ 330 ε, 10 is room for the force
  // level.
  EXPECT_LT((linear_after - linear).norm(), 3300 * kEps * linear.norm());
  EXPECT_LT((angular_after - angular).norm(), 3300 * kEps * linear.norm() * 2.0);  // arm: flies 1.5 m
}

TEST(SolidForces, TheStableStepKeepsTheEnergyAndFiveTimesItDoesNot) {
  const TetMesh ball = tet_ball(1, 0.1);
  Fixture f(ball, kSoft);
  const double stable = f.bodies.largest_stable_step();
  const auto largest_energy = [&](double dt) {
    NodeState state{shaken(ball.vertices, 1e-4, 10),
                    std::vector<Vector3>(ball.vertices.size(), Vector3::Zero())};
    const double start = f.evaluate(state.position);
    double largest = 0.0;
    for (int s = 0; s < 50; ++s) {
      fly(f, state, dt, 20);
      double energy = f.evaluate(state.position);
      for (std::size_t i = 0; i < f.mass.size(); ++i)
        energy += 0.5 * f.mass[i] * state.velocity[i].squaredNorm();
      largest = std::max(largest, energy / start);
    }
    return largest;
  };
  EXPECT_LT(largest_energy(stable), 2.0);  // symplectic Euler oscillates around the true energy
  EXPECT_GT(largest_energy(5.0 * stable), 1e3);
}

TEST(SolidForces, TheStableStepIsTheRuleOfTheTable) {
  const TetMesh block = kuhn_block({1, 1, 1}, Vector3(0.1, 0.1, 0.1));
  Fixture f(block, kSoft);
  // Kuhn tet of a cube of edge a: V = a³/6, largest face a²/√2, altitude a/√2.
  const double h = 0.1 / std::sqrt(2.0);
  const double c = std::sqrt(2e5 * 0.7 / (1000.0 * 1.3 * 0.4));
  EXPECT_NEAR(f.bodies.largest_stable_step(), 0.5 * h / c, 10 * kEps);
}

}  // namespace
}  // namespace signorini::solid_forces_test
