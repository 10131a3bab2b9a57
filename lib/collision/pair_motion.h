#pragma once

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "collision/closest_features.h"
#include "collision/cubic_roots.h"
#include "collision/surface_contact.h"

/// A pair of features whose vertices move on straight lines, in its own relative coordinates, and the tests
/// that tell that it does not touch. Part of continuous detection (collision/continuous.h).
namespace signorini {

/// The pair at t = 0, what it moves by, and where that leads.
struct PairMotion {
  RelativePair start, step, end;

  RelativePair at(double t) const {
    if (t == 1.0) return end;
    return {start.q + t * step.q, start.u + t * step.u, start.v + t * step.v};
  }
};

template <PairKind kind>
RelativePair relative(const std::array<Vector3, 4>& x) {
  if constexpr (kind == PairKind::vertex_face) return {x[0] - x[1], x[2] - x[1], x[3] - x[1]};
  return {x[0] - x[2], x[1] - x[0], x[3] - x[2]};
}

template <PairKind kind>
PairMotion pair_motion(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d) {
  PairMotion m{relative<kind>(x), relative<kind>(d), {}};
  m.end = {m.start.q + m.step.q, m.start.u + m.step.u, m.start.v + m.step.v};
  return m;
}

template <PairKind kind>
ClosestFeatures closest(const RelativePair& p) {
  if constexpr (kind == PairKind::vertex_face) return closest_vertex_face(p);
  return closest_edges(p);
}

/// Calls visit(a_i − b_j) for every vertex of one feature and of the other.
template <PairKind kind, class Visit>
void for_differences(const RelativePair& p, const Visit& visit) {
  visit(p.q);
  if constexpr (kind == PairKind::vertex_face) {
    visit(p.q - p.u);
    visit(p.q - p.v);
  } else {
    visit(p.q + p.u);
    visit(p.q - p.v);
    visit(p.q + p.u - p.v);
  }
}

/// Smallest and largest m · (a_i − b_j).
template <PairKind kind>
std::pair<double, double> extent(const Vector3& m, const RelativePair& p) {
  const double a = m.dot(p.q), b = m.dot(p.u), c = m.dot(p.v);
  if constexpr (kind == PairKind::vertex_face) {
    return {a - std::max({0.0, b, c}), a - std::min({0.0, b, c})};
  }
  return {a + std::min(0.0, b) - std::max(0.0, c), a + std::max(0.0, b) - std::min(0.0, c)};
}

/// All vertices of a lie on one side of all those of b along m at both times, by more than `margin`; then
/// they do in between.
template <PairKind kind>
bool separates(const Vector3& m, const RelativePair& from, const RelativePair& to, double margin) {
  const auto [low_0, high_0] = extent<kind>(m, from);
  const auto [low_1, high_1] = extent<kind>(m, to);
  return std::min(low_0, low_1) > margin || std::max(high_0, high_1) < -margin;
}

/// f = q · (u × v) between two times in Bernstein form, by the polar form of the product.
struct Coplanarity {
  BernsteinCubic f;
  Vector3 middle;  ///< 4 (u × v) half way
};

inline Coplanarity coplanarity(const RelativePair& from, const RelativePair& to) {
  const Vector3 n_0 = from.u.cross(from.v);
  const Vector3 n_1 = to.u.cross(to.v);
  const Vector3 mixed = to.u.cross(from.v) + from.u.cross(to.v);
  return {{from.q.dot(n_0), (to.q.dot(n_0) + from.q.dot(mixed)) / 3.0,
           (from.q.dot(n_1) + to.q.dot(mixed)) / 3.0, to.q.dot(n_1)},
          n_0 + mixed + n_1};
}

inline bool one_sign(const BernsteinCubic& f, double tolerance) {
  return std::min({f[0], f[1], f[2], f[3]}) > tolerance || std::max({f[0], f[1], f[2], f[3]}) < -tolerance;
}

/// Rounding of f: three factors with 2 roundings each, products, sums and mixed terms with fewer than 32
/// more, over the sum of absolute products, at most 1.5 times the product of the norms.
inline constexpr double kCubicRounding = 64.0 * std::numeric_limits<double>::epsilon();

/// Lengths that the tolerances come from.
struct PairScale {
  double tolerance = 0.0;  ///< ε, m
  double speed = 0.0;      ///< no vertex of a moves faster relative to one of b, m per step
  Vector3 reach;           ///< ‖q‖, ‖u‖, ‖v‖ at most, start and step: the size of roundings, m

  double cubic() const { return kCubicRounding * reach[0] * reach[1] * reach[2]; }  ///< τ, m³
};

/// First time in [begin, end] at which the distance is ≤ `tolerance`, up to a motion of `tolerance`/4 or the
/// resolution of t; nothing if the features do not touch in between.
template <PairKind kind>
std::optional<double> first_touch(const PairMotion& m, double begin, double end, const PairScale& scale,
                                  double tolerance);

}  // namespace signorini
