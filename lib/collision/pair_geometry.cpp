#include <Eigen/Geometry>
#include <cmath>

#include "collision/contact_finder.h"

#include <Eigen/Geometry>

namespace signorini {

namespace {

constexpr double kParallel = 1e-3;  // sine of the angle of two edges (docs/theory.md, T22)

std::array<Vector3, 4> corners(const PairKey& key, std::span<const Vector3> x) {
  std::array<Vector3, 4> p;
  for (std::size_t i = 0; i < 4; ++i) p[i] = x[key.vertex[i]];
  return p;
}

/// Closest point of p[0] in the plane of the other three.
std::optional<PairGeometry> vertex_plane(const std::array<Vector3, 4>& p) {
  const Vector3 u = p[2] - p[1], v = p[3] - p[1], r = p[0] - p[1];
  const Vector3 area = u.cross(v);
  const double square = area.squaredNorm();
  if (!(square > 0.0)) return std::nullopt;
  const double b = r.cross(v).dot(area) / square, c = u.cross(r).dot(area) / square;
  PairGeometry geometry;
  geometry.normal = area / std::sqrt(square);
  geometry.weight = {1.0, -(1.0 - b - c), -b, -c};
  return geometry;
}

/// Closest points of the lines p[0] p[1] and p[2] p[3].
std::optional<PairGeometry> line_line(const std::array<Vector3, 4>& p) {
  const Vector3 a = p[1] - p[0], b = p[3] - p[2], r = p[2] - p[0];
  const Vector3 across = a.cross(b);
  const double square = across.squaredNorm();
  if (!(square > kParallel * kParallel * a.squaredNorm() * b.squaredNorm())) return std::nullopt;
  const double s = r.cross(b).dot(across) / square, t = r.cross(a).dot(across) / square;
  PairGeometry geometry;
  geometry.normal = across / std::sqrt(square);
  geometry.weight = {1.0 - s, s, -(1.0 - t), -t};
  return geometry;
}

}  // namespace

void update_gap(SurfaceContact& contact, std::span<const Vector3> x) {
  const std::array<Vector3, 4> p = corners(contact.key, x);
  const std::size_t first_of_b = contact.key.kind == PairKind::vertex_face ? 1 : 2;
  Vector3 apart = Vector3::Zero();
  contact.position.setZero();
  for (std::size_t i = 0; i < 4; ++i) {
    apart += contact.weight[i] * p[i];
    if (i >= first_of_b) contact.position -= contact.weight[i] * p[i];
  }
  contact.gap = contact.normal.dot(apart);
}

std::optional<PairGeometry> pair_geometry(const SurfaceContact& contact, std::span<const Vector3> x) {
  const std::array<Vector3, 4> p = corners(contact.key, x);
  auto geometry = contact.key.kind == PairKind::vertex_face ? vertex_plane(p) : line_line(p);
  if (!geometry) return geometry;
  if (geometry->normal.dot(contact.normal) < 0.0) geometry->normal = -geometry->normal;
  Vector3 apart = Vector3::Zero();
  for (std::size_t i = 0; i < 4; ++i) apart += geometry->weight[i] * p[i];
  geometry->gap = geometry->normal.dot(apart);
  return geometry;
}

}  // namespace signorini
