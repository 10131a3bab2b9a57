#include "collision/point_surface.h"

#include <Eigen/Geometry>
#include <algorithm>

namespace signorini {

namespace {

// Folds below 2° are curvature of a smooth surface, not a corner.
constexpr double kCosineOfCorner = 0.99939;
// Distances that differ by less are equal: the same edge seen from two triangles.
constexpr double kSameDistance = 1e-9;

/// c rises above the plane of a on the side of the point: the two form a groove.
bool folds_up(const NearTriangle& a, const NearTriangle& c) {
  return a.normal.dot(c.normal) < kCosineOfCorner && a.normal.dot(c.centroid - a.on.closest) > 0.0 &&
         c.normal.dot(a.centroid - c.on.closest) > 0.0;
}

/// The point is more beside than above the triangle. On an inner seam this never happens for the triangle
/// whose plane is farthest below, so it tells an open border. A point on the seam up to rounding is above it.
bool beside(const NearTriangle& nearest) {
  const double size = (nearest.centroid - nearest.on.closest).norm();
  return nearest.on.feature != TriangleFeature::face && nearest.on.distance > kSameDistance * size &&
         std::abs(nearest.gap) < 0.5 * nearest.on.distance;
}

}  // namespace

bool near_triangle(const Vector3& p, Index triangle, const Vector3& x_0, const Vector3& x_1,
                   const Vector3& x_2, NearTriangle& result) {
  const Vector3 normal = area_vector(x_0, x_1, x_2);
  const double length = normal.norm();
  if (!(length > 0.0)) return false;
  result.triangle = triangle;
  result.on = closest_point(p, x_0, x_1, x_2);
  result.normal = normal / length;
  result.centroid = (x_0 + x_1 + x_2) / 3.0;
  result.gap = result.normal.dot(p - result.on.closest);
  return true;
}

void select_contacts(std::vector<NearTriangle>& candidates, double distance_limit, double depth_limit) {
  std::erase_if(candidates,
                [&](const NearTriangle& c) { return c.gap < 0.0 && c.on.distance > depth_limit; });
  if (candidates.empty()) return;
  std::sort(candidates.begin(), candidates.end(), [](const NearTriangle& a, const NearTriangle& b) {
    return a.on.distance != b.on.distance ? a.on.distance < b.on.distance : a.triangle < b.triangle;
  });
  const double same = candidates.front().on.distance * (1.0 + kSameDistance) + 1e-15;
  std::size_t first = 0;
  for (std::size_t i = 1; i < candidates.size() && candidates[i].on.distance <= same; ++i) {
    if (candidates[i].gap > candidates[first].gap) first = i;
  }
  std::rotate(candidates.begin(), candidates.begin() + first, candidates.begin() + first + 1);
  const NearTriangle& nearest = candidates.front();
  if (beside(nearest)) {
    candidates.clear();
    return;
  }
  std::size_t kept = 1;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const NearTriangle& c = candidates[i];
    if (c.on.distance > distance_limit) break;
    const auto end = candidates.begin() + kept;
    if (std::all_of(candidates.begin(), end, [&c](const NearTriangle& a) { return folds_up(a, c); })) {
      std::swap(candidates[kept++], candidates[i]);
    }
  }
  candidates.resize(kept);
}

}  // namespace signorini
