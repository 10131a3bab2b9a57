#include "geometry/ring.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "geometry/kuhn.h"

namespace signorini {

namespace {

void check(const RingShape& shape) {
  constexpr Index kMost = 10000;
  if (shape.segments < 3 || shape.segments > kMost) {
    throw_usage("ring: {} segments, [3, {}] are possible", shape.segments, kMost);
  }
  if (shape.cells < 1 || shape.cells > kMost / 10) {
    throw_usage("ring: {} cells across the section, [1, {}] are possible", shape.cells, kMost / 10);
  }
  if (!(shape.radius > 0.0) || !std::isfinite(shape.radius)) {
    throw_usage("ring: radius {} m is not positive", shape.radius);
  }
  if (!(shape.thickness > 0.0) || !(shape.thickness < 2.0 * shape.radius)) {
    throw_usage("ring: thickness {} m must be positive and below twice the radius {} m", shape.thickness,
                shape.radius);
  }
}

}  // namespace

TetMesh ring(const RingShape& shape) {
  check(shape);
  const Index n = shape.cells;
  const auto number = [&](Index i, Index j, Index k) {
    return i + (n + 1) * (k + (n + 1) * (j % shape.segments));
  };
  TetMesh mesh;
  for (Index j = 0; j < shape.segments; ++j) {
    const double angle = 2.0 * std::numbers::pi * j / shape.segments;
    for (Index k = 0; k <= n; ++k) {
      for (Index i = 0; i <= n; ++i) {
        const double r = shape.radius + shape.thickness * (static_cast<double>(i) / n - 0.5);
        mesh.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle),
                                   shape.thickness * (static_cast<double>(k) / n - 0.5));
      }
    }
  }
  // (radius, angle, z) is a right-handed frame.
  for (Index j = 0; j < shape.segments; ++j) {
    for (Index k = 0; k < n; ++k) {
      for (Index i = 0; i < n; ++i) {
        add_kuhn_cell(mesh, [&](Index a, Index b, Index c) { return number(i + a, j + b, k + c); });
      }
    }
  }
  return mesh;
}

}  // namespace signorini
