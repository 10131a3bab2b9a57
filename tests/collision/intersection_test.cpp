#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"
#include "collision/contact_finder.h"
#include "geometry/ball.h"
#include "geometry/block.h"

namespace signorini::intersection_test {
namespace {

struct Scene {
  SurfaceModel surface;
  std::vector<Vector3> x;

  Index add(const TriangleMesh& mesh, bool movable = true, bool deformable = true) {
    x.insert(x.end(), mesh.vertices.begin(), mesh.vertices.end());
    return append_surface(surface, count(mesh.vertices), mesh.triangles, {}, movable, deformable);
  }
  std::optional<Intersection> intersection() const { return find_intersection(surface, x); }
  std::optional<Intersection> containment() const { return find_containment(surface, x); }
};

TriangleMesh shifted(TriangleMesh mesh, const Vector3& by, double scale = 1.0) {
  for (Vector3& p : mesh.vertices) p = scale * p + by;
  return mesh;
}

/// The cube [0, 1]³ with n cells along each edge.
TriangleMesh cube(Index n = 1) {
  std::vector<Index> nodes;
  return boundary_surface(kuhn_block({n, n, n}, {1, 1, 1}), nodes);
}

TriangleMesh sheet(Index n, double size) {
  TriangleMesh mesh;
  for (Index j = 0; j <= n; ++j) {
    for (Index i = 0; i <= n; ++i) mesh.vertices.push_back({size * i / n, size * j / n, 0.0});
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index k = j * (n + 1) + i;
      mesh.triangles.push_back({k, k + 1, k + n + 2});
      mesh.triangles.push_back({k, k + n + 2, k + n + 1});
    }
  }
  return mesh;
}

/// Any edge through any triangle in exact order, by solving for the point: the obvious double loop.
std::optional<std::pair<Index, Index>> brute_force(const Scene& scene) {
  const auto x = [&](Index v) -> const Vector3& { return scene.x[v]; };
  for (Index e = 0; e < count(scene.surface.edges); ++e) {
    for (Index t = 0; t < count(scene.surface.triangles); ++t) {
      const Edge& edge = scene.surface.edges[e];
      const Triangle& k = scene.surface.triangles[t];
      bool shared = false;
      for (const Index v : k) shared = shared || v == edge[0] || v == edge[1];
      if (shared) continue;
      Matrix3 A;
      A << x(k[1]) - x(k[0]), x(k[2]) - x(k[0]), x(edge[0]) - x(edge[1]);
      const Vector3 solution = A.fullPivLu().solve(x(edge[0]) - x(k[0]));
      if (solution.minCoeff() > 0.0 && solution[0] + solution[1] < 1.0 && solution[2] < 1.0)
        return std::pair(e, t);
    }
  }
  return {};
}

TEST(FindIntersection, RandomTriangleSoupAgreesWithTheDoubleLoop) {
  Rng rng(5);
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Scene scene;
    for (int body = 0; body < 30; ++body) {
      // Sizes over four orders of magnitude.
      const double size = 0.6 * std::pow(10.0, rng.uniform(-4, 0));
      const Vector3 centre(rng.uniform(), rng.uniform(), rng.uniform());
      TriangleMesh mesh;
      for (int v = 0; v < 6; ++v)
        mesh.vertices.push_back(centre + size * Vector3(rng.normal(), rng.normal(), rng.normal()));
      mesh.triangles = {{0, 1, 2}, {3, 4, 5}};
      scene.add(mesh);
    }
    const auto expected = brute_force(scene);
    const auto hit = scene.intersection();
    ASSERT_EQ(hit.has_value(), expected.has_value()) << trial;
    if (!hit) continue;
    ++found;
    EXPECT_EQ(std::pair(hit->edge, hit->triangle), *expected);
    EXPECT_EQ(hit->edge_body, scene.surface.edge_body[hit->edge]);
    EXPECT_EQ(hit->triangle_body, scene.surface.triangle_body[hit->triangle]);
  }
  EXPECT_GT(found, 50);
}

