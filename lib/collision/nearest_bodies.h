#pragma once

#include <optional>
#include <span>

#include "bodies/surface_model.h"

/// The least distance between two bodies: what a scene in which nothing touches says about itself.
namespace signorini {

struct NearestBodies {
  Index a = -1, b = -1;   ///< bodies, a < b
  double distance = 0.0;  ///< m
};

/// Over all pairs of vertex and face and of two edges of different bodies, at least one of them movable: exact
/// up to the rounding of the coordinates (collision/closest_features.h). Nothing for fewer than two bodies. Of
/// equal distances the first pair. What lies inside another body counts by its distance from the surface.
/// `x`: one position per surface vertex, m. For the end of a run, not for every step.
std::optional<NearestBodies> nearest_bodies(const SurfaceModel& surface, std::span<const Vector3> x);

}  // namespace signorini
