#pragma once

#include <string_view>
#include <vector>

#include "linalg/types.h"

/// Scripted motion of kinematic bodies and pinned nodes, a pure function of time.
///
///     x(t) = pivot + d(t) + R(axis, φ(t)) (X − pivot)
///     d(t) = velocity · τ + amplitude sin(2π frequency τ) + keyframes,   φ(t) = spin · τ + keyframes,   τ =
///     clamp(t, start, stop) − start
///
/// with keyframe displacements and angles interpolated linearly in t and constant outside. X is the position
/// at the start.
namespace signorini {

struct Motion {
  Vector3 pivot = Vector3::Zero();        ///< m, world
  Vector3 axis{0.0, 0.0, 1.0};            ///< unit
  Vector3 velocity = Vector3::Zero();     ///< m/s
  double spin = 0.0;                      ///< rad/s
  Vector3 amplitude = Vector3::Zero();    ///< m
  double frequency = 0.0;                 ///< Hz
  double start = 0.0, stop = 1e30;        ///< s
  std::vector<double> key_time;           ///< s, strictly ascending; may be empty
  std::vector<Vector3> key_displacement;  ///< m, one per key time
  std::vector<double> key_angle;          ///< rad, one per key time

  bool is_static() const;
  Vector3 position(const Vector3& at_start, double time) const;
  /// Throws `UsageError` "<context>: …" for an axis of length 0, keys not ascending or of unequal number,
  /// stop < start.
  void validate(std::string_view context) const;
};

}  // namespace signorini
