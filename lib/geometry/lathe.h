#pragma once

#include <utility>
#include <vector>

#include "geometry/triangle_mesh.h"

/// Closed surfaces of revolution around the z axis, outward, centred at the origin.
namespace signorini {

/// Turns a profile of (radius, z), z ascending, around the z axis: `segments` vertices per profile point,
/// then one below and one above on the axis that close the ends by fans.
///
///     vertices  points · segments + 2,   triangles  2 points · segments
///
/// Throws `UsageError` "<what>: …" for fewer than 3 or more than 10,000 segments, radii that are not
/// positive, and numbers that are not finite.
TriangleMesh lathe_surface(const std::vector<std::pair<double, double>>& profile, double bottom, double top,
                           Index segments, const char* what);

/// Cylinder of `rings` bands with flat ends: (rings + 1) segments + 2 vertices, 2 (rings + 1) segments
/// triangles. It is inscribed: the distance of its vertices to the axis is the radius.
TriangleMesh cylinder_surface(double radius, double height, Index segments = 64, Index rings = 1);

/// Cylinder of this length with half spheres of `rings` bands at both ends (height length + 2 radius): 2
/// rings segments + 2 vertices, 4 rings segments triangles. Length 0 is refused.
TriangleMesh capsule_surface(double radius, double length, Index segments = 24, Index rings = 6);

}  // namespace signorini
