// End to end: bodies move on straight paths; where no pair of a vertex and a face and no pair of edges has an
// impact, the state at the end is free of intersections, by a check that shares nothing with them.

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "base/rng.h"
#include "collision/contact_finder.h"
#include "collision/continuous.h"
#include "geometry/ball.h"
#include "geometry/block.h"

namespace signorini::tunnelling_test {
namespace {

struct Scene {
  SurfaceModel surface;
  std::vector<Vector3> x;

  void add(const TriangleMesh& mesh) {
    x.insert(x.end(), mesh.vertices.begin(), mesh.vertices.end());
    append_surface(surface, count(mesh.vertices), mesh.triangles, {}, true, true);
  }
};

bool share(std::span<const Index> a, std::span<const Index> b) {
  return std::any_of(a.begin(), a.end(),
                     [&](Index v) { return std::find(b.begin(), b.end(), v) != b.end(); });
}

/// Earliest impact of any pair of the scene, 2 if there is none. Every pair is tested.
double first_impact(const Scene& scene, const std::vector<Vector3>& end) {
  double first = 2.0;
  const auto four = [](const std::vector<Vector3>& y, Index a, Index b, Index c, Index d) {
    return std::array<Vector3, 4>{y[a], y[b], y[c], y[d]};
  };
  std::vector<Vector3> motion(end.size());
  for (std::size_t i = 0; i < end.size(); ++i) motion[i] = end[i] - scene.x[i];
  for (Index v = 0; v < scene.surface.vertices(); ++v) {
    for (const Triangle& t : scene.surface.triangles) {
      if (share(std::array{v}, t)) continue;
      if (const auto impact =
              vertex_face_impact(four(scene.x, v, t[0], t[1], t[2]), four(motion, v, t[0], t[1], t[2])))
        first = std::min(first, impact->time);
    }
  }
  for (std::size_t i = 0; i < scene.surface.edges.size(); ++i) {
    for (std::size_t j = i + 1; j < scene.surface.edges.size(); ++j) {
      const Edge &a = scene.surface.edges[i], &b = scene.surface.edges[j];
      if (share(a, b)) continue;
      if (const auto impact =
              edge_edge_impact(four(scene.x, a[0], a[1], b[0], b[1]), four(motion, a[0], a[1], b[0], b[1])))
        first = std::min(first, impact->time);
    }
  }
  return first;
}

TriangleMesh small_block() {
  std::vector<Index> nodes;
  return boundary_surface(kuhn_block({2, 1, 1}, {1.0, 0.5, 0.5}), nodes);
}

Scene two_bodies(Rng& rng, bool aligned) {
  Scene scene;
  for (const double side : {-1.0, 1.0}) {
    TriangleMesh mesh = rng.below(2) == 0 ? small_block() : icosphere(0);
    const Vector3 axis = Vector3(rng.normal(), rng.normal(), rng.normal()).normalized();
    const Eigen::AngleAxisd turn(aligned ? 0.0 : rng.uniform(0, 3), axis);
    const Vector3 offset = aligned ? Vector3(1.25 * side, 0.25 * static_cast<double>(rng.below(3)), 0)
                                   : Vector3(1.1 * side, rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5));
    for (Vector3& p : mesh.vertices) p = turn * (0.6 * p) + offset;
    scene.add(mesh);
  }
  return scene;
}

/// Rigid parts plus a deformation; aligned motion runs along the axis between the bodies.
std::vector<Vector3> moved(const Scene& scene, Rng& rng, bool aligned) {
  std::vector<Vector3> end = scene.x;
  for (Index body = 0; body < 2; ++body) {
    const double towards = (body == 0 ? 1.0 : -1.0) * rng.uniform(0.0, 1.6);
    const Vector3 travel =
        aligned ? Vector3(towards, 0, 0) : Vector3(towards, rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6));
    Matrix3 change = Matrix3::Zero();
    for (Index k = 0; k < 9 && !aligned; ++k) change(k / 3, k % 3) = rng.uniform(-0.3, 0.3);
    const double noise = aligned ? 0.0 : rng.uniform(0.0, 0.05);
    for (std::size_t i = 0; i < end.size(); ++i) {
      if (scene.surface.vertex_body[i] != body) continue;
      end[i] += travel + change * (scene.x[i] - Vector3(body == 0 ? -1.1 : 1.1, 0, 0)) +
                noise * Vector3(rng.normal(), rng.normal(), rng.normal());
    }
  }
  return end;
}

