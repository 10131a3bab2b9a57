#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

/// The part of a triangle on which the closest point lies.
enum class TriangleFeature { face, edge, vertex };

struct PointTriangle {
  Vector3 barycentric;    ///< (a, b, c) ≥ 0, sum 1: closest point = a x_0 + b x_1 + c x_2
  Vector3 closest;        ///< m
  double distance = 0.0;  ///< ‖p − closest‖, m
  TriangleFeature feature = TriangleFeature::face;
};

/// Closest point of a triangle to p: the projection when it falls inside, else the nearest of the three
/// edges. A degenerate triangle is treated as its longest edge or as a point; the result is always finite.
/// Off the face at least one barycentric weight is exactly zero.
PointTriangle closest_point(const Vector3& p, const Vector3& x_0, const Vector3& x_1, const Vector3& x_2);

}  // namespace signorini
