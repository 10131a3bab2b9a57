#include "contact/friction_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace signorini::friction_law_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kSamples = 2000;
constexpr double kFrictions[] = {0.0, 1e-8, 0.3, 1.0, 10.0, 1e8};

Vector3 random_point(Rng& rng) {
  const double scale = std::pow(10.0, rng.uniform(-6.0, 6.0));
  return scale * Vector3(rng.normal(), rng.normal(), rng.normal());
}

/// Calls test(cone, x) on random points for every friction coefficient.
template <class Test>
void for_random_points(const Test& test) {
  Rng rng(7);
  for (const double mu : kFrictions) {
    for (int i = 0; i < kSamples; ++i) test(FrictionCone{mu}, random_point(rng));
  }
}

/// Moreau: x = P_K(x) − P_K*(−x) with orthogonal parts; a few rounded operations each, so 8 ε of ‖x‖.
TEST(FrictionCone, SplitsEveryPointIntoConeAndPolar) {
  for_random_points([](const FrictionCone& cone, const Vector3& x) {
    const Vector3 primal = cone.project(x);
    const Vector3 polar = -cone.project_dual(-x);
    EXPECT_LE((x - primal - polar).norm(), 8 * kEpsilon * x.norm()) << cone.mu << " " << x.transpose();
    EXPECT_LE(std::abs(primal.dot(polar)), 8 * kEpsilon * x.squaredNorm()) << cone.mu << " " << x.transpose();
  });
}

TEST(FrictionCone, ProjectionsLieInTheirCones) {
  for_random_points([](const FrictionCone& cone, const Vector3& x) {
    const double slack = 8 * kEpsilon * x.norm();
    EXPECT_TRUE(cone.contains(cone.project(x), slack)) << cone.mu << " " << x.transpose();
    const Vector3 dual = cone.project_dual(x);
    EXPECT_LE(cone.mu * dual.tail<2>().norm(), dual[0] + (1.0 + cone.mu) * slack)
        << cone.mu << " " << x.transpose();
  });
}

TEST(FrictionCone, ProjectionIsIdempotent) {
  for_random_points([](const FrictionCone& cone, const Vector3& x) {
    const Vector3 once = cone.project(x);
    EXPECT_LE((cone.project(once) - once).norm(), 8 * kEpsilon * x.norm());
    if (cone.contains(x, 0.0)) {
      EXPECT_EQ(once, x);
    }
  });
}

/// The projection is the nearest point: (x − P x)·(y − P x) ≤ 0 for every y of the cone.
TEST(FrictionCone, ProjectionIsNearest) {
  Rng rng(8);
  for_random_points([&rng](const FrictionCone& cone, const Vector3& x) {
    const Vector3 nearest = cone.project(x);
    const double angle = rng.uniform(0.0, 6.283185307179586);
    const double height = x.norm() * rng.uniform(0.0, 2.0) / (1.0 + cone.mu);
    const double radius = cone.mu * height * rng.uniform();
    const Vector3 y{height, radius * std::cos(angle), radius * std::sin(angle)};
    EXPECT_LE((x - nearest).dot(y - nearest), 32 * kEpsilon * x.squaredNorm());
  });
}

TEST(FrictionCone, WithoutFrictionIsTheNormalRay) {
  const FrictionCone ray{0.0};
  EXPECT_EQ(ray.project({2, 3, -4}), Vector3(2, 0, 0));
  EXPECT_EQ(ray.project({-2, 3, -4}), Vector3::Zero());
  EXPECT_EQ(ray.project_dual({2, 3, -4}), Vector3(2, 3, -4));
  EXPECT_EQ(ray.project_dual({-2, 3, -4}), Vector3(0, 3, -4));
}

/// μ → ∞: the cone opens to the half space r_N ≥ 0; μ² overflows here.
TEST(FrictionCone, OfHugeFrictionIsTheHalfSpace) {
  const FrictionCone wide{1e200};
  EXPECT_EQ(wide.project({2, 3, -4}), Vector3(2, 3, -4));
  const Vector3 p = wide.project({-2, 3, -4});
  EXPECT_NEAR(p[0], 0.0, kEpsilon);
  EXPECT_NEAR(p[1], 3.0, 8 * kEpsilon);
  EXPECT_NEAR(p[2], -4.0, 8 * kEpsilon);
  EXPECT_EQ(wide.project({-2, 0, 0}), Vector3::Zero());
}

