#pragma once

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/rng.h"
#include "bodies/surface_model.h"

namespace signorini::bench {

/// Deformable rings of 144 faces (the `rings` scene: 18 segments, square section) in random poses on a cubic
/// lattice, as dense as a settled pile, over a fixed floor; every ring moves on its own.
struct RingPile {
  SurfaceModel surface;
  std::vector<Vector3> x, v;  ///< m, m/s
};

inline TriangleMesh square_ring(double radius, double section) {
  TriangleMesh mesh;
  constexpr Index segments = 18;
  for (Index s = 0; s < segments; ++s) {
    const double angle = 2.0 * std::numbers::pi * s / segments;
    const double in = radius - 0.5 * section, out = radius + 0.5 * section, h = 0.5 * section;
    for (const auto& [r, z] : {std::pair{in, -h}, {out, -h}, {out, h}, {in, h}})
      mesh.vertices.push_back({r * std::cos(angle), r * std::sin(angle), z});
    for (Index k = 0; k < 4; ++k) {
      const Index a = 4 * s + k, b = 4 * s + (k + 1) % 4;
      const Index c = 4 * ((s + 1) % segments) + k, d = 4 * ((s + 1) % segments) + (k + 1) % 4;
      mesh.triangles.push_back({a, c, d});
      mesh.triangles.push_back({a, d, b});
    }
  }
  return mesh;
}

/// `floor_cells`² squares; 1 makes triangles as wide as the pile.
inline RingPile ring_pile(Index rings, Index floor_cells, double pitch = 0.07, double speed = 0.5) {
  RingPile pile;
  const TriangleMesh shape = square_ring(0.04, 0.02);
  const auto side = static_cast<Index>(std::ceil(std::cbrt(static_cast<double>(rings))));
  for (Index r = 0; r < rings; ++r) {
    Rng rng(1, static_cast<std::uint64_t>(r));
    const auto vector = [&rng] {
      return Vector3(rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0));
    };
    const Matrix3 turn = Eigen::AngleAxisd(rng.uniform(0.0, 3.0), vector().normalized()).toRotationMatrix();
    const Vector3 centre = pitch * (Vector3(r % side, r / side % side, r / (side * side)) + 0.1 * vector());
    const Vector3 velocity = speed * vector(), spin = speed / 0.05 * vector();
    for (const Vector3& p : shape.vertices) {
      pile.x.push_back(centre + turn * p);
      pile.v.push_back(velocity + spin.cross(turn * p));
    }
    append_surface(pile.surface, count(shape.vertices), shape.triangles, {}, true, true);
  }
  std::vector<Triangle> floor;
  const double width = pitch * (side + 2) / floor_cells;
  for (Index j = 0; j <= floor_cells; ++j) {
    for (Index i = 0; i <= floor_cells; ++i) {
      pile.x.push_back({width * i - 1.5 * pitch, width * j - 1.5 * pitch, -0.045});
      pile.v.push_back(Vector3::Zero());
      if (i == floor_cells || j == floor_cells) continue;
      const Index a = i + (floor_cells + 1) * j, c = a + floor_cells + 1;
      floor.push_back({a, a + 1, c + 1});
      floor.push_back({a, c + 1, c});
    }
  }
  append_surface(pile.surface, (floor_cells + 1) * (floor_cells + 1), floor, {}, false, false);
  return pile;
}

}  // namespace signorini::bench
