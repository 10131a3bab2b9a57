#pragma once

#include <limits>

#include "linalg/types.h"

namespace signorini {

/// Axis-aligned box; empty until extended. Boxes that touch overlap.
struct Aabb {
  Vector3 low = Vector3::Constant(std::numeric_limits<double>::infinity());    ///< m
  Vector3 high = Vector3::Constant(-std::numeric_limits<double>::infinity());  ///< m

  void extend(const Vector3& x) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  void extend(const Aabb& other) {
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
  }
  /// The box grown by `margin` on every side.
  Aabb inflated(double margin) const { return {low.array() - margin, high.array() + margin}; }
  bool overlaps(const Aabb& other) const {
    return (low.array() <= other.high.array()).all() && (other.low.array() <= high.array()).all();
  }
};

}  // namespace signorini
