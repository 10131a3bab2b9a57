#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/check.h"
#include "collision/aabb.h"
#include "collision/contact_finder.h"

/// Edges through triangles, by the signs of tetrahedron volumes. Deliberately shares no code with the
/// finder's broad phases and with continuous detection, which it checks.
namespace signorini {

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();
constexpr std::size_t kBruteForce = 32;  // edges times triangles worth no further split: the square of this

/// Sign of the volume (a − d, b − d, c − d), 0 where it could come from the rounding of the coordinates
/// themselves: points closer than a few units of their largest coordinate to a plane lie in it.
struct Orientation {
  std::span<const Vector3> x;

  double operator()(Index a, Index b, Index c, Index d) const {
    const Vector3 &p = x[a], &q = x[b], &r = x[c], &o = x[d];
    const Vector3 u = p - o, v = q - o, w = r - o;
    const double l_u = u.norm(), l_v = v.norm(), l_w = w.norm();
    const double largest = std::max(
        {p.cwiseAbs().maxCoeff(), q.cwiseAbs().maxCoeff(), r.cwiseAbs().maxCoeff(), o.cwiseAbs().maxCoeff()});
    const double volume = u.dot(v.cross(w));
    const double rounding =
        kUnit * (8.0 * l_u * l_v * l_w + 4.0 * largest * (l_u * l_v + l_v * l_w + l_w * l_u));
    return std::abs(volume) > rounding ? volume : 0.0;
  }
  /// The same for a line p q and an edge i j: exactly opposite for the edge the other way round, so the two
  /// triangles of an edge agree on which side the line passes.
  double around(Index p, Index q, Index i, Index j) const {
    return i < j ? (*this)(p, q, i, j) : -(*this)(p, q, j, i);
  }
};

int sign(double value) { return (value > 0.0) - (value < 0.0); }

struct Hit {
  Index edge, triangle;
  Vector3 position;
};

/// An edge that crosses a triangle's plane on the triangle's border.
struct BorderHit {
  Index edge;
  std::array<Index, 2> feature;  ///< vertices of the crossed mesh edge; (v, −1) of a vertex
  Index triangle;
  double turn;  ///< signed angle under which the triangle is seen along the edge
  Vector3 position;
};

class Crossings {
 public:
  Crossings(const SurfaceModel& surface, std::span<const Vector3> x) : surface_(surface), x_(x), side_{x} {}

  void test(Index edge, Index triangle) {
    if (best_ && std::pair(edge, triangle) >= std::pair(best_->edge, best_->triangle)) return;
    if (!admissible(edge, triangle)) return;
    const auto& [p, q] = surface_.edges[edge];
    const Triangle& t = surface_.triangles[triangle];
    const double above = side_(t[0], t[1], t[2], p), below = side_(t[0], t[1], t[2], q);
    if (sign(above) * sign(below) >= 0) return;
    std::array<int, 3> around;
    for (std::size_t i = 0; i < 3; ++i) around[i] = sign(side_.around(p, q, t[i], t[(i + 1) % 3]));
    const auto [low, high] = std::minmax_element(around.begin(), around.end());
    if (*low * *high < 0) return;
    const Vector3 position = x_[p] + above / (above - below) * (x_[q] - x_[p]);
    if (*low != 0 && *high != 0) {
      best_ = Hit{edge, triangle, position};
    } else {
      add_border_hit(edge, triangle, around, sign(above), position);
    }
  }

  /// The first hit. An edge that meets the border of a triangle passes through the surface if the triangles
  /// around that border wind once around it; if it only touches a ridge or a tip, they do not.
  std::optional<Hit> first() {
    std::sort(border_.begin(), border_.end(), [](const BorderHit& a, const BorderHit& b) {
      return std::tie(a.edge, a.feature, a.triangle) < std::tie(b.edge, b.feature, b.triangle);
    });
    for (std::size_t i = 0, end = 0; i < border_.size(); i = end) {
      const BorderHit& first = border_[i];
      double turns = 0.0;
      for (end = i;
           end < border_.size() && border_[end].edge == first.edge && border_[end].feature == first.feature;
           ++end) {
        // The splitting below may have brought a pair here twice.
        if (end == i || border_[end].triangle != border_[end - 1].triangle) turns += border_[end].turn;
      }
      if (std::abs(turns) < 1.5 * std::numbers::pi) continue;
      if (!best_ || std::pair(first.edge, first.triangle) < std::pair(best_->edge, best_->triangle)) {
        best_ = Hit{first.edge, first.triangle, first.position};
      }
    }
    return best_;
  }

 private:
  bool admissible(Index edge, Index triangle) const {
    const Index a = surface_.edge_body[edge], b = surface_.triangle_body[triangle];
    const auto &body_a = surface_.bodies[a], &body_b = surface_.bodies[b];
    if (a != b) return body_a.movable || body_b.movable;
    if (!body_a.deformable) return false;
    const Edge& e = surface_.edges[edge];
    const Triangle& t = surface_.triangles[triangle];
    return std::none_of(t.begin(), t.end(), [&e](Index v) { return v == e[0] || v == e[1]; });
  }

