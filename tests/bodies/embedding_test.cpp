#include "bodies/embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/point_triangle.h"

namespace signorini::embedding_test {
namespace {

constexpr double kEps = 2.22e-16;

Vector3 carried(const Embedding& embedding, const std::vector<Vector3>& x, std::size_t vertex) {
  Vector3 sum = Vector3::Zero();
  for (std::size_t c = 0; c < 4; ++c) {
    sum += embedding.weights[vertex][c] * x[embedding.nodes[vertex][c]];
  }
  return sum;
}

TriangleMesh points(std::vector<Vector3> x) { return {std::move(x), {}}; }

TEST(Embedding, ReproducesAffineMotionOfTheCage) {
  const TetMesh cage = tet_ball(2, 1.05);
  const TriangleMesh skin = icosphere(3);
  const Embedding embedding = embed(skin, cage, "ball");
  Matrix3 A;
  A << 1.2, 0.3, -0.1, 0.0, 0.8, 0.4, 0.2, -0.3, 1.1;
  const Vector3 t(1.0, -2.0, 0.5);
  std::vector<Vector3> x = cage.vertices;
  for (Vector3& p : x) p = A * p + t;
  for (std::size_t v = 0; v < skin.vertices.size(); ++v) {
    const auto& w = embedding.weights[v];
    EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 4 * kEps);
    // Weights of size 1 come from determinants of tets of size 0.3 at distance 1: some ten ε each.
    EXPECT_LT((carried(embedding, x, v) - (A * skin.vertices[v] + t)).norm(), 200 * kEps);
  }
}

TEST(Embedding, FindsTheTetThatHoldsThePoint) {
  const TetMesh cage = kuhn_block({3, 4, 5}, {0.3, 0.4, 0.5});
  Rng rng(5);
  std::vector<Vector3> x;
  for (int i = 0; i < 2000; ++i) {
    const double a = rng.uniform(0.0, 0.3);
    const double b = rng.uniform(0.0, 0.4);
    x.emplace_back(a, b, rng.uniform(0.0, 0.5));
  }
  const Embedding embedding = embed(points(x), cage, "block");
  for (std::size_t v = 0; v < x.size(); ++v) {
    // Inside up to the rounding of a point on a face.
    EXPECT_GE(*std::min_element(embedding.weights[v].begin(), embedding.weights[v].end()), -100 * kEps);
  }
}

TEST(Embedding, OfCageVerticesIsThatVertexOfTheFirstTetThatHasIt) {
  const TetMesh cage = kuhn_block({2, 2, 2}, {2.0, 2.0, 2.0});  // exact coordinates: ties are exact
  const Embedding embedding = embed(points(cage.vertices), cage, "block");
  for (Index v = 0; v < count(cage.vertices); ++v) {
    const auto first = std::find_if(cage.tets.begin(), cage.tets.end(), [v](const Tetrahedron& tet) {
      return std::find(tet.begin(), tet.end(), v) != tet.end();
    });
    EXPECT_EQ(embedding.nodes[v], *first);
    EXPECT_EQ(carried(embedding, cage.vertices, v), cage.vertices[v]);
  }
}

TEST(Embedding, ExtrapolatesFromTheNearestTet) {
  const TetMesh cage = kuhn_block({4, 4, 4}, {1.0, 1.0, 1.0});
  Rng rng(6);
  std::vector<Vector3> x;
  for (int i = 0; i < 300; ++i) {  // up to 0.1 above the top and beside it
    const double a = rng.uniform(-0.1, 1.1);
    const double b = rng.uniform(-0.1, 1.1);
    x.emplace_back(a, b, 1.0 + rng.uniform(0.0, 0.1));
  }
  const Embedding embedding = embed(points(x), cage, "block");
  const std::vector<Triangle> border = boundary_triangles(cage);
  for (std::size_t v = 0; v < x.size(); ++v) {
    EXPECT_LT((carried(embedding, cage.vertices, v) - x[v]).norm(), 100 * kEps);
    double nearest = std::numeric_limits<double>::infinity();  // of the whole cage
    double chosen = nearest;                                   // of the tet that was chosen
    for (const Triangle& t : border) {
      const double d =
          closest_point(x[v], cage.vertices[t[0]], cage.vertices[t[1]], cage.vertices[t[2]]).distance;
      nearest = std::min(nearest, d);
      const auto& nodes = embedding.nodes[v];
      if (std::all_of(t.begin(), t.end(),
                      [&](Index i) { return std::find(nodes.begin(), nodes.end(), i) != nodes.end(); })) {
        chosen = std::min(chosen, d);
      }
    }
    EXPECT_NEAR(chosen, nearest, 4 * kEps);
  }
}

TEST(Embedding, RefusesPointsFarOutsideAndBadCages) {
  const TetMesh cage = kuhn_block({4, 4, 4}, {1.0, 1.0, 1.0});
  // Edges of 1/4 (×3), √2/4 (×2) and √3/4 per Kuhn tet: half the mean is 0.153 m.
  const double half = 0.5 * (3.0 + 2.0 * std::sqrt(2.0) + std::sqrt(3.0)) / 24.0;
  EXPECT_NO_THROW(embed(points({{0.5, 0.5, 1.0 + 0.999 * half}}), cage, "body 'b'"));
  EXPECT_THROW(embed(points({{0.5, 0.5, 1.0 + 1.001 * half}}), cage, "body 'b'"), UsageError);
  EXPECT_THROW(embed(points({{0.5, std::nan(""), 0.5}}), cage, "b"), UsageError);
  EXPECT_THROW(embed(points({{0.5, 0.5, 0.5}}), {}, "b"), UsageError);
  TetMesh inverted = cage;
  std::swap(inverted.tets[7][0], inverted.tets[7][1]);
  EXPECT_THROW(embed(points({{0.5, 0.5, 0.5}}), inverted, "b"), UsageError);
}

}  // namespace
}  // namespace signorini::embedding_test
