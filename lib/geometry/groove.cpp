#include "geometry/groove.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace signorini {

namespace {

void check(const GrooveShape& shape) {
  constexpr Index kMost = 10000;
  if (!(shape.radius > 0.0) || !std::isfinite(shape.track_radius) || !(shape.radius < shape.track_radius)) {
    throw_usage("groove: radius {} m must be positive and below the track's radius {} m", shape.radius,
                shape.track_radius);
  }
  const double arc = shape.to_deg - shape.from_deg;
  if (!(arc > 0.0) || !(arc < 360.0)) {
    throw_usage("groove: from {} to {} degrees is no arc between 0 and 360 degrees", shape.from_deg,
                shape.to_deg);
  }
  if (shape.segments < 3 || shape.segments > kMost)
    throw_usage("groove: {} segments, [3, {}] are possible", shape.segments, kMost);
  if (shape.bands < 1 || shape.bands > kMost)
    throw_usage("groove: {} bands, [1, {}] are possible", shape.bands, kMost);
}

}  // namespace

TriangleMesh groove(const GrooveShape& shape) {
  check(shape);
  constexpr double kRadians = std::numbers::pi / 180.0;
  TriangleMesh mesh;
  for (Index s = 0; s < shape.segments; ++s) {
    const double around = 2.0 * std::numbers::pi * s / shape.segments;
    for (Index b = 0; b <= shape.bands; ++b) {
      const double arc = kRadians * (shape.from_deg + (shape.to_deg - shape.from_deg) * b / shape.bands);
      const double r = shape.track_radius + shape.radius * std::cos(arc);
      mesh.vertices.emplace_back(r * std::cos(around), r * std::sin(around), shape.radius * std::sin(arc));
    }
  }
  const auto number = [&](Index s, Index b) { return b + (shape.bands + 1) * (s % shape.segments); };
  for (Index s = 0; s < shape.segments; ++s) {
    for (Index b = 0; b < shape.bands; ++b) {
      const Index p = number(s, b), q = number(s + 1, b), r = number(s + 1, b + 1), t = number(s, b + 1);
      if ((s + b) % 2 == 0) {
        mesh.triangles.push_back({p, r, q});
        mesh.triangles.push_back({p, t, r});
      } else {
        mesh.triangles.push_back({p, t, q});
        mesh.triangles.push_back({q, t, r});
      }
    }
  }
  return mesh;
}

}  // namespace signorini
