#include "collision/nearest_bodies.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "collision/aabb.h"
#include "collision/closest_features.h"

namespace signorini {

namespace {

/// A range of features of one kind.
struct Range {
  Index begin = 0, end = 0;
};

struct Body {
  Range vertices, triangles, edges;
  bool movable = true;
  Aabb box;
};

std::vector<Body> bodies_of(const SurfaceModel& surface, std::span<const Vector3> x) {
  std::vector<Body> bodies;
  SurfaceModel::Body before;
  for (const SurfaceModel::Body& b : surface.bodies) {
    Body body{{before.vertices, b.vertices},
              {before.triangles, b.triangles},
              {before.edges, b.edges},
              b.movable,
              {}};
    for (Index v = body.vertices.begin; v < body.vertices.end; ++v) body.box.extend(x[v]);
    bodies.push_back(body);
    before = b;
  }
  return bodies;
}

double distance(const Aabb& a, const Aabb& b) {
  return (a.low - b.high).cwiseMax(b.low - a.high).cwiseMax(0.0).norm();
}

/// Of one pair of bodies, as far as it is below `best`.
class PairDistance {
 public:
  PairDistance(const SurfaceModel& surface, std::span<const Vector3> x, double best)
      : surface_(surface), x_(x), best_(best) {}

  double between(const Body& a, const Body& b) {
    best_ = std::min(best_, along_vertices(a, b));
    faces(a, b);
    faces(b, a);
    edges(a, b);
    return best_;
  }

 private:
  struct Feature {
    Index number;
    Aabb box;
  };

  /// An upper bound: from vertex to nearest vertex and back.
  double along_vertices(const Body& a, const Body& b) const {
    Vector3 here = 0.5 * (b.box.low + b.box.high);
    double bound = std::numeric_limits<double>::infinity();
    for (const Body* body : {&a, &b, &a}) {
      Index nearest = body->vertices.begin;
      for (Index v = nearest; v < body->vertices.end; ++v) {
        if ((x_[v] - here).squaredNorm() < (x_[nearest] - here).squaredNorm()) nearest = v;
      }
      bound = (x_[nearest] - here).norm();
      here = x_[nearest];
    }
    return bound;
  }

  /// Features of `range` that come near the box at all, by their lower ends along x.
  template <class Vertices>
  std::vector<Feature> near(Range range, const Aabb& other, Vertices vertices) const {
    std::vector<Feature> found;
    for (Index k = range.begin; k < range.end; ++k) {
      Aabb box;
      for (const Index v : vertices(k)) box.extend(x_[v]);
      if (distance(box, other) <= best_) found.push_back({k, box});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Feature& l, const Feature& r) { return l.box.low[0] < r.box.low[0]; });
    return found;
  }

  template <class Visit>
  void pairs(const std::vector<Feature>& a, const std::vector<Feature>& b, Visit visit) {
    for (const Feature& feature : a) {
      for (const Feature& other : b) {
        if (other.box.low[0] > feature.box.high[0] + best_) break;
        if (distance(feature.box, other.box) <= best_) visit(feature.number, other.number);
      }
    }
  }

  void faces(const Body& points, const Body& triangles) {
    const auto a = near(points.vertices, triangles.box, [](Index v) { return std::array<Index, 1>{v}; });
    const auto b = near(triangles.triangles, points.box, [this](Index t) { return surface_.triangles[t]; });
    pairs(a, b, [this](Index v, Index t) {
      const Triangle& triangle = surface_.triangles[t];
      const Vector3& origin = x_[triangle[0]];
      take(closest_vertex_face({x_[v] - origin, x_[triangle[1]] - origin, x_[triangle[2]] - origin}));
    });
  }

  void edges(const Body& first, const Body& second) {
    const auto vertices = [this](Index e) { return surface_.edges[e]; };
    const auto a = near(first.edges, second.box, vertices), b = near(second.edges, first.box, vertices);
    pairs(a, b, [this](Index e, Index g) {
      const Edge &p = surface_.edges[e], &q = surface_.edges[g];
      take(closest_edges({x_[p[0]] - x_[q[0]], x_[p[1]] - x_[p[0]], x_[q[1]] - x_[q[0]]}));
    });
  }

  void take(const ClosestFeatures& closest) { best_ = std::min(best_, closest.distance); }

  const SurfaceModel& surface_;
  std::span<const Vector3> x_;
  double best_;
};

}  // namespace

std::optional<NearestBodies> nearest_bodies(const SurfaceModel& surface, std::span<const Vector3> x) {
  const std::vector<Body> bodies = bodies_of(surface, x);
  std::vector<NearestBodies> pairs;  // with the distance of their boxes
  for (Index a = 0; a < count(bodies); ++a) {
    for (Index b = a + 1; b < count(bodies); ++b) {
      if (bodies[a].movable || bodies[b].movable)
        pairs.push_back({a, b, distance(bodies[a].box, bodies[b].box)});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const NearestBodies& l, const NearestBodies& r) { return l.distance < r.distance; });
  std::optional<NearestBodies> nearest;
  for (const NearestBodies& pair : pairs) {
    if (nearest && pair.distance >= nearest->distance) break;
    const double before = nearest ? nearest->distance : std::numeric_limits<double>::infinity();
    const double found = PairDistance(surface, x, before).between(bodies[pair.a], bodies[pair.b]);
    if (found < before) nearest = NearestBodies{pair.a, pair.b, found};
  }
  return nearest;
}

}  // namespace signorini
