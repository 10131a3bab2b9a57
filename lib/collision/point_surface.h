#pragma once

#include <span>
#include <vector>

#include "geometry/point_triangle.h"

/// Which triangles of one surface a point is in contact with.
namespace signorini {

/// One triangle near the point.
struct NearTriangle {
  Index triangle = -1;
  PointTriangle on;  ///< closest point with its barycentric weights
  Vector3 normal;    ///< unit face normal
  Vector3 centroid;  ///< m
  double gap = 0.0;  ///< n · (p − closest): the signed gap of the contact, m
};

/// Geometry of p against the triangle `triangle` with corners x_0, x_1, x_2. False for a triangle without
/// area.
bool near_triangle(const Vector3& p, Index triangle, const Vector3& x_0, const Vector3& x_1,
                   const Vector3& x_2, NearTriangle& result);

/// Keeps of all `candidates` of one surface those that the point touches, nearest first, so that a surface is
/// touched once although it is made of triangles:
///
///  1. the nearest triangle; of several at the same distance (the closest point is on a shared edge or
///  vertex) the one
///     whose plane is farthest below the point. Beside an open border, where the point is more beside than
///     above the triangle (|gap| < distance/2), there is no contact;
///  2. any further triangle that folds up towards the point against all kept ones (a corner of floor and wall
///  needs both
///     normals) and is within `distance_limit`. Coplanar and convex neighbours are dropped.
///
/// Candidates below whose plane the point lies at a distance above `depth_limit` are ignored: it is behind a
/// thin surface or beyond its border.
void select_contacts(std::vector<NearTriangle>& candidates, double distance_limit, double depth_limit);

}  // namespace signorini
