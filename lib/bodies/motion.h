#pragma once

#include <string_view>
#include <vector>

#include "linalg/types.h"

/// Scripted motion of kinematic bodies and pinned nodes, a pure function of time.
///
///     x(t) = pivot + d(t) + R(axis, φ(t)) (X − pivot),   τ = clamp(t, start, stop) − start
///     d(t) = velocity · τ + amplitude sin(2π frequency τ) + keyframes,   φ(t) = spin · τ + keyframes
///
/// with keyframe displacements and angles interpolated linearly in t and constant outside. X is the position
/// without motion.
namespace signorini {

/// x = rotation · X + translation.
struct MotionTransform {
  Matrix3 rotation = Matrix3::Identity();
  Vector3 translation = Vector3::Zero();  ///< m
};

struct Motion {
  Vector3 pivot = Vector3::Zero();        ///< m, world
  Vector3 axis{0.0, 0.0, 1.0};            ///< of the rotation; its length does not matter
  Vector3 velocity = Vector3::Zero();     ///< m/s
  double spin = 0.0;                      ///< rad/s
  Vector3 amplitude = Vector3::Zero();    ///< m
  double frequency = 0.0;                 ///< Hz
  double start = 0.0, stop = 1e30;        ///< s
  std::vector<double> key_time;           ///< s, strictly ascending; may be empty
  std::vector<Vector3> key_displacement;  ///< m, one per key time, or empty
  std::vector<double> key_angle;          ///< rad, one per key time, or empty

  /// True when every point stays at its X for all times.
  bool is_static() const;
  /// The same for all points of a body.
  MotionTransform transform(double time) const;
  Vector3 position(const Vector3& at_start, double time) const;
  /// Throws `UsageError` "<context>: …" for a number that is not finite, an axis of length 0, stop < start,
  /// a negative frequency, key times not strictly ascending, displacements or angles of another number than
  /// key times.
  void validate(std::string_view context) const;
};

}  // namespace signorini
