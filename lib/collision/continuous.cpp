#include "collision/continuous.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/pair_motion.h"

namespace signorini {

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();
// ε of the header.
constexpr double kOfEdge = 1e-9;
constexpr double kOfSize = 1e-13;
// Distances below this share of the extent are rounding: 64 units.
constexpr double kTouching = 64.0 * kUnit;
// Sine below which a cross product is no normal any more: its error is the unit over this.
constexpr double kNoNormal = 1e-6;

/// Largest coordinate of any difference at both ends; negative when a coordinate axis separates the pair by
/// more than ε.
template <PairKind kind>
double size_unless_apart(const PairMotion& m) {
  Vector3 low = m.start.q, high = m.start.q;
  const auto extend = [&](const Vector3& x) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  };
  for_differences<kind>(m.start, extend);
  for_differences<kind>(m.end, extend);
  const double size = std::max(high.maxCoeff(), -low.minCoeff());
  // Edges are shorter than 2 √3 size, so ε < 4e-9 size.
  const double margin = 4.0 * kOfEdge * size;
  return low.maxCoeff() > margin || high.minCoeff() < -margin ? -1.0 : size;
}

/// Separated within the plane of the middle of the step by the line of an edge.
template <PairKind kind>
bool beside(const PairMotion& m, const Vector3& middle, double size) {
  const Vector3 u = 0.5 * (m.start.u + m.end.u), v = 0.5 * (m.start.v + m.end.v);
  const auto by_edge = [&](const Vector3& edge) {
    const Vector3 across = edge.cross(middle);
    return separates<kind>(across, m.start, m.end, 4.0 * kOfEdge * size * across.lpNorm<1>());
  };
  if (by_edge(u) || by_edge(v)) return true;
  return kind == PairKind::vertex_face && by_edge(u - v);
}

template <PairKind kind>
PairScale scale_of(const PairMotion& m, double size) {
  PairScale scale;
  double edge2 = std::max(
      {m.start.u.squaredNorm(), m.start.v.squaredNorm(), m.end.u.squaredNorm(), m.end.v.squaredNorm()});
  if constexpr (kind == PairKind::vertex_face) {
    edge2 = std::max({edge2, (m.start.u - m.start.v).squaredNorm(), (m.end.u - m.end.v).squaredNorm()});
  }
  scale.tolerance = kOfEdge * std::sqrt(edge2) + kOfSize * size;
  double speed2 = 0.0;
  for_differences<kind>(m.step, [&](const Vector3& d) { speed2 = std::max(speed2, d.squaredNorm()); });
  scale.speed = std::sqrt(speed2);
  scale.reach = {m.start.q.norm() + m.step.q.norm(), m.start.u.norm() + m.step.u.norm(),
                 m.start.v.norm() + m.step.v.norm()};
  return scale;
}

Vector3 any_perpendicular(const Vector3& e) {
  Index axis;
  e.cwiseAbs().minCoeff(&axis);
  const Vector3 n = e.cross(Vector3::Unit(axis));
  const double length = n.norm();
  return length > 0.0 ? Vector3(n / length) : Vector3::UnitZ();
}

/// What the material points at the closest points move apart by.
template <PairKind kind>
Vector3 point_motion(const ClosestFeatures& c, const RelativePair& step) {
  if constexpr (kind == PairKind::vertex_face) return step.q + c.weight[2] * step.u + c.weight[3] * step.v;
  return step.q + c.weight[1] * step.u + c.weight[3] * step.v;
}

/// Normal of features without one: towards a, else against the motion, else any that fits.
template <PairKind kind>
Vector3 direction_to_a(const ClosestFeatures& c, const RelativePair& now, const RelativePair& step,
                       double touching) {
  if (c.distance > touching) return c.apart / c.distance;
  const Vector3 along = now.u.squaredNorm() > now.v.squaredNorm() ? now.u : now.v;
  Vector3 motion = point_motion<kind>(c, step);
  if (along.squaredNorm() > 0.0) motion -= along.dot(motion) / along.squaredNorm() * along;
  const double length = motion.norm();
  return length > touching ? Vector3(-motion / length) : any_perpendicular(along);
}

