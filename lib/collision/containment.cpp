#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "collision/aabb.h"
#include "collision/contact_finder.h"
#include "geometry/point_triangle.h"

/// Bodies inside bodies, by winding numbers: no ray that could run along an edge.
namespace signorini {

namespace {

constexpr double kOnSurface = 1e-9;  // of the size of a body: so close to it the winding number is noise

/// A connected part of a body's surface.
struct Part {
  Index body = -1;
  std::vector<Index> vertices;
  Aabb box;
};

/// Vertices that edges connect belong to one part; ascending by first vertex.
std::vector<Part> connected_parts(const SurfaceModel& surface, std::span<const Vector3> x) {
  std::vector<Index> root(x.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](Index v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  for (const Edge& edge : surface.edges) {
    const Index a = find(edge[0]), b = find(edge[1]);
    root[std::max(a, b)] = std::min(a, b);
  }
  std::vector<Part> parts;
  std::vector<std::size_t> part_of(x.size());
  for (Index v = 0; v < surface.vertices(); ++v) {
    const Index first = find(v);
    if (first == v) {
      part_of[v] = parts.size();
      parts.push_back({surface.vertex_body[v], {}, {}});
    }
    Part& part = parts[part_of[first]];
    part.vertices.push_back(v);
    part.box.extend(x[v]);
  }
  return parts;
}

/// A closed body and the numbers of its triangles.
struct ClosedBody {
  Index body = -1, begin = 0, end = 0;
  Aabb box;
};

std::vector<ClosedBody> closed_bodies(const SurfaceModel& surface, std::span<const Vector3> x) {
  std::vector<ClosedBody> closed;
  Index begin = 0;
  for (Index b = 0; b < count(surface.bodies); ++b) {
    const Index end = surface.bodies[b].triangles;
    if (surface.bodies[b].closed) {
      ClosedBody body{b, begin, end, {}};
      for (Index t = begin; t < end; ++t) {
        for (const Index v : surface.triangles[t]) body.box.extend(x[v]);
      }
      closed.push_back(body);
    }
    begin = end;
  }
  return closed;
}

/// Solid angle of a triangle as seen from the origin, positive from its back: tan(Ω/2) = a·(b × c) / (abc +
/// (a·b) c + (b·c) a + (c·a) b) (Van Oosterom and Strackee 1983).
double solid_angle(const Vector3& a, const Vector3& b, const Vector3& c) {
  const double l_a = a.norm(), l_b = b.norm(), l_c = c.norm();
  return 2.0 *
         std::atan2(a.dot(b.cross(c)), l_a * l_b * l_c + a.dot(b) * l_c + b.dot(c) * l_a + c.dot(a) * l_b);
}

enum class Place { outside, inside, on_surface };

/// Winding number 1 inside a surface that faces outward, 0 outside, −1 in the room that one facing inward
/// encloses: that room is free.
Place place(const Vector3& p, const ClosedBody& body, const SurfaceModel& surface,
            std::span<const Vector3> x) {
  const double near = kOnSurface * (body.box.high - body.box.low).norm();
  double angle = 0.0;
  for (Index t = body.begin; t < body.end; ++t) {
    const Triangle& k = surface.triangles[t];
    const Vector3 &a = x[k[0]], &b = x[k[1]], &c = x[k[2]];
    if (closest_point(p, a, b, c).distance <= near) return Place::on_surface;
    angle += solid_angle(a - p, b - p, c - p);
  }
  return angle > 2.0 * std::numbers::pi ? Place::inside : Place::outside;
}

}  // namespace

std::optional<Intersection> find_containment(const SurfaceModel& surface, std::span<const Vector3> x) {
  SIGNORINI_CHECK(count(x) == surface.vertices());
  const std::vector<ClosedBody> closed = closed_bodies(surface, x);
  for (const Part& part : connected_parts(surface, x)) {
    for (const ClosedBody& outer : closed) {
      const bool either_moves = surface.bodies[part.body].movable || surface.bodies[outer.body].movable;
      if (outer.body == part.body || !either_moves) continue;
      if ((part.box.low.array() < outer.box.low.array()).any() ||
          (part.box.high.array() > outer.box.high.array()).any()) {
        continue;
      }
      // One vertex decides for all, since no edge passes through the surface; not one that lies in it.
      Place decided = Place::on_surface;
      Vector3 witness = x[part.vertices.front()];
      for (std::size_t i = 0; i < part.vertices.size() && decided == Place::on_surface; ++i) {
        witness = x[part.vertices[i]];
        decided = place(witness, outer, surface, x);
      }
      // All vertices in the surface of the other: coincident bodies, or one inscribed in the other.
      if (decided != Place::outside) return Intersection{-1, -1, part.body, outer.body, witness};
    }
  }
  return {};
}

}  // namespace signorini
