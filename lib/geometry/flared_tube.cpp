#include "geometry/flared_tube.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace signorini {

namespace {

void check(const FlaredTube& shape) {
  constexpr Index kMost = 10000;
  const auto positive = [](const char* name, double value) {
    if (!(value > 0.0) || !std::isfinite(value)) throw_usage("tube: {} {} m is not positive", name, value);
  };
  positive("top radius", shape.top_radius);
  positive("bottom radius", shape.bottom_radius);
  positive("length", shape.length);
  if (!(shape.flare > 0.0) || !std::isfinite(shape.flare))
    throw_usage("tube: flare {} is not positive", shape.flare);
  if (shape.columns < 3 || shape.columns > kMost)
    throw_usage("tube: {} columns, [3, {}] are possible", shape.columns, kMost);
  if (shape.rows < 2 || shape.rows > kMost)
    throw_usage("tube: {} rows, [2, {}] are possible", shape.rows, kMost);
  if (shape.folds < 0 || shape.folds > shape.columns / 4)
    throw_usage("tube: {} folds, [0, {}] are possible with {} columns", shape.folds, shape.columns / 4,
                shape.columns);
  if (!(shape.fold_depth >= 0.0) || !(shape.fold_depth < shape.bottom_radius)) {
    throw_usage("tube: fold depth {} m is outside [0, {}), the bottom radius", shape.fold_depth,
                shape.bottom_radius);
  }
}

}  // namespace

TriangleMesh flared_tube(const FlaredTube& shape) {
  check(shape);
  TriangleMesh mesh;
  for (Index row = 0; row < shape.rows; ++row) {
    const double t = static_cast<double>(row) / (shape.rows - 1);
    for (Index column = 0; column < shape.columns; ++column) {
      const double angle = 2.0 * std::numbers::pi * column / shape.columns;
      const double r = shape.top_radius +
                       std::pow(t, shape.flare) * (shape.bottom_radius - shape.top_radius) +
                       t * t * shape.fold_depth * std::cos(shape.folds * angle);
      mesh.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle), -shape.length * t);
    }
  }
  for (Index row = 0; row + 1 < shape.rows; ++row) {
    for (Index column = 0; column < shape.columns; ++column) {
      const Index next = (column + 1) % shape.columns;
      const Index a = column + shape.columns * (row + 1), b = next + shape.columns * (row + 1);
      const Index c = next + shape.columns * row, d = column + shape.columns * row;
      if ((row + column) % 2 == 0) {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({a, c, d});
      } else {
        mesh.triangles.push_back({a, b, d});
        mesh.triangles.push_back({b, c, d});
      }
    }
  }
  return mesh;
}

}  // namespace signorini
