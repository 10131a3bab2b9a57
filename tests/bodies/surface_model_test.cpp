#include "bodies/surface_model.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "geometry/ball.h"

namespace signorini::surface_model_test {
namespace {

TEST(SurfaceModel, BodiesOwnConsecutiveVerticesTrianglesAndEdges) {
  SurfaceModel model;
  const TriangleMesh ball = icosphere(1);  // 42 vertices, 80 faces, 120 edges (Euler)
  EXPECT_EQ(append_surface(model, 42, ball.triangles, {}, true, true), 0);
  // A square of two triangles and a string of three vertices behind it.
  EXPECT_EQ(append_surface(model, 4, {{0, 1, 2}, {0, 2, 3}}, {}, true, true), 1);
  EXPECT_EQ(append_surface(model, 3, {}, {{1, 0}, {2, 1}, {1, 2}}, false, false), 2);
  ASSERT_EQ(model.bodies.size(), 3U);
  EXPECT_EQ(model.vertices(), 49);
  EXPECT_EQ(model.bodies[0].edges, 120);
  EXPECT_EQ(model.bodies[1].vertices, 46);
  EXPECT_EQ(model.bodies[1].triangles, 82);
  EXPECT_EQ(model.bodies[1].edges, 125);
  EXPECT_EQ(model.bodies[2].vertices, 49);
  EXPECT_EQ(model.bodies[2].triangles, 82);
  EXPECT_EQ(model.bodies[2].edges, 127);
  EXPECT_TRUE(model.bodies[0].closed);
  EXPECT_FALSE(model.bodies[1].closed);
  EXPECT_FALSE(model.bodies[2].closed);
  EXPECT_TRUE(model.bodies[1].movable && model.bodies[1].deformable);
  EXPECT_FALSE(model.bodies[2].movable || model.bodies[2].deformable);
  EXPECT_EQ(model.triangles[81], (Triangle{42, 44, 45}));
  EXPECT_EQ(model.edges[125], (Edge{46, 47}));
  EXPECT_EQ(model.edges[126], (Edge{47, 48}));
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    EXPECT_LT(model.edges[e][0], model.edges[e][1]);
    EXPECT_EQ(model.vertex_body[model.edges[e][0]], model.edge_body[e]);
    EXPECT_EQ(model.vertex_body[model.edges[e][1]], model.edge_body[e]);
  }
  ASSERT_EQ(model.triangle_body.size(), model.triangles.size());
  EXPECT_EQ(model.triangle_body[79], 0);
  EXPECT_EQ(model.triangle_body[80], 1);
}

TEST(SurfaceModel, RefusesNumbersOutsideTheBody) {
  SurfaceModel model;
  EXPECT_THROW(append_surface(model, 3, {{0, 1, 3}}, {}, true, true), InternalError);
  EXPECT_THROW(append_surface(model, 3, {}, {{1, 1}}, true, true), InternalError);
}

}  // namespace
}  // namespace signorini::surface_model_test
