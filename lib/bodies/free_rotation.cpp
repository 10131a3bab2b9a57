#include "bodies/free_rotation.h"

#include <Eigen/LU>
#include <cmath>

namespace signorini {

namespace {

Matrix3 cross_matrix(const Vector3& a) {
  Matrix3 M;
  M << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0;
  return M;
}

/// exp([a]×) x.
Vector3 turned(const Vector3& a, const Vector3& x) {
  const double angle = a.norm();
  if (angle == 0.0) return x;
  return Eigen::AngleAxisd(angle, a / angle) * x;
}

/// J with exp([a + δ]×) = exp([J δ]×) exp([a]×) to first order in δ:
/// I + (1 − cos θ)/θ² [a]× + (θ − sin θ)/θ³ [a]×², θ = ‖a‖.
Matrix3 rotation_jacobian(const Vector3& a) {
  const double angle = a.norm();
  const Matrix3 A = cross_matrix(a);
  // Below 1e-2 the next terms of the series are under 1e-9, which Newton's iteration does not notice.
  if (angle < 1e-2) return Matrix3::Identity() + 0.5 * A + A * A / 6.0;
  return Matrix3::Identity() + (1.0 - std::cos(angle)) / (angle * angle) * A +
         (angle - std::sin(angle)) / (angle * angle * angle) * A * A;
}

}  // namespace

Vector3 free_rotation(const Matrix3& body_inertia, const RigidPose& pose, const Vector3& angular_velocity,
                      double dt) {
  constexpr int kIterations = 50;
  constexpr double kTolerance = 4e-16;  // of the momentum: rounding of one rotation
  const Vector3 start = pose.rotation.conjugate() * angular_velocity;
  const Vector3 momentum = body_inertia * start;
  const double goal = kTolerance * momentum.norm();
  Vector3 spin = start;
  Vector3 wanted = turned(-dt * spin, momentum);
  double size = (body_inertia * spin - wanted).norm();
  for (int i = 0; i < kIterations && size > goal; ++i) {
    const Matrix3 jacobian = body_inertia - dt * cross_matrix(wanted) * rotation_jacobian(-dt * spin);
    const Vector3 step = jacobian.inverse() * (body_inertia * spin - wanted);
    double share = 1.0;
    Vector3 next = spin - step;
    Vector3 next_wanted = turned(-dt * next, momentum);
    double next_size = (body_inertia * next - next_wanted).norm();
    while (!(next_size < size) && share > 1e-3) {
      share *= 0.5;
      next = spin - share * step;
      next_wanted = turned(-dt * next, momentum);
      next_size = (body_inertia * next - next_wanted).norm();
    }
    if (!(next_size < size)) break;  // rounding, or lost
    spin = next;
    wanted = next_wanted;
    size = next_size;
  }
  const bool converged = size <= 100.0 * goal;
  return pose.rotation * (converged ? spin : start);
}

}  // namespace signorini
