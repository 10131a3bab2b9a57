#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

struct BucketShape {
  double floor_radius = 0.3;  ///< m
  double rim_radius = 0.4;    ///< m
  double height = 0.5;        ///< m
  int segments = 24;          ///< panels around the axis, ≥ 3
};

/// Open frustum with a floor disc, standing on z = 0 around the z axis; triangles face the inside. The side
/// is a prism of flat panels, the floor a fan around its centre: 2·segments + 1 vertices, 3·segments
/// triangles. Throws `UsageError` for sizes that are not positive or fewer than 3 segments.
TriangleMesh bucket(const BucketShape& shape);

/// Square [−extent, extent]² at z = 0 facing +z, two triangles.
TriangleMesh ground(double extent);

}  // namespace signorini