void check_paths(int trials, std::uint64_t seed, bool aligned, int least_of_each) {
  Rng rng(seed);
  int free = 0, hit = 0, overlapping = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Scene scene = two_bodies(rng, aligned);
    if (find_intersection(scene.surface, scene.x) || find_containment(scene.surface, scene.x)) continue;
    const std::vector<Vector3> end = moved(scene, rng, aligned);
    const double impact = first_impact(scene, end);
    const bool intersects = find_intersection(scene.surface, end) || find_containment(scene.surface, end);
    overlapping += intersects;
    if (impact > 1.0) {
      ++free;
      EXPECT_FALSE(intersects) << "trial " << trial;
    } else {
      ++hit;
      // Up to shortly before the first impact everything is free.
      std::vector<Vector3> before = scene.x;
      for (std::size_t i = 0; i < before.size(); ++i)
        before[i] += impact * (1.0 - 1e-7) * (end[i] - scene.x[i]);
      EXPECT_FALSE(find_intersection(scene.surface, before)) << "trial " << trial;
    }
  }
  EXPECT_GT(free, least_of_each);
  EXPECT_GT(hit, least_of_each);
  EXPECT_GT(overlapping, least_of_each);
}

TEST(Tunnelling, BodiesOnRandomPathsWithoutAnImpactEndFreeOfIntersections) {
  check_paths(4'000, 31, false, 500);
}

TEST(Tunnelling, AlignedBodiesMeetFaceToFaceWithParallelEdgesAndSharedPlanes) {
  check_paths(2'000, 32, true, 200);
}

TEST(Tunnelling, RidgesThatCrossAtASmallAngleMeetAsEdgesBeforeTheirVerticesMeetFaces) {
  // Two roofs, ridge on ridge, 2e-4 rad apart (T22): the vertices are 1e-4 m beside the other ridge at its
  // ends.
  Scene scene;
  for (const double side : {-1.0, 1.0}) {
    TriangleMesh roof;
    const double angle = side * 1e-4;
    const Vector3 along(std::cos(angle), std::sin(angle), 0.0),
        across(-std::sin(angle), std::cos(angle), 0.0);
    const Vector3 ridge(0, 0, side < 0.0 ? 0.0 : 1e-3), down(0, 0, side * 0.5);
    for (const double s : {-0.5, 0.5}) {
      for (const double t : {-0.5, 0.0, 0.5}) {
        roof.vertices.push_back(ridge + s * along + t * across + (t == 0.0 ? Vector3(0, 0, 0) : down));
      }
    }
    roof.triangles = {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}};
    scene.add(roof);
  }
  ASSERT_FALSE(find_intersection(scene.surface, scene.x));
  // Down by 1 mm and 20 µm more: the ridges are through each other, no vertex is through a face.
  std::vector<Vector3> end = scene.x;
  for (std::size_t i = 6; i < 12; ++i) end[i][2] -= 1.02e-3;
  EXPECT_TRUE(find_intersection(scene.surface, end));
  EXPECT_NEAR(first_impact(scene, end), 1.0 / 1.02, 1e-9);
  int by_vertices = 0;
  for (const Triangle& t : scene.surface.triangles) {
    for (std::size_t v = 0; v < 12; ++v) {
      if (scene.surface.vertex_body[v] == scene.surface.vertex_body[t[0]]) continue;
      std::array<Vector3, 4> x{scene.x[v], scene.x[t[0]], scene.x[t[1]], scene.x[t[2]]};
      std::array<Vector3, 4> d{end[v], end[t[0]], end[t[1]], end[t[2]]};
      for (std::size_t i = 0; i < 4; ++i) d[i] -= x[i];
      by_vertices += vertex_face_impact(x, d).has_value();
    }
  }
  EXPECT_EQ(by_vertices, 0);
}

TEST(Tunnelling, ASheetThatFoldsOverItselfIsSeen) {
  Rng rng(33);
  int free = 0, crossing = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Scene scene;
    TriangleMesh sheet;
    const Index n = 5;
    for (Index j = 0; j <= n; ++j) {
      for (Index i = 0; i <= n; ++i) sheet.vertices.emplace_back(i, j, 0.0);
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        const Index k = j * (n + 1) + i;
        sheet.triangles.push_back({k, k + 1, k + n + 2});
        sheet.triangles.push_back({k, k + n + 2, k + n + 1});
      }
    }
    scene.add(sheet);
    std::vector<Vector3> end = scene.x;
    const double fold = rng.uniform(-1.5, 1.5), noise = rng.uniform(0.0, 0.6);
    for (Vector3& p : end) {
      if (p[0] > 2.5) p[0] = 2.5 - fold * (p[0] - 2.5);
      p[2] += noise * rng.normal();
    }
    const double impact = first_impact(scene, end);
    const bool intersects = find_intersection(scene.surface, end).has_value();
    crossing += intersects;
    if (impact > 1.0) {
      ++free;
      EXPECT_FALSE(intersects) << "trial " << trial;
    }
  }
  EXPECT_GT(crossing, 100);
  EXPECT_GT(free, 50);
}

}  // namespace
}  // namespace signorini::tunnelling_test
