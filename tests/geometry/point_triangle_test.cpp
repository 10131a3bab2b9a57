#include "geometry/point_triangle.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace signorini::point_triangle_test {
namespace {

constexpr double kEps = 2.22e-16;

Vector3 random_point(Rng& rng, double size) {
  const double x = rng.uniform(-size, size);
  const double y = rng.uniform(-size, size);
  return {x, y, rng.uniform(-size, size)};
}

TEST(PointTriangle, KnowsTheSevenRegions) {
  const Vector3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
  const auto check = [&](const Vector3& p, const Vector3& weights, TriangleFeature feature, double distance) {
    const PointTriangle result = closest_point(p, a, b, c);
    EXPECT_EQ(result.feature, feature) << p.transpose();
    EXPECT_LT((result.barycentric - weights).norm(), 4 * kEps) << p.transpose();
    EXPECT_NEAR(result.distance, distance, 4 * kEps) << p.transpose();
  };
  check({0.25, 0.25, 2}, {0.5, 0.25, 0.25}, TriangleFeature::face, 2.0);
  check({0.25, 0.25, -2}, {0.5, 0.25, 0.25}, TriangleFeature::face, 2.0);
  check({0.25, -3, 0}, {0.75, 0.25, 0}, TriangleFeature::edge, 3.0);
  check({-3, 0.5, 0}, {0.5, 0, 0.5}, TriangleFeature::edge, 3.0);
  check({1, 1, 0}, {0, 0.5, 0.5}, TriangleFeature::edge, std::sqrt(0.5));
  check({-1, -1, 0}, {1, 0, 0}, TriangleFeature::vertex, std::sqrt(2.0));
  check({3, 0, 0}, {0, 1, 0}, TriangleFeature::vertex, 2.0);
  check({0, 4, 0}, {0, 0, 1}, TriangleFeature::vertex, 3.0);
}

TEST(PointTriangle, NoSampledPointOfTheTriangleIsCloser) {
  Rng rng(7);
  for (int trial = 0; trial < 500; ++trial) {
    const std::array<Vector3, 3> x{random_point(rng, 1), random_point(rng, 1), random_point(rng, 1)};
    const Vector3 p = random_point(rng, 2);
    const PointTriangle result = closest_point(p, x[0], x[1], x[2]);
    EXPECT_NEAR(result.barycentric.sum(), 1.0, 4 * kEps);
    EXPECT_GE(result.barycentric.minCoeff(), 0.0);
    const Vector3 rebuilt =
        result.barycentric[0] * x[0] + result.barycentric[1] * x[1] + result.barycentric[2] * x[2];
    EXPECT_LT((rebuilt - result.closest).norm(), 8 * kEps);
    EXPECT_EQ(result.feature == TriangleFeature::face, result.barycentric.minCoeff() > 0.0);
    for (int i = 0; i <= 20; ++i) {
      for (int j = 0; i + j <= 20; ++j) {
        const Vector3 sample = (i * x[0] + j * x[1] + (20 - i - j) * x[2]) / 20.0;
        // The closest point of a sliver is known to about √ε of its size only.
        EXPECT_GE((p - sample).norm(), result.distance - 1e-8);
      }
    }
  }
}

TEST(PointTriangle, DegenerateTrianglesAreSegmentsAndPoints) {
  const Vector3 a(0, 0, 0), b(2, 0, 0), middle(1, 0, 0);
  const PointTriangle segment = closest_point({0.5, 1, 0}, a, b, middle);
  EXPECT_NEAR(segment.distance, 1.0, 4 * kEps);
  EXPECT_NEAR(segment.closest[0], 0.5, 4 * kEps);
  const PointTriangle point = closest_point({3, 4, 0}, a, a, a);
  EXPECT_EQ(point.distance, 5.0);
  EXPECT_TRUE(point.barycentric.allFinite());
}

TEST(PointTriangle, RotatingTheCornersRotatesTheWeights) {
  Rng rng(11);
  for (int trial = 0; trial < 200; ++trial) {
    const std::array<Vector3, 3> x{random_point(rng, 1), random_point(rng, 1), random_point(rng, 1)};
    const Vector3 p = random_point(rng, 1.5);
    const PointTriangle one = closest_point(p, x[0], x[1], x[2]);
    const PointTriangle two = closest_point(p, x[1], x[2], x[0]);
    // 1000 ε: weights of a random triangle lose a factor of its edge over its height.
    EXPECT_NEAR(one.distance, two.distance, 1000 * kEps);
  }
}

}  // namespace
}  // namespace signorini::point_triangle_test
