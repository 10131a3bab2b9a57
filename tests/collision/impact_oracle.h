#pragma once

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "collision/continuous.h"
#include "collision/surface_contact.h"

/// What continuous detection must find, found by other means: in long double, by dense sampling of the signed
/// volume, and by branch and bound on the distance. Written for obviousness.
namespace signorini::oracle {

using Long3 = Eigen::Matrix<long double, 3, 1>;
using LongPoints = std::array<Long3, 4>;

/// Four points on straight paths.
struct Pair {
  PairKind kind = PairKind::vertex_face;
  std::array<Vector3, 4> x, d;

  LongPoints at(long double t) const {
    LongPoints p;
    for (std::size_t i = 0; i < 4; ++i) p[i] = x[i].cast<long double>() + t * d[i].cast<long double>();
    return p;
  }
  /// The same positions at rest.
  Pair still() const {
    return {kind, x, {Vector3::Zero(), Vector3::Zero(), Vector3::Zero(), Vector3::Zero()}};
  }
  std::optional<Impact> detect() const {
    return kind == PairKind::vertex_face ? vertex_face_impact(x, d) : edge_edge_impact(x, d);
  }
};

inline long double volume(const Pair& pair, long double t) {
  const LongPoints p = pair.at(t);
  if (pair.kind == PairKind::vertex_face) return (p[0] - p[1]).dot((p[2] - p[1]).cross(p[3] - p[1]));
  return (p[0] - p[2]).dot((p[1] - p[0]).cross(p[3] - p[2]));
}

inline long double to_segment(const Long3& p, const Long3& a, const Long3& b) {
  const Long3 e = b - a;
  const long double length2 = e.squaredNorm();
  const long double s = length2 > 0 ? std::clamp<long double>(e.dot(p - a) / length2, 0, 1) : 0;
  return (p - a - s * e).norm();
}

/// Smallest share of any vertex of its feature's contact point where the features are coplanar; negative
/// outside.
inline long double smallest_share(const Pair& pair, const LongPoints& p) {
  if (pair.kind == PairKind::vertex_face) {
    const Long3 u = p[2] - p[1], v = p[3] - p[1], q = p[0] - p[1], n = u.cross(v);
    const long double b = q.cross(v).dot(n) / n.squaredNorm(), c = u.cross(q).dot(n) / n.squaredNorm();
    return std::min({b, c, 1 - b - c});
  }
  const Long3 u = p[1] - p[0], v = p[3] - p[2], q = p[0] - p[2], n = u.cross(v);
  const long double s = v.cross(q).dot(n) / n.squaredNorm(), t = u.cross(q).dot(n) / n.squaredNorm();
  return std::min({s, 1 - s, t, 1 - t});
}

inline long double distance(const Pair& pair, long double time) {
  const LongPoints p = pair.at(time);
  long double least = std::numeric_limits<long double>::infinity();
  const bool inside = smallest_share(pair, p) >= 0;  // false for NaN
  if (pair.kind == PairKind::vertex_face) {
    if (inside) {
      // Parallel to an edge at the height of the point, for each edge: a needle has one that tells the
      // height.
      for (std::size_t i = 1; i < 4; ++i) {
        const Long3 &a = p[i], &b = p[i % 3 + 1], &c = p[(i + 1) % 3 + 1];
        const Long3 n = (b - a).cross(c - a);
        const long double height = (b - a).cross(p[0] - a).dot(n) / n.squaredNorm();
        least = std::min(least, to_segment(p[0], a + height * (c - a), b + height * (c - b)));
      }
    }
    for (std::size_t i = 1; i < 4; ++i) least = std::min(least, to_segment(p[0], p[i], p[i % 3 + 1]));
    return least;
  }
  if (inside) {
    // Of the point of a, not along u × v, whose direction is lost in nearly parallel edges.
    const Long3 u = p[1] - p[0], v = p[3] - p[2], n = u.cross(v);
    const long double s = v.cross(p[0] - p[2]).dot(n) / n.squaredNorm();
    least = to_segment(p[0] + s * u, p[2], p[3]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    least = std::min({least, to_segment(p[i], p[2], p[3]), to_segment(p[2 + i], p[0], p[1])});
  }
  return least;
}

/// ε of collision/continuous.h and what it is made of.
struct Lengths {
  double speed = 0.0;      ///< largest relative speed of a vertex of a and one of b
  double size = 0.0;       ///< largest coordinate of their differences at both ends
  double tolerance = 0.0;  ///< ε
};

inline Lengths lengths(const Pair& pair) {
  Lengths result;
  const std::size_t of_a = pair.kind == PairKind::vertex_face ? 1 : 2;
  double edge = 0.0;
  for (const double t : {0.0, 1.0}) {
    std::array<Vector3, 4> y;
    for (std::size_t i = 0; i < 4; ++i) y[i] = (pair.x[i] - pair.x[3]) + t * (pair.d[i] - pair.d[3]);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        if ((i < of_a) == (j < of_a)) {
          edge = std::max(edge, (y[i] - y[j]).norm());
        } else {
          result.size = std::max(result.size, (y[i] - y[j]).cwiseAbs().maxCoeff());
          result.speed = std::max(result.speed, (pair.d[i] - pair.d[j]).norm());
        }
      }
    }
  }
  result.tolerance = 1e-9 * edge + 1e-13 * result.size;
  return result;
}

