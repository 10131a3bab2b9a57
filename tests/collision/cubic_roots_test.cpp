#include "collision/cubic_roots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace signorini::cubic_roots_test {
namespace {

constexpr double kUnit = 0x1p-52;

/// (t − a)(t − b)(t − c) in powers of t.
std::array<double, 4> product(double a, double b, double c) {
  return {-a * b * c, a * b + b * c + c * a, -(a + b + c), 1.0};
}

std::vector<double> roots_of(const std::array<double, 4>& c, double scale) {
  std::array<double, 3> roots{};
  const int count = cubic_roots(c, scale, roots);
  return {roots.begin(), roots.begin() + std::max(0, count)};
}

TEST(CubicRoots, ThreeSimpleRootsAreFoundInOrder) {
  const auto roots = roots_of(product(0.7, 0.1, 0.4), 1.0);
  ASSERT_EQ(roots.size(), 3U);
  // The error of a root is that of the polynomial over its slope: 0.18 and more here, 64 units of 1.
  EXPECT_NEAR(roots[0], 0.1, 400 * kUnit);
  EXPECT_NEAR(roots[1], 0.4, 800 * kUnit);
  EXPECT_NEAR(roots[2], 0.7, 400 * kUnit);
}

TEST(CubicRoots, RootsOutsideTheIntervalDoNotCountAndThoseAtItsEndsDo) {
  EXPECT_TRUE(roots_of(product(-0.5, 1.5, 3.0), 5.0).empty());
  const auto roots = roots_of(product(0.0, 1.0, -2.0), 2.0);
  ASSERT_EQ(roots.size(), 2U);
  EXPECT_NEAR(roots[0], 0.0, 100 * kUnit);
  EXPECT_NEAR(roots[1], 1.0, 100 * kUnit);
}

TEST(CubicRoots, DoubleAndTripleRootsCountOnce) {
  // |f| ≤ τ = 64 units holds up to √(τ / |f''/2|) = 1.6e-7 from a double root, ∛τ = 2.4e-5 from a triple one.
  const auto touching = roots_of(product(0.3, 0.3, 2.0), 1.0);
  ASSERT_EQ(touching.size(), 1U);
  EXPECT_NEAR(touching[0], 0.3, 2e-7);
  const auto at_both_ends = roots_of(product(1.0, 1.0, -1.0), 1.0);
  ASSERT_EQ(at_both_ends.size(), 1U);
  EXPECT_NEAR(at_both_ends[0], 1.0, 2e-7);
  const auto triple = roots_of(product(0.6, 0.6, 0.6), 1.0);
  ASSERT_EQ(triple.size(), 1U);
  EXPECT_NEAR(triple[0], 0.6, 3e-5);
}

TEST(CubicRoots, LowerDegreesNeedNoSpecialCase) {
  ASSERT_EQ(roots_of({-0.25, 0.5, 0.0, 0.0}, 1.0).size(), 1U);
  EXPECT_EQ(roots_of({-0.25, 0.5, 0.0, 0.0}, 1.0)[0], 0.5);
  ASSERT_EQ(roots_of({0.08, -0.6, 1.0, 0.0}, 1.0).size(), 2U);
  EXPECT_TRUE(roots_of({1.0, 0.0, 0.0, 0.0}, 1.0).empty());
}

TEST(CubicRoots, APolynomialOfRoundingsIsZeroThroughout) {
  std::array<double, 3> roots{};
  EXPECT_EQ(cubic_roots({0, 0, 0, 0}, 0.0, roots), -1);
  EXPECT_EQ(cubic_roots({3e-17, -1e-16, 2e-17, 0.0}, 1.0, roots), -1);
}

TEST(RootBands, EveryZeroOfRandomCubicsLiesInABandAndTheBandIsNarrow) {
  Rng rng(3);
  for (int trial = 0; trial < 20'000; ++trial) {
    const double a = rng.uniform(-0.5, 1.5);
    // Every third trial nearly a double root.
    const double b = trial % 3 == 0 ? a + std::pow(10.0, -rng.uniform(2, 12)) : rng.uniform(-0.5, 1.5);
    const double c = rng.uniform(-0.5, 1.5);
    const auto p = product(a, b, c);
    const BernsteinCubic f{p[0], p[0] + p[1] / 3, p[0] + (2 * p[1] + p[2]) / 3, p[0] + p[1] + p[2] + p[3]};
    const double tolerance = 64 * kUnit * 6.0;
    std::array<RootBand, 3> bands;
    const std::size_t count = root_bands(f, tolerance, bands);
    for (const double root : {a, b, c}) {
      if (root < 0.0 || root > 1.0) continue;
      EXPECT_TRUE(
          std::any_of(bands.begin(), bands.begin() + count,
                      [root](const RootBand& band) { return band.begin <= root && root <= band.end; }))
          << a << ' ' << b << ' ' << c;
    }
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_LE(bands[i].begin, bands[i].root);
      EXPECT_LE(bands[i].root, bands[i].end);
      // At least one zero of the derivative's or the cubic's own neighbourhood: no wider than a triple
      // root's.
      EXPECT_LT(bands[i].end - bands[i].begin, 8 * std::cbrt(tolerance));
      if (i > 0) {
        EXPECT_LT(bands[i - 1].end, bands[i].begin);
      }
    }
  }
}

}  // namespace
}  // namespace signorini::cubic_roots_test