TEST(FrictionCone, DeSaxceShiftMakesSlidingOrthogonal) {
  const FrictionCone cone{0.3};
  // H3: r = (10, −1.8, −2.4), u = (0, 1.2, 1.6), ‖u_T‖ = 2: û_N = 0.6 and r·û = 6 − 2.16 − 3.84 = 0.
  const Vector3 shifted = cone.de_saxce({0, 1.2, 1.6});
  EXPECT_NEAR(shifted[0], 0.6, 4 * kEpsilon);
  EXPECT_NEAR(shifted.dot(Vector3(10, -1.8, -2.4)), 0.0, 16 * kEpsilon * 10);
}

TEST(FrictionCone, TangentProjectionScalesRadially) {
  Rng rng(9);
  for (int i = 0; i < kSamples; ++i) {
    const Vector2 x = random_point(rng).tail<2>();
    const double bound = x.norm() * rng.uniform(0.0, 2.0);
    const Vector2 p = FrictionCone::project_tangent(x, bound);
    EXPECT_LE(p.norm(), bound * (1.0 + 4 * kEpsilon));
    if (x.norm() <= bound) {
      EXPECT_EQ(p, x);
    } else {
      EXPECT_NEAR(p.norm(), bound, 4 * kEpsilon * bound);
      EXPECT_LE(std::abs(p[0] * x[1] - p[1] * x[0]), 8 * kEpsilon * x.squaredNorm());
      EXPECT_GE(p.dot(x), 0.0);
    }
  }
}

TEST(FrictionCone, TangentProjectionNeverDividesByZero) {
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  constexpr double kLargest = std::numeric_limits<double>::max();
  EXPECT_EQ(FrictionCone::project_tangent({0, 0}, 0.0), Vector2::Zero());
  EXPECT_EQ(FrictionCone::project_tangent({0, 0}, 1.0), Vector2::Zero());
  EXPECT_EQ(FrictionCone::project_tangent({0, 0}, kLargest), Vector2::Zero());
  EXPECT_EQ(FrictionCone::project_tangent({3, 4}, 0.0), Vector2::Zero());
  EXPECT_EQ(FrictionCone::project_tangent({kSmallest, 0}, 1.0), Vector2(kSmallest, 0));
  EXPECT_EQ(FrictionCone::project_tangent({3, 4}, kLargest), Vector2(3, 4));
  const Vector2 nan = FrictionCone::project_tangent({std::nan(""), 1}, 1.0);
  EXPECT_TRUE(std::isnan(nan[0]));
}

TEST(FrictionPyramid, ClampsEachComponent) {
  EXPECT_EQ(FrictionPyramid::project_tangent({5, -0.5}, 2.0), Vector2(2, -0.5));
  EXPECT_EQ(FrictionPyramid::project_tangent({-5, 3}, 2.0), Vector2(-2, 2));
  EXPECT_EQ(FrictionPyramid::project_tangent({-5, 3}, 0.0), Vector2(0, 0));
  const Vector2 nan = FrictionPyramid::project_tangent({std::nan(""), 1}, 2.0);
  EXPECT_TRUE(std::isnan(nan[0]));
  EXPECT_EQ(nan[1], 1.0);
}

TEST(FrictionPyramid, ContainsTheConeAndItsCorners) {
  const FrictionPyramid pyramid{0.5};
  const FrictionCone cone{0.5};
  EXPECT_TRUE(pyramid.contains({2, 1, -1}, 0.0));
  EXPECT_FALSE(cone.contains({2, 1, -1}, 0.0));
  EXPECT_TRUE(cone.contains({2, 1, -1}, 0.42));  // √2 − 1 outside
  EXPECT_FALSE(pyramid.contains({2, 1.1, 0}, 0.05));
  EXPECT_FALSE(pyramid.contains({-1, 0, 0}, 0.5));
  EXPECT_TRUE(pyramid.contains({-1, 0, 0}, 1.0));
}

TEST(ContactLaw, BothLawsFitTheConcept) {
  static_assert(ContactLaw<FrictionCone>);
  static_assert(ContactLaw<FrictionPyramid>);
}

}  // namespace
}  // namespace signorini::friction_law_test
