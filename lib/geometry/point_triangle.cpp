#include "geometry/point_triangle.h"

#include <Eigen/Geometry>
#include <algorithm>

namespace signorini {

namespace {

PointTriangle at(const Vector3& p, const std::array<const Vector3*, 3>& x, const Vector3& weights,
                 TriangleFeature feature) {
  PointTriangle result;
  result.barycentric = weights;
  result.closest = weights[0] * *x[0] + weights[1] * *x[1] + weights[2] * *x[2];
  result.distance = (p - result.closest).norm();
  result.feature = feature;
  return result;
}

/// Closest point of the segment between corners i and j.
PointTriangle on_edge(const Vector3& p, const std::array<const Vector3*, 3>& x, Index i, Index j) {
  const Vector3 edge = *x[j] - *x[i];
  const double length2 = edge.squaredNorm();
  const double s = length2 > 0.0 ? std::clamp(edge.dot(p - *x[i]) / length2, 0.0, 1.0) : 0.0;
  Vector3 weights = Vector3::Zero();
  weights[i] = 1.0 - s;
  weights[j] = s;
  return at(p, x, weights, s > 0.0 && s < 1.0 ? TriangleFeature::edge : TriangleFeature::vertex);
}

}  // namespace

PointTriangle closest_point(const Vector3& p, const Vector3& x_0, const Vector3& x_1, const Vector3& x_2) {
  const std::array<const Vector3*, 3> x{&x_0, &x_1, &x_2};
  const Vector3 normal = area_vector(x_0, x_1, x_2);
  const double area2 = normal.squaredNorm();
  // Barycentric weights of the projection: signed areas of the three sub-triangles over the whole.
  if (area2 > 0.0) {
    const double a = normal.dot(area_vector(p, x_1, x_2)) / area2;
    const double b = normal.dot(area_vector(p, x_2, x_0)) / area2;
    const double c = 1.0 - a - b;
    if (a > 0.0 && b > 0.0 && c > 0.0) return at(p, x, {a, b, c}, TriangleFeature::face);
  }
  // Outside the face region the closest point is on the border.
  PointTriangle best = on_edge(p, x, 0, 1);
  for (const auto& [i, j] : {std::pair<Index, Index>{1, 2}, {2, 0}}) {
    const PointTriangle candidate = on_edge(p, x, i, j);
    if (candidate.distance < best.distance) best = candidate;
  }
  return best;
}

}  // namespace signorini