TEST(FindIntersection, MeshesThatTouchDoNotIntersectAndMeshesThatOverlapSlightlyDo) {
  for (const Vector3& direction : {Vector3(0, 0, 1), Vector3(1, 0, 0), Vector3(0, -1, 0)}) {
    // Aligned cubes: faces on faces, edges on edges, vertices on vertices. Far from the origin as well.
    for (const double far : {0.0, 1000.0}) {
      const Vector3 base = Vector3::Constant(far / 3.0);
      Scene scene;
      scene.add(shifted(cube(3), base));
      scene.add(shifted(cube(3), base + direction));
      EXPECT_FALSE(scene.intersection()) << far;
      EXPECT_FALSE(scene.containment()) << far;
      // A cube set down at an offset.
      Scene resting;
      resting.add(shifted(cube(3), base));
      resting.add(
          shifted(cube(2), base + direction + 0.3 * Vector3(direction[1], direction[2], direction[0])));
      EXPECT_FALSE(resting.intersection()) << far;
      for (Vector3& p : std::span(resting.x).subspan(resting.surface.bodies[0].vertices))
        p -= 1e-9 * direction;
      EXPECT_TRUE(resting.intersection()) << far;
    }
  }
}

TEST(FindIntersection, AnEdgeExactlyThroughASeamOrACornerOfTheSurfaceIsFound) {
  // A closed octahedron; needles through the middle of its edges and through its tips.
  TriangleMesh octahedron;
  octahedron.vertices = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  octahedron.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                          {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  const auto with_needle = [&](const Vector3& from, const Vector3& to) {
    Scene scene;
    scene.add(octahedron);
    scene.x.push_back(from);
    scene.x.push_back(to);
    append_surface(scene.surface, 2, {}, {{0, 1}}, true, true);
    return scene.intersection();
  };
  EXPECT_TRUE(with_needle({2, 2, 0}, {0, 0, 0}));                  // seam, ends inside
  EXPECT_TRUE(with_needle({2, 2, 0}, {-2, -2, 0}));                // in and out
  EXPECT_TRUE(with_needle({0, 0, 2}, {0, 0, 0}));                  // tip
  EXPECT_TRUE(with_needle({0.25, 0.125, 2}, {-0.25, -0.125, 0}));  // tip, oblique
  EXPECT_TRUE(with_needle({3, 0, 0}, {-3, 0, 0}));                 // both tips
  // Touching a ridge or a tip from outside is no passage.
  EXPECT_FALSE(with_needle({1, 0, 1}, {0, 1, -1}));
  EXPECT_FALSE(with_needle({-2, 0.5, 1}, {2, -0.5, 1}));
  EXPECT_FALSE(with_needle({0.5, 0.5, -1}, {0.5, 0.5, 1}));
}

TEST(FindIntersection, SelfIntersectionCountsInDeformableBodiesOnly) {
  for (const bool deformable : {true, false}) {
    Scene scene;
    scene.add(sheet(20, 1.0), true, deformable);
    EXPECT_FALSE(scene.intersection());
    // Rolled up along x with a radius that shrinks too fast: the end passes through the beginning.
    for (Vector3& p : scene.x) {
      const double angle = 7.2 * p[0];
      const double radius = p[0] < 0.5 ? 0.1 : 0.1 + 0.05 * (0.93 - p[0]);
      p = Vector3(radius * std::cos(angle), p[1], radius * std::sin(angle));
    }
    EXPECT_EQ(scene.intersection().has_value(), deformable);
  }
}

TEST(FindIntersection, TwoFixedBodiesMayOverlap) {
  Scene scene;
  scene.add(cube(), false, false);
  scene.add(shifted(cube(), {0.5, 0.25, 0.125}), false, false);
  EXPECT_FALSE(scene.intersection());
  scene.surface.bodies[1].movable = true;
  EXPECT_TRUE(scene.intersection());
}

TEST(FindIntersection, PositionsThatAreNoNumbersAreRefused) {
  Scene scene;
  scene.add(cube());
  scene.x[3][1] = std::nan("");
  EXPECT_THROW(scene.intersection(), InputError);
}

TEST(FindIntersection, ManySpheresInAGridTouchingNothingTakeLittleTime) {
  Scene scene;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k < 5; ++k) scene.add(shifted(icosphere(2), {2.001 * i, 2.001 * j, 2.001 * k}));
    }
  }
  scene.add(shifted(cube(), {-2, -2, -2}, 12.0));  // large triangles around all of them
  EXPECT_FALSE(scene.intersection());
  const auto inside = scene.containment();
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->triangle_body, 125);
  // The last sphere moves into its neighbour.
  const std::size_t first = scene.surface.bodies[123].vertices;
  const std::size_t last = scene.surface.bodies[124].vertices;
  for (std::size_t v = first; v < last; ++v) scene.x[v][2] -= 0.01;
  const auto hit = scene.intersection();
  ASSERT_TRUE(hit);
  EXPECT_EQ(std::min(hit->edge_body, hit->triangle_body), 123);
  EXPECT_EQ(std::max(hit->edge_body, hit->triangle_body), 124);
}

