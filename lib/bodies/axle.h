#pragma once

#include <string_view>

#include "linalg/types.h"

namespace signorini {

/// What holds and drives a rigid body that turns in bearings: it can only turn about the fixed direction a through its
/// centre of mass and, where it `slides`, move along it. The bearings carry all other forces and do no work.
///
/// The drive turns it with the torque (N·m) of a straight line over the speed ω (rad/s), as of a motor:
///
///     τ(ω) = τ₀ + c (ω₀ − ω)                 no-load speed ω₀ + τ₀/c; c = 0: constant torque; all 0: it runs freely
///
/// A step of backward Euler takes the torque at its end. With the moment of inertia I about a, the mass m, gravity g
/// and the contact impulses r, whose rows are restricted to a,
///
///     (I + dt c) ω⁺ = I ω + dt (τ₀ + c ω₀) + a·(H r)_ω,        m v⁺ = m v + dt m a·g + a·(H r)_v
///
/// so speeds approach the no-load speed without oscillation, whatever dt. In the blocks of `BodySystem` both are
/// vectors along a: the matrix has I in all three directions and dt c along a, and no row reaches across a.
struct Axle {
  Vector3 axis{0.0, 0.0, 1.0};  ///< a; its length does not matter
  bool slides = false;
  double torque = 0.0;  ///< τ₀, N·m
  double speed = 0.0;   ///< ω₀, rad/s
  double slope = 0.0;   ///< c ≥ 0, N·m·s

  double torque_at(double angular_speed) const { return torque + slope * (speed - angular_speed); }
  /// Throws `UsageError` "<context>: …" for a number that is not finite, an axis of length 0, c < 0.
  void validate(std::string_view context) const;
};

}  // namespace signorini
