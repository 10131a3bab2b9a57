#include "collision/closest_features.h"

#include <Eigen/Geometry>
#include <algorithm>

namespace signorini {

namespace {

/// Parameter of the point of the segment x + s e, s in [0, 1], that is closest to p; from r = p − x.
double on_segment(const Vector3& r, const Vector3& e) {
  const double length2 = e.squaredNorm();
  return length2 > 0.0 ? std::clamp(r.dot(e) / length2, 0.0, 1.0) : 0.0;
}

using Corners = std::array<Vector3, 3>;

ClosestFeatures at_face_point(const Vector3& p, const Corners& x, const Vector3& weight) {
  ClosestFeatures result;
  result.weight = {1.0, -weight[0], -weight[1], -weight[2]};
  // Along the two edges from x_0 = 0: the same point without the weight of x_0.
  result.apart = p - weight[1] * x[1] - weight[2] * x[2];
  result.distance = result.apart.norm();
  return result;
}

ClosestFeatures at_edge_points(const RelativePair& pair, double s, double t) {
  ClosestFeatures result;
  result.weight = {1.0 - s, s, -(1.0 - t), -t};
  result.apart = pair.q + s * pair.u - t * pair.v;
  result.distance = result.apart.norm();
  return result;
}

}  // namespace

ClosestFeatures closest_vertex_face(const RelativePair& pair) {
  const Corners x{Vector3::Zero(), pair.u, pair.v};
  const Vector3& p = pair.q;
  // The longest edge (i, j) is the base; the third corner k gives the height.
  const std::array<double, 3> length2{pair.u.squaredNorm(), (pair.v - pair.u).squaredNorm(),
                                      pair.v.squaredNorm()};
  const std::size_t i = std::max_element(length2.begin(), length2.end()) - length2.begin();
  const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
  if (length2[i] > 0.0) {
    const Vector3 e = x[j] - x[i], to_k = x[k] - x[i], to_p = p - x[i];
    const Vector3 height = to_k - (to_k.dot(e) / length2[i]) * e;
    const Vector3 across = to_p - (to_p.dot(e) / length2[i]) * e;
    const double c = across.dot(height) / height.squaredNorm();  // NaN without area
    if (c >= 0.0 && c <= 1.0) {
      const double s = e.dot(to_p - c * to_k) / length2[i];
      if (s >= 0.0 && s + c <= 1.0) {
        Vector3 weight;
        weight[i] = std::max(0.0, 1.0 - s - c);
        weight[j] = s;
        weight[k] = c;
        return at_face_point(p, x, weight);
      }
    }
  }
  ClosestFeatures best;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t b = (a + 1) % 3;
    const double s = on_segment(p - x[a], x[b] - x[a]);
    Vector3 weight = Vector3::Zero();
    weight[a] = 1.0 - s;
    weight[b] = s;
    const ClosestFeatures candidate = at_face_point(p, x, weight);
    if (a == 0 || candidate.distance < best.distance) best = candidate;
  }
  return best;
}

ClosestFeatures closest_edges(const RelativePair& pair) {
  const auto& [q, u, v] = pair;
  const Vector3 n = u.cross(v);
  const double n2 = n.squaredNorm();
  const double s = -q.cross(v).dot(n) / n2;  // NaN for parallel edges
  if (s >= 0.0 && s <= 1.0) {
    // The point of b from that of a: an error of s along nearly parallel edges does not open the distance.
    const double t = v.dot(q + s * u) / v.squaredNorm();
    if (t >= 0.0 && t <= 1.0) return at_edge_points(pair, s, t);
  }
  const Vector3 opposite_u = -u;
  ClosestFeatures best = at_edge_points(pair, 0.0, on_segment(q, v));
  for (const ClosestFeatures& candidate :
       {at_edge_points(pair, 1.0, on_segment(q + u, v)), at_edge_points(pair, on_segment(q, opposite_u), 0.0),
        at_edge_points(pair, on_segment(q - v, opposite_u), 1.0)}) {
    if (candidate.distance < best.distance) best = candidate;
  }
  return best;
}

}  // namespace signorini
