#include "collision/continuous.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/closest_features.h"
#include "collision/cubic_roots.h"
#include "collision/surface_contact.h"

namespace signorini {

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();
// ε of the header.
constexpr double kOfEdge = 1e-9;
constexpr double kOfSize = 1e-13;
// Distances below this share of the size are rounding: 64 units.
constexpr double kTouching = 64.0 * kUnit;
// f = q · (u × v): three factors with 2 roundings each, products, sums and mixed terms with fewer than 32
// more, over the sum of absolute products, at most 1.5 times that of the norms.
constexpr double kCubicRounding = 64.0 * kUnit;
// Sine below which a cross product is no normal any more: its error is the unit over this.
constexpr double kNoNormal = 1e-6;
constexpr int kMostDistances = 20'000;

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

template <PairKind kind>
ClosestFeatures closest(const RelativePair& p) {
  if constexpr (kind == PairKind::vertex_face) return closest_vertex_face(p);
  return closest_edges(p);
}

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

/// f in Bernstein form by the polar form of the product.
struct Coplanarity {
  BernsteinCubic f;
  Vector3 middle;  ///< 4 (u × v) at t = 1/2
};

Coplanarity coplanarity(const PairMotion& m) {
  const Vector3 n_0 = m.start.u.cross(m.start.v);
  const Vector3 n_1 = m.end.u.cross(m.end.v);
  const Vector3 mixed = m.end.u.cross(m.start.v) + m.start.u.cross(m.end.v);
  return {{m.start.q.dot(n_0), (m.end.q.dot(n_0) + m.start.q.dot(mixed)) / 3.0,
           (m.start.q.dot(n_1) + m.end.q.dot(mixed)) / 3.0, m.end.q.dot(n_1)},
          n_0 + mixed + n_1};
}

bool one_sign(const BernsteinCubic& f, double tolerance) {
  return std::min({f[0], f[1], f[2], f[3]}) > tolerance || std::max({f[0], f[1], f[2], f[3]}) < -tolerance;
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

/// Lengths that the tolerances come from.
struct Scale {
  double tolerance = 0.0;  ///< ε, m
  double touching = 0.0;   ///< m
  double speed = 0.0;      ///< no vertex of a moves faster relative to one of b, m per step
  double cubic = 0.0;      ///< τ, m³
};

template <PairKind kind>
Scale scale_of(const PairMotion& m, double size) {
  Scale scale;
  double edge2 = std::max(
      {m.start.u.squaredNorm(), m.start.v.squaredNorm(), m.end.u.squaredNorm(), m.end.v.squaredNorm()});
  if constexpr (kind == PairKind::vertex_face) {
    edge2 = std::max({edge2, (m.start.u - m.start.v).squaredNorm(), (m.end.u - m.end.v).squaredNorm()});
  }
  scale.tolerance = kOfEdge * std::sqrt(edge2) + kOfSize * size;
  scale.touching = kTouching * size;
  double speed2 = 0.0;
  for_differences<kind>(m.step, [&](const Vector3& d) { speed2 = std::max(speed2, d.squaredNorm()); });
  scale.speed = std::sqrt(speed2);
  scale.cubic = kCubicRounding * (m.start.q.norm() + m.step.q.norm()) * (m.start.u.norm() + m.step.u.norm()) *
                (m.start.v.norm() + m.step.v.norm());
  return scale;
}

/// First time in [begin, end] at which the distance is ≤ `tolerance`, up to a motion of `tolerance`/4.
template <PairKind kind>
std::optional<double> first_touch(const PairMotion& m, double begin, double end, double speed,
                                  double tolerance) {
  struct Interval {
    double l, r;
  };
  // Left halves first, so the stack holds one interval per halving: fewer than 1100 for doubles, 64 here
  // because an interval whose motion is below tolerance/4 ≥ 2⁻⁵⁰ of the size is not halved.
  std::array<Interval, 64> stack{{{begin, end}}};
  std::size_t depth = 1;
  std::optional<double> found;
  for (int distances = 0; depth > 0; ++distances) {
    const auto [l, r] = stack[--depth];
    const double middle = 0.5 * (l + r);
    const ClosestFeatures at_middle = closest<kind>(m.at(middle));
    if (distances == kMostDistances) return middle;
    const bool short_interval =
        speed * (r - l) <= 0.25 * tolerance || r - l <= kUnit || depth + 2 > stack.size();
    if (at_middle.distance <= tolerance) {
      found = middle;
      if (short_interval) return found;
      stack[0] = {l, middle};  // whatever is later does not matter any more
      depth = 1;
      continue;
    }
    if (short_interval ||
        separates<kind>(at_middle.apart / at_middle.distance, m.at(l), m.at(r), 0.25 * tolerance)) {
      continue;
    }
    stack[depth++] = {middle, r};
    stack[depth++] = {l, middle};
  }
  return found;
}

Vector3 any_perpendicular(const Vector3& e) {
  Index axis;
  e.cwiseAbs().minCoeff(&axis);
  const Vector3 n = e.cross(Vector3::Unit(axis));
  const double length = n.norm();
  return length > 0.0 ? Vector3(n / length) : Vector3::UnitZ();
}

/// Normal of features without one: towards a, else against the motion, else any that fits.
template <PairKind kind>
Vector3 direction_to_a(const ClosestFeatures& c, const RelativePair& now, const RelativePair& step,
                       double touching) {
  if (c.distance > touching) return c.apart / c.distance;
  const Vector3 along = now.u.squaredNorm() > now.v.squaredNorm() ? now.u : now.v;
  Vector3 motion = step.q;
  if constexpr (kind == PairKind::vertex_face) {
    motion += c.weight[2] * step.u + c.weight[3] * step.v;
  } else {
    motion += c.weight[1] * step.u + c.weight[3] * step.v;
  }
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
  const Scale& scale;
  const Vector3& outside;

  Impact impact(const RootBand& band, double time) const {
    const RelativePair now = m.at(time);
    const ClosestFeatures c = closest<kind>(now);
    return {time, c.weight,
            impact_normal<kind>(c, now, m.step, band.before, band.after, outside, scale.touching)};
  }

  /// From contact at t = 0 to the side where a belongs, without a way to the other side.
  bool separates_from_start(const RootBand& band) const {
    if constexpr (kind == PairKind::vertex_face) return band.after > 0;
    return band.after * m.at(band.root).u.cross(m.at(band.root).v).dot(outside) > 0.0;
  }

  std::optional<Impact> operator()(const RootBand& band) const {
    const bool in_plane_at_start = band.before == 0;
    const bool is_short = scale.speed * (band.end - band.begin) <= 0.5 * scale.tolerance &&
                          !(in_plane_at_start && band.after == 0);
    if (is_short) {
      if (in_plane_at_start && separates_from_start(band)) return {};
      const double time = in_plane_at_start ? 0.0 : band.root;
      if (closest<kind>(m.at(time)).distance > scale.tolerance) return {};
      return impact(band, time);
    }
    const double distance = closest<kind>(m.at(band.begin)).distance;
    double tolerance = scale.tolerance;
    if (distance <= tolerance) {
      if (in_plane_at_start && distance <= scale.touching && separates_from_start(band)) return {};
      if (!in_plane_at_start || distance <= scale.touching) return impact(band, band.begin);
      tolerance = 0.5 * distance;
    }
    const auto time = first_touch<kind>(m, band.begin, band.end, scale.speed, tolerance);
    return time ? std::optional(impact(band, *time)) : std::nullopt;
  }
};

template <PairKind kind>
std::optional<Impact> first_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d,
                                   const Vector3& outside) {
  const PairMotion m = pair_motion<kind>(x, d);
  const double size = size_unless_apart<kind>(m);
  if (size < 0.0) return {};
  const auto [f, middle] = coplanarity(m);
  // ‖q‖ + ‖step‖ ≤ 3 √3 size, ‖u‖ + ‖step‖ ≤ 6 √3 size: τ without a square root.
  if (one_sign(f, 562.0 * kCubicRounding * size * size * size)) return {};
  if (beside<kind>(m, middle, size)) return {};
  const Scale scale = scale_of<kind>(m, size);
  if (one_sign(f, scale.cubic) || !std::isfinite(scale.cubic)) return {};
  std::array<RootBand, 3> bands;
  const int count = root_bands(f, scale.cubic, bands);
  const BandTest<kind> test{m, scale, outside};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
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
