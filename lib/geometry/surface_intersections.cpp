#include "geometry/surface_intersections.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>
#include <vector>

namespace signorini {

namespace {

struct Box {
  Vector3 low, high;
};

/// The segment (p, q) passes through the inside of the triangle (a, b, c): its ends lie on different sides of
/// the plane, and all edges of the triangle turn the same way round it.
bool passes_through(const Vector3& p, const Vector3& q, const Vector3& a, const Vector3& b,
                    const Vector3& c) {
  const Vector3 normal = area_vector(a, b, c);
  const double side_p = normal.dot(p - a);
  const double side_q = normal.dot(q - a);
  if (!((side_p > 0.0 && side_q < 0.0) || (side_p < 0.0 && side_q > 0.0))) return false;
  const Vector3 d = q - p;
  const double u = d.dot((a - p).cross(b - p));
  const double v = d.dot((b - p).cross(c - p));
  const double w = d.dot((c - p).cross(a - p));
  return (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0);
}

bool has(const Triangle& t, Index v) { return t[0] == v || t[1] == v || t[2] == v; }

/// An edge of s that has no vertex of t passes through t.
bool edge_through(const TriangleMesh& mesh, const Triangle& s, const Triangle& t) {
  const auto x = [&mesh](Index v) -> const Vector3& { return mesh.vertices[v]; };
  for (std::size_t e = 0; e < 3; ++e) {
    const Index p = s[e];
    const Index q = s[(e + 1) % 3];
    if (has(t, p) || has(t, q)) continue;
    if (passes_through(x(p), x(q), x(t[0]), x(t[1]), x(t[2]))) return true;
  }
  return false;
}

}  // namespace

std::optional<std::array<Index, 2>> first_self_intersection(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) return std::nullopt;
  std::vector<Box> boxes;
  boxes.reserve(mesh.triangles.size());
  Box all{mesh.vertices[mesh.triangles[0][0]], {}};
  all.high = all.low;
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vector3& a = mesh.vertices[i];
    const Vector3& b = mesh.vertices[j];
    const Vector3& c = mesh.vertices[k];
    boxes.push_back({a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)});
    all.low = all.low.cwiseMin(boxes.back().low);
    all.high = all.high.cwiseMax(boxes.back().high);
  }
  Eigen::Index axis = 0;
  (all.high - all.low).maxCoeff(&axis);
  std::vector<Index> order(boxes.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto box = [&boxes](Index t) -> const Box& { return boxes[t]; };
  std::sort(order.begin(), order.end(), [&](Index s, Index t) {
    return box(s).low[axis] != box(t).low[axis] ? box(s).low[axis] < box(t).low[axis] : s < t;
  });

  std::optional<std::array<Index, 2>> first;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Box& mine = box(order[i]);
    for (std::size_t j = i + 1; j < order.size() && box(order[j]).low[axis] <= mine.high[axis]; ++j) {
      const Box& other = box(order[j]);
      if ((mine.low.array() > other.high.array()).any() || (other.low.array() > mine.high.array()).any()) {
        continue;
      }
      const std::array<Index, 2> pair{std::min(order[i], order[j]), std::max(order[i], order[j])};
      if (first && *first < pair) continue;
      const Triangle& s = mesh.triangles[pair[0]];
      const Triangle& t = mesh.triangles[pair[1]];
      const auto shared = std::count_if(s.begin(), s.end(), [&t](Index v) { return has(t, v); });
      if (shared < 2 && (edge_through(mesh, s, t) || edge_through(mesh, t, s))) first = pair;
    }
  }
  return first;
}

}  // namespace signorini
