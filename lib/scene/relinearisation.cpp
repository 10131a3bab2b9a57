#include "scene/relinearisation.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace signorini {

namespace {

constexpr double kDegree = std::numbers::pi / 180.0;
constexpr double kSideKnown =
    60.0;  // degrees between a normal and the one that orients it; near 90 the sign is arbitrary

/// The smallest of the face's weights: ≥ 0 inside, the more negative the farther outside.
double smallest_face_weight(const std::array<double, 4>& weight) {
  return std::min({-weight[1], -weight[2], -weight[3]});
}

/// Where the contact is on b and which way its first edge points.
void place(SurfaceContact& contact, std::span<const Vector3> x) {
  const auto& vertex = contact.key.vertex;
  const bool face = contact.key.kind == PairKind::vertex_face;
  contact.position.setZero();
  for (std::size_t i = face ? 1 : 2; i < 4; ++i) contact.position -= contact.weight[i] * x[vertex[i]];
  const Vector3 edge = face ? Vector3(x[vertex[2]] - x[vertex[1]]) : Vector3(x[vertex[3]] - x[vertex[2]]);
  if (edge.norm() > 0.0) contact.tangent = edge.normalized();
}

}  // namespace

bool slid_off(PairKind kind, const std::array<double, 4>& weight) {
  const auto outside = [](double share) { return share < -kSlideMargin || share > 1.0 + kSlideMargin; };
  if (kind == PairKind::vertex_face) return outside(-weight[1]) || outside(-weight[2]) || outside(-weight[3]);
  return outside(weight[1]) || outside(-weight[3]);
}

double angle_between(const Vector3& a, const Vector3& b) {
  return std::atan2(a.cross(b).norm(), a.dot(b)) / kDegree;
}

Vector3 turned_normal(const Vector3& n, const Vector3& next, double largest_turn) {
  const double angle = angle_between(n, next);
  if (angle <= largest_turn) return next;
  const Vector3 across = next - n.dot(next) * n;
  if (!(across.norm() > 0.0)) return n;  // turned right round: no plane to turn in
  return (std::cos(largest_turn * kDegree) * n + std::sin(largest_turn * kDegree) * across.normalized())
      .normalized();
}

double gap_at_end(const Vector3& solved, const PairGeometry& geometry) {
  return angle_between(solved, geometry.normal) > kSideKnown ? std::abs(geometry.gap) : geometry.gap;
}

void relinearise(SurfaceContact& contact, const PairGeometry& geometry, double largest_turn,
                 std::span<const Vector3> x0, std::span<const Vector3> x1) {
  contact.normal = turned_normal(contact.normal, geometry.normal, largest_turn);
  contact.weight = geometry.weight;
  place(contact, x1);
  const Vector3 position = contact.position;
  update_gap(contact, x0);
  contact.position = position;
}

FaceNeighbours::FaceNeighbours(const SurfaceModel& surface)
    : surface_(surface), begin_(surface.vertices() + 1, 0) {
  for (const Triangle& t : surface.triangles) {
    for (const Index v : t) ++begin_[v + 1];
  }
  for (std::size_t v = 1; v < begin_.size(); ++v) begin_[v] += begin_[v - 1];
  triangle_.resize(3 * surface.triangles.size());
  std::vector<Index> next(begin_.begin(), begin_.end() - 1);
  for (Index t = 0; t < count(surface.triangles); ++t) {
    for (const Index v : surface.triangles[t]) triangle_[next[v]++] = t;
  }
}

std::optional<SurfaceContact> FaceNeighbours::find(const SurfaceContact& contact, std::span<const Vector3> x0,
                                                   std::span<const Vector3> x1) const {
  const auto& key = contact.key.vertex;
  std::optional<SurfaceContact> best;
  double best_weight = -kSlideMargin;
  Index best_triangle = -1;
  for (std::size_t corner = 1; corner < 4; ++corner) {
    for (Index i = begin_[key[corner]]; i < begin_[key[corner] + 1]; ++i) {
      const Index triangle = triangle_[i];
      const Triangle& t = surface_.triangles[triangle];
      if (std::find(t.begin(), t.end(), key[0]) != t.end()) continue;
      SurfaceContact candidate = contact;
      candidate.key.vertex = {key[0], t[0], t[1], t[2]};
      candidate.feature[1] = triangle;
      if (candidate.key == contact.key) continue;
      const auto geometry = pair_geometry(candidate, x1);
      if (!geometry) continue;
      const double weight = smallest_face_weight(geometry->weight);
      if (weight < best_weight || (weight == best_weight && triangle >= best_triangle && best)) continue;
      relinearise(candidate, *geometry, 180.0, x0, x1);
      best = candidate;
      best_weight = weight;
      best_triangle = triangle;
    }
  }
  return best;
}

}  // namespace signorini
