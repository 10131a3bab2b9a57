#include "bodies/free_rotation.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "base/rng.h"
#include "bodies/rigid_body.h"

namespace signorini::free_rotation_test {
namespace {

constexpr double kEps = 2.22e-16;

struct Top {
  Matrix3 inertia;
  RigidPose pose;
  Vector3 omega;
  Matrix3 world() const {
    const Matrix3 R = pose.rotation.toRotationMatrix();
    return R * inertia * R.transpose();
  }
  Vector3 momentum() const { return world() * omega; }
  double energy() const { return 0.5 * omega.dot(momentum()); }
  void step(double dt) {
    omega = free_rotation(inertia, pose, omega, dt);
    pose = advanced(pose, Vector3::Zero(), omega, dt);
  }
};

Top random_top(Rng& rng) {
  const Eigen::Quaterniond axes(rng.normal(), rng.normal(), rng.normal(), rng.normal());
  const Matrix3 Q = axes.normalized().toRotationMatrix();
  // Moments of a solid: each at most the sum of the others.
  const Vector3 moments(rng.uniform(1.0, 2.0), rng.uniform(1.0, 2.0), rng.uniform(0.2, 2.0));
  const Matrix3 inertia = Q * moments.asDiagonal() * Q.transpose();
  RigidPose pose;
  pose.rotation = Eigen::Quaterniond(rng.normal(), rng.normal(), rng.normal(), rng.normal()).normalized();
  return {0.5 * (inertia + inertia.transpose()), pose, {rng.normal(), rng.normal(), rng.normal()}};
}

TEST(FreeRotation, KeepsTheAngularMomentumAndNeverGainsEnergy) {
  Rng rng(1);
  for (const double dt : {1e-3, 0.1, 0.3, 10.0}) {  // up to a radian per step, and many
    for (int k = 0; k < 20; ++k) {
      Top top = random_top(rng);
      const Vector3 start = top.momentum();
      double energy = top.energy();
      for (int step = 0; step < 100; ++step) {
        top.step(dt);
        EXPECT_LE(top.energy(), energy * (1.0 + 1e-13));  // twice Newton's residual
        energy = top.energy();
      }
      // 100 steps, each with Newton's residual below 4e-14 and some ten roundings.
      if (dt < 1.0) {
        EXPECT_LT((top.momentum() - start).norm(), 100 * 4.3e-14 * start.norm()) << dt;
      }
    }
  }
}

TEST(FreeRotation, TurnsAboutAPrincipalAxisForEver) {
  Top top{Vector3(1.0, 2.0, 2.5).asDiagonal(), {}, {0.0, 3.0, 0.0}};
  for (int step = 0; step < 10; ++step) top.step(0.05);
  EXPECT_LT((top.omega - Vector3(0.0, 3.0, 0.0)).norm(), 100 * kEps);
}

TEST(FreeRotation, ConvergesToEulersEquationsToFirstOrder) {
  // I dω/dt = −ω × I ω in the start's axes: the change of ω in one step is that to O(dt²).
  Rng rng(2);
  for (int k = 0; k < 20; ++k) {
    const Top top = random_top(rng);
    const Vector3 rate = top.world().inverse() * gyroscopic_torque(top.world(), top.omega);
    const auto error = [&](double dt) {
      return ((free_rotation(top.inertia, top.pose, top.omega, dt) - top.omega) / dt - rate).norm();
    };
    EXPECT_NEAR(error(1e-3) / error(5e-4), 2.0, 0.05);  // next term: dt ω relative
  }
}

}  // namespace
}  // namespace signorini::free_rotation_test