TEST(FindContainment, ABodyInsideAClosedOneIsFoundAndBesideItNot) {
  Scene scene;
  const Index outer = scene.add(icosphere(2));
  const Index inner = scene.add(shifted(cube(), {-0.1, -0.2, -0.3}, 0.4));
  EXPECT_FALSE(scene.intersection());
  const auto inside = scene.containment();
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->edge_body, inner);
  EXPECT_EQ(inside->triangle_body, outer);
  EXPECT_LT(inside->position.norm(), 1.0);
  // In the corner of the sphere's box, but not in the sphere.
  Scene beside;
  beside.add(icosphere(2));
  beside.add(shifted(cube(), {0.7, 0.7, 0.7}, 0.1));
  EXPECT_FALSE(beside.containment());
}

TEST(FindContainment, OpenSurfacesHaveNoInsideAndRoomsThatFaceInwardAreFree) {
  TriangleMesh open = shifted(cube(), {-1, -1, -1}, 3.0);
  open.triangles.pop_back();
  Scene scene;
  scene.add(open);
  scene.add(cube());
  EXPECT_FALSE(scene.containment());
  TriangleMesh room = shifted(cube(), {-1, -1, -1}, 3.0);
  for (Triangle& t : room.triangles) std::swap(t[1], t[2]);
  Scene free;
  free.add(room, false, false);
  free.add(cube());
  EXPECT_FALSE(free.containment());
  // A sheet inside a solid is as wrong as a solid.
  Scene buried;
  buried.add(shifted(cube(), {-1, -1, -1}, 3.0));
  buried.add(sheet(2, 0.5));
  EXPECT_TRUE(buried.containment());
}

TEST(FindContainment, VerticesOnTheSurfaceDoNotDecide) {
  Scene coincident;
  coincident.add(cube(2));
  coincident.add(cube(2));
  EXPECT_TRUE(coincident.containment());
  // Half the size in a corner: seven of eight vertices lie in the surface of the larger one.
  Scene corner;
  corner.add(cube());
  corner.add(shifted(cube(), {0, 0, 0}, 0.5));
  EXPECT_TRUE(corner.containment());
  // In the bay of an L: inside its box, touching two of its faces.
  Scene bay;
  std::vector<Index> nodes;
  TetMesh l_shape = kuhn_block({2, 2, 1}, {2, 2, 1});
  std::erase_if(l_shape.tets, [&](const Tetrahedron& tet) {
    Vector3 sum = Vector3::Zero();
    for (const Index v : tet) sum += l_shape.vertices[v];
    return sum[0] > 4.0 && sum[1] > 4.0;
  });
  bay.add(boundary_surface(l_shape, nodes));
  bay.add(shifted(cube(), {1, 1, 0}));
  EXPECT_FALSE(bay.intersection());
  EXPECT_FALSE(bay.containment());
}

}  // namespace
}  // namespace signorini::intersection_test