/// The normal as the header defines it. `side`: sign of f before; 0 if the pair starts in one plane.
template <PairKind kind>
Vector3 impact_normal(const ClosestFeatures& c, const RelativePair& now, const RelativePair& step, int side,
                      int leaves, const Vector3& outside, double touching) {
  const Vector3 n = now.u.cross(now.v);
  const double length = n.norm();
  double longest2 = now.v.squaredNorm() * now.u.squaredNorm();
  if constexpr (kind == PairKind::vertex_face) {
    const double edge2 = std::max({now.u.squaredNorm(), now.v.squaredNorm(), (now.u - now.v).squaredNorm()});
    longest2 = edge2 * edge2;
  }
  if (!(length > kNoNormal * std::sqrt(longest2))) return direction_to_a<kind>(c, now, step, touching);
  if constexpr (kind == PairKind::vertex_face) {
    if (side == 0) side = 1;
  } else if (side == 0) {
    const double hint = n.dot(outside);
    if (hint == 0.0 && c.distance > touching) return c.apart / c.distance;
    side = hint > 0.0 ? 1 : hint < 0.0 ? -1 : leaves > 0 ? -1 : 1;
  }
  return n * (side / length);
}

template <PairKind kind>
struct BandTest {
  const PairMotion& m;
  const PairScale& scale;
  const Vector3& outside;

  Impact impact(const RootBand& band, double time) const {
    const RelativePair now = m.at(time);
    const ClosestFeatures c = closest<kind>(now);
    return {
        time, c.weight,
        impact_normal<kind>(c, now, m.step, band.before, band.after, outside, kTouching * scale.reach.sum())};
  }

  std::optional<Impact> operator()(RootBand band) const {
    if (band.before == 0) return from_start(band);
    if (scale.speed * (band.end - band.begin) <= 0.5 * scale.tolerance) {
      if (closest<kind>(m.at(band.root)).distance > scale.tolerance) return {};
      return impact(band, band.root);
    }
    if (closest<kind>(m.at(band.begin)).distance <= scale.tolerance) return impact(band, band.begin);
    return search(band, scale.tolerance);
  }

  /// A band from t = 0 on.
  std::optional<Impact> from_start(RootBand band) const {
    // τ allows for the whole motion; what is known about t = 0 is known better.
    const double extent = m.start.q.norm() + m.start.u.norm() + m.start.v.norm();
    const double volume = m.start.q.dot(m.start.u.cross(m.start.v));
    const double rounding = kCubicRounding * m.start.q.norm() * m.start.u.norm() * m.start.v.norm();
    band.before = volume > rounding ? 1 : volume < -rounding ? -1 : 0;
    const ClosestFeatures c = closest<kind>(m.start);
    if (c.distance > kTouching * extent) return search(band, std::min(scale.tolerance, 0.5 * c.distance));
    if (separates_from_start(band, c)) return {};
    return impact(band, 0.0);
  }

  /// From contact at t = 0 to the side where a was or, where the start does not tell, belongs: f leaves the
  /// band on that side, and the contact points do not move to the other one meanwhile.
  bool separates_from_start(const RootBand& band, const ClosestFeatures& c) const {
    const Vector3 n = m.start.u.cross(m.start.v);
    int side = band.before;
    if (side == 0) {
      const double hint = kind == PairKind::vertex_face ? 1.0 : n.dot(outside);
      side = hint > 0.0 ? 1 : hint < 0.0 ? -1 : 0;
    }
    if (side == 0 || band.after != side) return false;
    const double rounding = kCubicRounding * n.norm() * scale.reach.sum();
    return side * n.dot(point_motion<kind>(c, m.step)) >= -rounding;
  }

  std::optional<Impact> search(const RootBand& band, double tolerance) const {
    const auto time = first_touch<kind>(m, band.begin, band.end, scale, tolerance);
    return time ? std::optional(impact(band, *time)) : std::nullopt;
  }
};

template <PairKind kind>
std::optional<Impact> first_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d,
                                   const Vector3& outside) {
  const PairMotion m = pair_motion<kind>(x, d);
  const double size = size_unless_apart<kind>(m);
  if (size < 0.0) return {};
  const auto [f, middle] = coplanarity(m.start, m.end);
  // ‖q‖ + ‖step‖ ≤ 3 √3 size, ‖u‖ + ‖step‖ ≤ 6 √3 size: τ without a square root.
  if (one_sign(f, 562.0 * kCubicRounding * size * size * size)) return {};
  if (beside<kind>(m, middle, size)) return {};
  const PairScale scale = scale_of<kind>(m, size);
  if (one_sign(f, scale.cubic()) || !std::isfinite(scale.cubic())) return {};
  std::array<RootBand, 3> bands;
  const int count = root_bands(f, scale.cubic(), bands);
  const BandTest<kind> test{m, scale, outside};
  for (int i = 0; i < count; ++i) {
    if (auto impact = test(bands[i])) return impact;
  }
  return {};
}

}  // namespace

std::optional<Impact> vertex_face_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d) {
  return first_impact<PairKind::vertex_face>(x, d, Vector3::Zero());
}

std::optional<Impact> edge_edge_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d,
                                       const Vector3& outside) {
  return first_impact<PairKind::edge_edge>(x, d, outside);
}

}  // namespace signorini
