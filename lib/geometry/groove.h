#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

struct GrooveShape {
  double track_radius = 0.2;  ///< of the circle that the middle of the section runs along, m
  double radius = 0.05;       ///< of the section, m
  double from_deg = -60.0;    ///< the section's arc: 0 is outward, 90 up
  double to_deg = 60.0;
  Index segments = 64;  ///< around the z axis, ≥ 3
  Index bands = 12;     ///< along the arc, ≥ 1
};

/// Track of a ball bearing: a strip of a torus around the z axis, centred at the origin, that faces the
/// inside of its tube. The default is the outer race; with the arc 120 … 240 it is the inner one.
///
///     vertices  segments (bands + 1),   triangles  2 segments bands
///
/// Throws `UsageError` for radii ≤ 0, a section that reaches the axis, an arc outside (0, 360) degrees, and
/// counts outside their range or above 10,000.
TriangleMesh groove(const GrooveShape& shape);

}  // namespace signorini
