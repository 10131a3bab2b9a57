#include "bodies/rigid_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "geometry/ball.h"
#include "geometry/block.h"

namespace signorini::rigid_body_test {
namespace {

constexpr double kEps = 2.22e-16;
constexpr double kPi = std::numbers::pi;

TriangleMesh box(const Vector3& size) {
  std::vector<Index> vertex_of;
  return boundary_surface(kuhn_block({2, 1, 3}, size), vertex_of);
}

TriangleMesh moved(TriangleMesh mesh, const Matrix3& R, const Vector3& t) {
  for (Vector3& x : mesh.vertices) x = R * x + t;
  return mesh;
}

TEST(MassProperties, OfABoxAreThoseOfTheTextbook) {
  const Vector3 size(0.2, 0.5, 0.3);
  const MassProperties p = mass_properties(box(size), 700.0, "box");
  const double mass = 700.0 * size.prod();
  // 44 triangles, each a handful of products.
  EXPECT_NEAR(p.mass, mass, 200 * kEps * mass);
  EXPECT_LT((p.centre - 0.5 * size).norm(), 200 * kEps);
  const Vector3 squares = size.cwiseAbs2();
  const Matrix3 inertia = Matrix3((mass / 12.0 * (Vector3::Constant(squares.sum()) - squares)).asDiagonal());
  EXPECT_LT((p.inertia - inertia).norm(), 200 * kEps * inertia.norm());
}

TEST(MassProperties, OfACornerTetrahedron) {
  // Corner (0; a, b, c): ∫ x² = V a²/10, ∫ x y = V a b/20, centre (a, b, c)/4.
  const Vector3 a(1.0, 2.0, 3.0);
  const TriangleMesh tet{{Vector3::Zero(), {a[0], 0, 0}, {0, a[1], 0}, {0, 0, a[2]}},
                         {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  const MassProperties p = mass_properties(tet, 2.0, "tet");
  EXPECT_NEAR(p.mass, 2.0, 20 * kEps);
  EXPECT_LT((p.centre - 0.25 * a).norm(), 20 * kEps);
  Matrix3 second;
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j)
      second(i, j) = 2.0 * (a[i] * a[j] * (i == j ? 0.1 : 0.05) - a[i] * a[j] / 16.0);
  }
  EXPECT_LT((p.inertia - (second.trace() * Matrix3::Identity() - second)).norm(), 100 * kEps);
}

TEST(MassProperties, TurnAndMoveWithTheBody) {
  const TriangleMesh mesh = box({0.2, 0.5, 0.3});
  const Matrix3 R = Eigen::AngleAxisd(1.3, Vector3(1, -2, 0.5).normalized()).toRotationMatrix();
  const Vector3 t(10.0, -20.0, 5.0);
  const MassProperties p = mass_properties(mesh, 700.0, "box");
  const MassProperties q = mass_properties(moved(mesh, R, t), 700.0, "box");
  // The vertices carry a rounding of 22 ε, 44 ε of the box; volumes and moments three to five times that.
  const double tolerance = 44 * 5 * kEps / 0.2;
  EXPECT_NEAR(q.mass, p.mass, tolerance * p.mass);
  EXPECT_LT((q.centre - (R * p.centre + t)).norm(), tolerance);
  EXPECT_LT((q.inertia - R * p.inertia * R.transpose()).norm(), tolerance * p.inertia.norm());
}

TEST(MassProperties, OfRefinedSpheresConvergeToTheBallQuadratically) {
  const double mass = 4.0 / 3.0 * kPi;
  const double inertia = 0.4 * mass;
  double before_mass = 0.0, before_inertia = 0.0;
  for (int level = 1; level <= 4; ++level) {
    const MassProperties p = mass_properties(icosphere(level), 1.0, "sphere");
    const double mass_error = mass - p.mass;
    const double inertia_error = (p.inertia - inertia * Matrix3::Identity()).norm();
    EXPECT_GT(mass_error, 0.0);
    EXPECT_LT(p.centre.norm(), 5120 * kEps);
    if (level > 1) {
      EXPECT_NEAR(before_mass / mass_error, 4.0, 0.4);  // next term of the expansion: a quarter of level 1's
      EXPECT_NEAR(before_inertia / inertia_error, 4.0, 0.4);
    }
    before_mass = mass_error;
    before_inertia = inertia_error;
  }
}

TEST(MassProperties, RefusesOpenFlatAndInvertedSurfaces) {
  TriangleMesh open = icosphere(1);
  open.triangles.pop_back();
  EXPECT_THROW(mass_properties(open, 1.0, "rigid body 'b'"), UsageError);
  TriangleMesh inverted = icosphere(1);
  for (Triangle& t : inverted.triangles) std::swap(t[0], t[1]);
  EXPECT_THROW(mass_properties(inverted, 1.0, "b"), UsageError);
  TriangleMesh flat = icosphere(1);
  for (Vector3& x : flat.vertices) x[2] = 0.0;
  EXPECT_THROW(mass_properties(flat, 1.0, "b"), UsageError);
  TriangleMesh broken = icosphere(1);
  broken.triangles[3][1] = 99;
  EXPECT_THROW(mass_properties(broken, 1.0, "b"), UsageError);
  EXPECT_THROW(mass_properties(icosphere(1), 0.0, "b"), UsageError);
  EXPECT_THROW(mass_properties({}, 1.0, "b"), UsageError);
}

TEST(RigidPose, AConstantSpinIsFollowedExactly) {
  const Vector3 omega(0.3, -4.0, 2.0);
  RigidPose pose;
  pose.rotation = Eigen::AngleAxisd(0.4, Vector3::UnitX());
  const Eigen::Quaterniond start = pose.rotation;
  for (int step = 0; step < 1000; ++step) pose = advanced(pose, {1.0, 2.0, 3.0}, omega, 1e-3);
  const Eigen::Quaterniond expected = Eigen::AngleAxisd(omega.norm(), omega.normalized()) * start;
  // 1000 steps, each with a rounding of a few ε.
  EXPECT_LT(expected.angularDistance(pose.rotation), 4000 * kEps);
  EXPECT_LT((pose.centre - Vector3(1.0, 2.0, 3.0)).norm(), 4000 * kEps);
  EXPECT_NEAR(pose.rotation.norm(), 1.0, 4 * kEps);
}

TEST(RigidPose, SmallAnglesLoseNoDigits) {
  for (const double angle : {0.0, 1e-300, 1e-12, 1e-5, 1.9e-4, 2.1e-4}) {
    const RigidPose pose = advanced({}, Vector3::Zero(), {angle, 0.0, 0.0}, 1.0);
    EXPECT_NEAR(pose.rotation.x(), std::sin(0.5 * angle), 2 * kEps * angle) << angle;
    EXPECT_NEAR(pose.rotation.w(), std::cos(0.5 * angle), 2 * kEps) << angle;
  }
}

/// Free rotation for `time` by ω += dt I⁻¹ τ_gyro at the old pose, then the pose with the new ω; returns the
/// relative change of the angular momentum.
double momentum_drift(const MassProperties& body, const Vector3& omega_0, double time, int steps) {
  RigidPose pose;
  Vector3 omega = omega_0;
  const auto world = [&] {
    const Matrix3 R = pose.rotation.toRotationMatrix();
    return Matrix3(R * body.inertia * R.transpose());
  };
  const Vector3 momentum = world() * omega;
  for (int step = 0; step < steps; ++step) {
    const Matrix3 inertia = world();
    omega += time / steps * inertia.inverse() * gyroscopic_torque(inertia, omega);
    pose = advanced(pose, Vector3::Zero(), omega, time / steps);
  }
  return (world() * omega - momentum).norm() / momentum.norm();
}

TEST(FreeRotation, KeepsTheAngularMomentumToFirstOrderInTheStep) {
  const MassProperties body = mass_properties(box({0.2, 0.5, 0.3}), 700.0, "box");
  const Vector3 omega(0.1, 0.2, 3.0);
  const double coarse = momentum_drift(body, omega, 1.0, 1000);
  const double fine = momentum_drift(body, omega, 1.0, 2000);
  // Local error ½ dt² ω² per step: at most ½ dt ω² t in all.
  EXPECT_LT(coarse, 0.5 * 1e-3 * 9.1);
  EXPECT_NEAR(coarse / fine, 2.0, 0.05);
}

TEST(FreeRotation, AboutAPrincipalAxisIsExact) {
  const MassProperties body = mass_properties(box({0.2, 0.5, 0.3}), 700.0, "box");
  // The inertia has a rounding of some ε off its diagonal; each of the 1000 steps adds its own.
  EXPECT_LT(momentum_drift(body, {0.0, 0.0, 3.0}, 1.0, 1000), 1000 * 100 * kEps);
}

TEST(GyroscopicTorque, DoesNoWork) {
  const MassProperties body = mass_properties(box({0.2, 0.5, 0.3}), 700.0, "box");
  const Vector3 omega(1.0, -2.0, 0.5);
  const Vector3 torque = gyroscopic_torque(body.inertia, omega);
  EXPECT_GT(torque.norm(), 0.01 * body.inertia.norm());
  EXPECT_LT(std::abs(torque.dot(omega)),
            10 * kEps * body.inertia.norm() * omega.squaredNorm() * omega.norm());
}

}  // namespace
}  // namespace signorini::rigid_body_test