/// What the volume may be off by where it comes from doubles: `units` of 2⁻⁵² times the terms of its
/// products, one factor with its whole motion.
inline long double volume_rounding(const Pair& pair, long double t, double units) {
  using Ends = std::array<std::array<std::size_t, 2>, 3>;
  const Ends of_face{{{0, 1}, {2, 1}, {3, 1}}}, of_edges{{{0, 2}, {1, 0}, {3, 2}}};
  const LongPoints p = pair.at(t);
  std::array<long double, 3> whole, now;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& [i, j] = pair.kind == PairKind::vertex_face ? of_face[k] : of_edges[k];
    whole[k] = (pair.x[i] - pair.x[j]).norm() + (pair.d[i] - pair.d[j]).norm();
    now[k] = (p[i] - p[j]).norm();
  }
  return units * 0x1p-52L *
         (whole[0] * now[1] * now[2] + now[0] * whole[1] * now[2] + now[0] * now[1] * whole[2]);
}

/// Coplanar and touching at t = 0 up to rounding.
inline bool starts_in_contact(const Pair& pair) {
  const Pair still = pair.still();
  return std::abs(volume(still, 0)) <= volume_rounding(still, 0, 22) &&
         distance(pair, 0) <= 0x1p-44L * lengths(still).size;
}

/// First change of sign of the volume at which the contact point lies inside both features by 1e-9 of them:
/// `samples` equal intervals, the first one halved towards t = 0 for fast motions, and where |volume| dips
/// its minimum by golden section. A vertex in its face at t = 0 is outside, and as long as the
/// distance is below ε: it may leave outwards.
inline std::optional<long double> first_crossing(const Pair& pair, int samples) {
  std::vector<long double> t, f;
  t.push_back(0);
  for (int k = 20; k > 0; --k) t.push_back(std::ldexp(1.0L / samples, -k));
  for (int i = 1; i <= samples; ++i) t.push_back(static_cast<long double>(i) / samples);
  for (const long double time : t) f.push_back(volume(pair, time));
  if (pair.kind == PairKind::vertex_face && starts_in_contact(pair)) {
    // Not where it is a matter of opinion whether the side at the start is known.
    if (std::abs(f[0]) > volume_rounding(pair.still(), 0, 10) ||
        distance(pair, 0) > 0x1p-47L * lengths(pair.still()).size) {
      return {};
    }
    const double tolerance = lengths(pair).tolerance;
    for (std::size_t i = 0; i < f.size() && distance(pair, t[i]) <= tolerance; ++i) f[i] = 0;
  }
  for (std::size_t i = 1; i + 1 < t.size(); ++i) {
    const long double side = f[i] > 0 ? 1 : -1;
    if (!(side * f[i - 1] > 0 && side * f[i + 1] > 0)) continue;
    if (!(side * f[i] < side * f[i - 1] && side * f[i] < side * f[i + 1])) continue;
    long double l = t[i - 1], r = t[i + 1];
    for (int k = 0; k < 80; ++k) {
      const long double a = r - 0.618L * (r - l), b = l + 0.618L * (r - l);
      (side * volume(pair, a) < side * volume(pair, b) ? r : l) =
          side * volume(pair, a) < side * volume(pair, b) ? b : a;
    }
    const long double lowest = 0.5L * (l + r), value = volume(pair, lowest);
    if (side * value >= 0) continue;
    const std::ptrdiff_t place = lowest < t[i] ? i : i + 1;
    t.insert(t.begin() + place, lowest);
    f.insert(f.begin() + place, value);
  }
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    if (!((f[i] < 0) != (f[i + 1] < 0))) continue;
    long double l = t[i], r = t[i + 1];
    for (int k = 0; k < 70; ++k) {
      const long double middle = 0.5L * (l + r);
      ((volume(pair, middle) < 0) == (f[i] < 0) ? l : r) = middle;
    }
    if (smallest_share(pair, pair.at(l)) > 1e-9L) return l;
  }
  return {};
}

enum class Verdict { touches, apart, unknown };

/// Whether the distance falls to `limit` in [begin, 1]. It changes by at most speed · |Δt|, so an interval
/// whose distance in the middle exceeds what half of it can close is done; the most promising one goes first.
inline Verdict comes_within(const Pair& pair, long double begin, long double limit, int most = 20'000) {
  struct Interval {
    long double least, l, r;
    bool operator<(const Interval& other) const { return least > other.least; }
  };
  const long double speed = lengths(pair).speed;
  std::priority_queue<Interval> open;
  open.push({0, begin, 1});
  for (int k = 0; k < most && !open.empty(); ++k) {
    const Interval i = open.top();
    open.pop();
    const long double middle = 0.5L * (i.l + i.r), here = distance(pair, middle);
    if (here <= limit) return Verdict::touches;
    const long double least = here - 0.5L * speed * (i.r - i.l);
    if (least > limit) continue;
    open.push({least, i.l, middle});
    open.push({least, middle, i.r});
  }
  return open.empty() ? Verdict::apart : Verdict::unknown;
}

}  // namespace signorini::oracle
