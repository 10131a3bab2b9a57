#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/continuous.h"

namespace signorini {

namespace {

// Rounding of q · (u × v) over ‖q‖ ‖u × v‖, see collision/continuous.cpp.
constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();
// Height over longest edge of a face without a normal.
constexpr double kFlat = 1e-6;
// Weights outside by this are inside: no gap between two faces that share an edge.
constexpr double kInside = 1e-9;

/// Orients n (length `length`) to the side of a, which is q · n away; `outer` where that is rounding.
void orient(Proximity& pair, const Vector3& n, double length, double volume, double rounding, double outer) {
  const bool touching = std::abs(volume) <= rounding;
  const double side = touching ? outer : volume;
  pair.normal = n * ((side < 0.0 ? -1.0 : 1.0) / length);
  pair.gap = touching && side * volume < 0.0 ? 0.0 : std::abs(volume) / length;
}

}  // namespace

std::optional<Proximity> vertex_face_proximity(const std::array<Vector3, 4>& x) {
  const Vector3 q = x[0] - x[1], u = x[2] - x[1], v = x[3] - x[1];
  const Vector3 n = u.cross(v);
  const double n2 = n.squaredNorm();
  // Signed areas of the sub-triangles; the signs decide before anything is divided.
  const double b = n.dot(q.cross(v)), c = n.dot(u.cross(q));
  const double slack = kInside * n2;
  if (!(b >= -slack && c >= -slack && b + c <= n2 + slack)) return {};
  const double edge2 = std::max({u.squaredNorm(), v.squaredNorm(), (u - v).squaredNorm()});
  if (!(n2 > kFlat * kFlat * edge2 * edge2)) return {};
  Proximity pair;
  const double t_1 = b / n2, t_2 = c / n2;
  pair.weight = {1.0, -(1.0 - t_1 - t_2), -t_1, -t_2};
  orient(pair, n, std::sqrt(n2), q.dot(n), kRounding * q.norm() * u.norm() * v.norm(), 1.0);
  return pair;
}

std::optional<Proximity> edge_edge_proximity(const std::array<Vector3, 4>& x, const Vector3& outside) {
  const Vector3 q = x[0] - x[2], u = x[1] - x[0], v = x[3] - x[2];
  const Vector3 n = u.cross(v);
  const double n2 = n.squaredNorm();
  const double s = n.dot(v.cross(q)), t = n.dot(u.cross(q));
  const double slack = kInside * n2;
  if (!(std::min(s, t) >= -slack && std::max(s, t) <= n2 + slack)) return {};
  const double product2 = u.squaredNorm() * v.squaredNorm();
  if (!(n2 > kParallelSine * kParallelSine * product2)) return {};
  Proximity pair;
  pair.weight = {1.0 - s / n2, s / n2, -(1.0 - t / n2), -(t / n2)};
  orient(pair, n, std::sqrt(n2), q.dot(n), kRounding * q.norm() * std::sqrt(product2), n.dot(outside));
  return pair;
}

}  // namespace signorini
