#include "geometry/skittle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace signorini {

namespace {

/// Radius over the belly's at the height t ∈ [0, 1].
double profile(double t) {
  const auto bell = [t](double middle, double width) {
    const double d = (t - middle) / width;
    return std::exp(-d * d);
  };
  // A stem, the belly, the head and a foot to stand on.
  return 0.36 + 0.64 * bell(0.36, 0.24) + 0.24 * bell(0.90, 0.12) + 0.18 * bell(0.0, 0.12);
}

/// Wedge with the triangles `low` and `high`, corner over corner. The square between two corners is cut from
/// its lowest vertex, as its neighbour cuts it too. The lowest vertex of all opens two squares; the third
/// follows its own lowest.
void add_wedge(TetMesh& mesh, std::array<Index, 3> low, std::array<Index, 3> high) {
  const auto add = [&](Tetrahedron tet) {
    if (tet_volume(mesh, tet) < 0.0) std::swap(tet[2], tet[3]);
    mesh.tets.push_back(tet);
  };
  if (*std::min_element(high.begin(), high.end()) < *std::min_element(low.begin(), low.end()))
    std::swap(low, high);
  const std::size_t first = std::min_element(low.begin(), low.end()) - low.begin();
  const std::size_t second = (first + 1) % 3, third = (first + 2) % 3;
  const Index a = low[first], b = low[second], c = low[third];
  const Index d = high[first], e = high[second], f = high[third];
  add({a, d, e, f});
  // The square b, c, f, e.
  if (std::min(b, f) < std::min(c, e)) {
    add({a, b, e, f});
    add({a, b, c, f});
  } else {
    add({a, c, f, e});
    add({a, c, b, e});
  }
}

}  // namespace

TetMesh skittle(const SkittleShape& shape) {
  constexpr Index kMost = 1000;
  if (!(shape.height > 0.0) || !std::isfinite(shape.height))
    throw_usage("skittle: height {} m is not positive", shape.height);
  if (!(shape.radius > 0.0) || !std::isfinite(shape.radius))
    throw_usage("skittle: radius {} m is not positive", shape.radius);
  if (shape.segments < 3 || shape.segments > kMost)
    throw_usage("skittle: {} segments, [3, {}] are possible", shape.segments, kMost);
  if (shape.rings < 4 || shape.rings > kMost)
    throw_usage("skittle: {} rings, [4, {}] are possible", shape.rings, kMost);

  TetMesh mesh;
  for (Index ring = 0; ring < shape.rings; ++ring) {
    const double t = static_cast<double>(ring) / (shape.rings - 1);
    const double z = shape.height * (t - 0.5);
    mesh.vertices.emplace_back(0.0, 0.0, z);
    for (Index s = 0; s < shape.segments; ++s) {
      const double angle = 2.0 * std::numbers::pi * s / shape.segments;
      const double r = shape.radius * profile(t);
      mesh.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle), z);
    }
  }
  const Index stride = shape.segments + 1;
  for (Index ring = 0; ring + 1 < shape.rings; ++ring) {
    for (Index s = 0; s < shape.segments; ++s) {
      const Index axis = stride * ring, here = axis + 1 + s, next = axis + 1 + (s + 1) % shape.segments;
      add_wedge(mesh, {axis, here, next}, {axis + stride, here + stride, next + stride});
    }
  }
  return mesh;
}

}  // namespace signorini
