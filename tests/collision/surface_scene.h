#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/rng.h"
#include "bodies/surface_model.h"
#include "collision/contact_finder.h"
#include "geometry/block.h"

/// Small surfaces for detection tests.
namespace signorini::test {

struct SurfaceScene {
  SurfaceModel model;
  std::vector<Vector3> x;

  Index add(const TriangleMesh& mesh, bool movable = true, bool deformable = true) {
    x.insert(x.end(), mesh.vertices.begin(), mesh.vertices.end());
    return append_surface(model, count(mesh.vertices), mesh.triangles, {}, movable, deformable);
  }
};

inline TriangleMesh moved(TriangleMesh mesh, const Vector3& by) {
  for (Vector3& v : mesh.vertices) v += by;
  return mesh;
}

/// Surface of a block of cells³ cells with the given size, centred at 0.
inline TriangleMesh box(const Vector3& size, Index cells = 1) {
  std::vector<Index> unused;
  return moved(boundary_surface(kuhn_block({cells, cells, cells}, size), unused), -0.5 * size);
}

/// Sheet of cells² squares in the plane z = 0, centred at 0, seen from above.
inline TriangleMesh sheet(Index cells, double size) {
  TriangleMesh mesh;
  const double step = size / cells;
  for (Index j = 0; j <= cells; ++j) {
    for (Index i = 0; i <= cells; ++i)
      mesh.vertices.push_back({i * step - 0.5 * size, j * step - 0.5 * size, 0});
  }
  for (Index j = 0; j < cells; ++j) {
    for (Index i = 0; i < cells; ++i) {
      const Index a = i + (cells + 1) * j, b = a + 1, c = a + cells + 1, d = c + 1;
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({a, d, c});
    }
  }
  return mesh;
}

/// The mesh once more, `height` above.
inline void append_layer(TriangleMesh& mesh, double height) {
  const TriangleMesh copy = moved(mesh, {0, 0, height});
  append(mesh, copy);
}

/// Torus of 18 segments with square sections, 72 vertices and 144 triangles, around the z axis.
inline TriangleMesh ring(double radius, double section) {
  TriangleMesh mesh;
  constexpr Index segments = 18;
  for (Index s = 0; s < segments; ++s) {
    const double angle = 2.0 * std::numbers::pi * s / segments;
    const double in = radius - 0.5 * section, out = radius + 0.5 * section, h = 0.5 * section;
    for (const auto& [r, z] : {std::pair{in, -h}, {out, -h}, {out, h}, {in, h}})
      mesh.vertices.push_back({r * std::cos(angle), r * std::sin(angle), z});
  }
  for (Index s = 0; s < segments; ++s) {
    for (Index k = 0; k < 4; ++k) {
      const Index a = 4 * s + k, b = 4 * s + (k + 1) % 4;
      const Index c = 4 * ((s + 1) % segments) + k, d = 4 * ((s + 1) % segments) + (k + 1) % 4;
      mesh.triangles.push_back({a, c, d});
      mesh.triangles.push_back({a, d, b});
    }
  }
  return mesh;
}

inline Vector3 random_point(Rng& rng, double spread) {
  return {rng.uniform(-spread, spread), rng.uniform(-spread, spread), rng.uniform(-spread, spread)};
}

/// Every coordinate moved by up to `by`.
inline void shake(std::vector<Vector3>& x, Rng& rng, double by) {
  for (Vector3& p : x) p += random_point(rng, by);
}

/// One of each kind in a small space: soft boxes, rigid boxes, fixed ones, sheets, a string and lone
/// vertices.
inline SurfaceScene mixed_scene(std::uint64_t seed, double spread = 0.5) {
  Rng rng(seed);
  SurfaceScene scene;
  for (int i = 0; i < 3; ++i) {
    scene.add(moved(box({0.3, 0.2, 0.25}, 2), random_point(rng, spread)));
    scene.add(moved(box({0.2, 0.3, 0.2}), random_point(rng, spread)), true, false);
    scene.add(moved(sheet(4, 0.6), random_point(rng, spread)));
    scene.add(moved(box({0.4, 0.3, 0.3}), random_point(rng, spread)), false, false);
    scene.add(moved(sheet(1, 1.5), random_point(rng, spread)), false, false);
  }
  std::vector<Edge> links;
  for (Index i = 0; i + 1 < 8; ++i) links.push_back({i, i + 1});
  append_surface(scene.model, 8, {}, links, true, true);
  const Vector3 start = random_point(rng, spread);
  for (Index i = 0; i < 8; ++i) scene.x.push_back(start + Vector3(0.1 * i, 0, 0));
  append_surface(scene.model, 1, {}, {}, true, false);
  scene.x.push_back(random_point(rng, spread));
  shake(scene.x, rng, 0.02);
  return scene;
}

/// Rings in random poses on a cubic grid, close enough to touch, over a floor of `floor_cells`² squares.
inline SurfaceScene ring_pile(Index rings, std::uint64_t seed, Index floor_cells = 1) {
  Rng rng(seed);
  SurfaceScene scene;
  const auto side = static_cast<Index>(std::ceil(std::cbrt(static_cast<double>(rings))));
  const double pitch = 0.06;
  for (Index r = 0; r < rings; ++r) {
    TriangleMesh mesh = ring(0.04, 0.02);
    const Vector3 axis = random_point(rng, 1.0).normalized();
    const Matrix3 turn = Eigen::AngleAxisd(rng.uniform(0.0, 3.0), axis).toRotationMatrix();
    for (Vector3& v : mesh.vertices) v = turn * v;
    scene.add(moved(mesh, pitch * Vector3(r % side, r / side % side, r / (side * side))));
  }
  const double width = pitch * (side + 4);
  scene.add(moved(sheet(floor_cells, width), {0.5 * pitch * side, 0.5 * pitch * side, -0.05}), false, false);
  return scene;
}

/// Every pair that may be in contact at all, as keys; slow and plain.
template <class Visit>
void for_all_pairs(const SurfaceModel& model, Visit&& visit) {
  const auto allowed = [&](Index a, Index b) {
    const auto &first = model.bodies[a], &second = model.bodies[b];
    return (first.movable || second.movable) && (a != b || first.deformable);
  };
  for (Index v = 0; v < model.vertices(); ++v) {
    for (Index f = 0; f < count(model.triangles); ++f) {
      const Triangle& t = model.triangles[f];
      if (t[0] == v || t[1] == v || t[2] == v) continue;
      if (allowed(model.vertex_body[v], model.triangle_body[f]))
        visit(PairKey{PairKind::vertex_face, {v, t[0], t[1], t[2]}}, v, f);
    }
  }
  for (Index a = 0; a < count(model.edges); ++a) {
    for (Index b = a + 1; b < count(model.edges); ++b) {
      const Edge &e = model.edges[a], &g = model.edges[b];
      if (e[0] == g[0] || e[0] == g[1] || e[1] == g[0] || e[1] == g[1]) continue;
      if (allowed(model.edge_body[a], model.edge_body[b]))
        visit(PairKey{PairKind::edge_edge, {e[0], e[1], g[0], g[1]}}, a, b);
    }
  }
}

inline std::array<Vector3, 4> corners(const PairKey& key, const std::vector<Vector3>& x) {
  std::array<Vector3, 4> p;
  for (std::size_t i = 0; i < 4; ++i) p[i] = x[key.vertex[i]];
  return p;
}

inline std::vector<PairKey> keys(const std::vector<SurfaceContact>& contacts) {
  std::vector<PairKey> result;
  for (const SurfaceContact& c : contacts) result.push_back(c.key);
  return result;
}

}  // namespace signorini::test