  void add_border_hit(Index edge, Index triangle, const std::array<int, 3>& around, int direction,
                      const Vector3& position) {
    const Triangle& t = surface_.triangles[triangle];
    const auto zeros = std::count(around.begin(), around.end(), 0);
    if (zeros == 3) return;  // a triangle without area as seen along the edge
    BorderHit hit{edge, {-1, -1}, triangle, direction * std::numbers::pi, position};
    for (std::size_t i = 0; i < 3; ++i) {
      const Index from = t[i], to = t[(i + 1) % 3], before = t[(i + 2) % 3];
      if (zeros == 1 && around[i] == 0) hit.feature = {std::min(from, to), std::max(from, to)};
      if (zeros == 2 && around[i] == 0 && around[(i + 2) % 3] == 0) {
        hit.feature = {from, -1};
        hit.turn = direction * angle_along(surface_.edges[edge], from, to, before);
      }
    }
    border_.push_back(hit);
  }

  /// Angle between the edges v i and v j seen along `edge`.
  double angle_along(const Edge& edge, Index v, Index i, Index j) const {
    const Vector3 axis = (x_[edge[1]] - x_[edge[0]]).normalized();
    const Vector3 a = axis.cross(x_[i] - x_[v]), b = axis.cross(x_[j] - x_[v]);
    return std::atan2(a.cross(b).norm(), a.dot(b));
  }

  const SurfaceModel& surface_;
  std::span<const Vector3> x_;
  Orientation side_;
  std::optional<Hit> best_;
  std::vector<BorderHit> border_;
};

/// Hands all pairs of overlapping boxes to `crossings`, some more than once: splits space at the median of
/// the boxes' centres until few pairs are left. O(n log n + pairs) for surfaces of triangles of similar size.
class BoxSplitter {
 public:
  BoxSplitter(std::vector<Aabb> edges, std::vector<Aabb> triangles, Crossings& crossings)
      : edge_box_(std::move(edges)), triangle_box_(std::move(triangles)), crossings_(crossings) {}

  void run() {
    std::vector<Index> edges(edge_box_.size()), triangles(triangle_box_.size());
    for (Index i = 0; i < count(edges); ++i) edges[i] = i;
    for (Index i = 0; i < count(triangles); ++i) triangles[i] = i;
    split(edges, triangles, 0, 0);
  }

 private:
  void split(std::vector<Index>& edges, std::vector<Index>& triangles, Index axis, int failures) {
    if (edges.empty() || triangles.empty()) return;
    const bool hopeless = failures == 3;  // along each axis most boxes contain the middle
    if (hopeless || edges.size() * triangles.size() <= kBruteForce * kBruteForce) {
      for (const Index e : edges) {
        for (const Index t : triangles) {
          if (edge_box_[e].overlaps(triangle_box_[t])) crossings_.test(e, t);
        }
      }
      return;
    }
    const double middle = median(triangles, axis);
    auto [edges_low, edges_high] = halves(edge_box_, edges, axis, middle);
    auto [triangles_low, triangles_high] = halves(triangle_box_, triangles, axis, middle);
    const std::size_t before = edges.size() + triangles.size();
    const std::size_t after =
        edges_low.size() + edges_high.size() + triangles_low.size() + triangles_high.size();
    const std::size_t larger =
        std::max(edges_low.size() + triangles_low.size(), edges_high.size() + triangles_high.size());
    const Index next = (axis + 1) % 3;
    if (2 * after > 3 * before || 10 * larger > 9 * before)
      return split(edges, triangles, next, failures + 1);
    std::vector<Index>().swap(edges);
    std::vector<Index>().swap(triangles);
    split(edges_low, triangles_low, next, 0);
    split(edges_high, triangles_high, next, 0);
  }

  double median(const std::vector<Index>& triangles, Index axis) {
    centres_.clear();
    for (const Index t : triangles)
      centres_.push_back(0.5 * (triangle_box_[t].low[axis] + triangle_box_[t].high[axis]));
    const auto middle = centres_.begin() + centres_.size() / 2;
    std::nth_element(centres_.begin(), middle, centres_.end());
    return *middle;
  }

  static std::pair<std::vector<Index>, std::vector<Index>> halves(const std::vector<Aabb>& boxes,
                                                                  const std::vector<Index>& members,
                                                                  Index axis, double middle) {
    std::pair<std::vector<Index>, std::vector<Index>> result;
    for (const Index i : members) {
      if (boxes[i].low[axis] <= middle) result.first.push_back(i);
      if (boxes[i].high[axis] >= middle) result.second.push_back(i);
    }
    return result;
  }

  std::vector<Aabb> edge_box_, triangle_box_;
  Crossings& crossings_;
  std::vector<double> centres_;
};

template <class Feature>
std::vector<Aabb> boxes_of(const std::vector<Feature>& features, std::span<const Vector3> x) {
  std::vector<Aabb> boxes(features.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (const Index v : features[i]) boxes[i].extend(x[v]);
  }
  return boxes;
}

}  // namespace

std::optional<Intersection> find_intersection(const SurfaceModel& surface, std::span<const Vector3> x) {
  SIGNORINI_CHECK(count(x) == surface.vertices());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x[i].allFinite()) {
      throw_input("position of surface vertex {} (body {}) is ({}, {}, {}): not a finite number", i,
                  surface.vertex_body[i], x[i][0], x[i][1], x[i][2]);
    }
  }
  Crossings crossings(surface, x);
  BoxSplitter(boxes_of(surface.edges, x), boxes_of(surface.triangles, x), crossings).run();
  const auto hit = crossings.first();
  if (!hit) return {};
  return Intersection{hit->edge, hit->triangle, surface.edge_body[hit->edge],
                      surface.triangle_body[hit->triangle], hit->position};
}

}  // namespace signorini
