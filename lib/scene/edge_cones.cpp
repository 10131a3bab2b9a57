#include "scene/edge_cones.h"

#include <algorithm>

namespace signorini {

namespace {

/// Impacts nearer to an end of an edge than this share of it are impacts of the vertex.
constexpr double kEnd = 1e-3;

Edge ordered(Index i, Index j) { return {std::min(i, j), std::max(i, j)}; }
bool at_end(double share) { return share < kEnd || share > 1.0 - kEnd; }

}  // namespace

EdgeCones::EdgeCones(const SurfaceModel& surface) {
  sides_.reserve(3 * surface.triangles.size());
  for (const Triangle& t : surface.triangles) {
    for (std::size_t c = 0; c < 3; ++c) sides_.push_back({ordered(t[c], t[(c + 1) % 3]), t[(c + 2) % 3]});
  }
  std::sort(sides_.begin(), sides_.end(), [](const Side& a, const Side& b) {
    return std::pair(a.edge, a.opposite) < std::pair(b.edge, b.opposite);
  });
}

std::span<const EdgeCones::Side> EdgeCones::sides(Index i, Index j) const {
  const Edge edge = ordered(i, j);
  const auto begin = std::lower_bound(sides_.begin(), sides_.end(), edge,
                                      [](const Side& side, const Edge& e) { return side.edge < e; });
  auto end = begin;
  while (end != sides_.end() && end->edge == edge) ++end;
  return {begin, end};
}

template <class Position>
double EdgeCones::overhang(Index i, Index j, const Vector3& d, const Position& x, Vector3& steepest) const {
  const Vector3 along = (x(j) - x(i)).normalized();
  double worst = -1.0;
  for (const Side& side : sides(i, j)) {
    const Vector3 across = x(side.opposite) - x(i);
    const Vector3 inward = (across - along.dot(across) * along).normalized();
    if (d.dot(inward) <= worst) continue;
    worst = d.dot(inward);
    steepest = inward;
  }
  return worst;
}

bool EdgeCones::contain(const SurfaceContact& contact, std::span<const Vector3> x) const {
  return contain(contact, contact.normal, x);
}

bool EdgeCones::contain(const SurfaceContact& contact, const Vector3& normal,
                        std::span<const Vector3> x) const {
  if (contact.key.kind == PairKind::vertex_face) return true;
  const auto& v = contact.key.vertex;
  const auto position = [&](Index i) -> const Vector3& { return x[i]; };
  Vector3 unused;
  return overhang(v[0], v[1], -normal, position, unused) <= kConeTolerance &&
         overhang(v[2], v[3], normal, position, unused) <= kConeTolerance;
}

Vector3 EdgeCones::clamped_normal(const SurfaceContact& contact, std::span<const Vector3> x0,
                                  std::span<const Vector3> x1) const {
  if (contact.key.kind == PairKind::vertex_face) return contact.normal;
  const auto x = [&](Index i) -> Vector3 { return x0[i] + contact.impact_time * (x1[i] - x0[i]); };
  const auto& v = contact.key.vertex;
  const bool free_a = at_end(contact.weight[1]);
  const bool free_b = at_end(-contact.weight[3]);
  Vector3 n = contact.normal;
  Vector3 m;
  const auto overhang_a = [&] { return free_a ? -1.0 : overhang(v[0], v[1], -n, x, m); };
  const auto overhang_b = [&] { return free_b ? -1.0 : overhang(v[2], v[3], n, x, m); };
  // Outside the cone the nearest direction orthogonal to the edge is the normal of the face it leans over.
  const auto lean_back = [&](double overhanging) {
    if (overhanging <= kConeTolerance) return true;
    n -= n.dot(m) * m;
    const double length = n.norm();
    n /= length;
    return length > kConeTolerance;
  };
  if (!lean_back(overhang_b()) || !lean_back(overhang_a())) return contact.normal;
  if (overhang_a() > kConeTolerance || overhang_b() > kConeTolerance) return contact.normal;
  return n;
}

}  // namespace signorini
