// Roots of basic operations: their errors against long double, and infinite, NaN, tiny and huge arguments.

#include "base/roots.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace signorini::roots_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kTiniest = std::numeric_limits<double>::denorm_min();
constexpr int kTrials = 200'000;

/// |computed − exact| in units of the last place of the computed one.
double ulps(double computed, long double exact) {
  const double size = std::abs(computed);
  return static_cast<double>(std::abs(computed - exact) / (std::nextafter(size, kInfinity) - size));
}
long double exact_hypotenuse(long double x, long double y) { return std::sqrt(x * x + y * y); }

int random_integer(Rng& random, int lowest, int highest) {
  return lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
}
/// ±m 2^e with m in [1, 2).
double random_number(Rng& random, int lowest, int highest) {
  const double m = random.uniform(1.0, 2.0);
  const int e = random_integer(random, lowest, highest);
  return std::ldexp(random.below(2) == 0 ? m : -m, e);
}

// long double rounds 2048 times as finely, and its squares of doubles neither over- nor underflow: both exist on x86-64 and
// arm64 (there with 113 bits).
TEST(Roots, ErrorOfTheHypotenuseIsBelowItsBound) {
  Rng random(26);
  double worst = 0.0, relative = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double x = random_number(random, -1, 1), y = random_number(random, -4, 1);
    const long double exact = exact_hypotenuse(x, y);
    worst = std::max(worst, ulps(hypotenuse(x, y), exact));
    relative = std::max(relative, static_cast<double>(std::abs(hypotenuse(x, y) / exact - 1.0L)));
  }
  EXPECT_LT(worst, 1.23);
  EXPECT_LE(relative, 0x1p-52);
  EXPECT_GT(worst, 0.9) << "the trials come near the bound";
}

TEST(Roots, HypotenuseOfTinyAndHugeNumbers) {
  Rng random(27);
  double worst = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const int e = random_integer(random, -1070, 1020);
    const double x = random_number(random, e, e + 2), y = random_number(random, e - 4, e + 2);
    worst = std::max(worst, ulps(hypotenuse(x, y), exact_hypotenuse(x, y)));
  }
  // Below 2⁻¹⁰²² the root is rounded twice, the second time by half a unit.
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(hypotenuse(0x3p+1000, 0x4p+1000), 0x5p+1000);
  EXPECT_EQ(hypotenuse(-0x3p-1074, 0x4p-1074), 0x5p-1074);
  EXPECT_EQ(hypotenuse(0x3p-480, -0x4p-480), 0x5p-480);
  EXPECT_EQ(hypotenuse(0x1p-500, 0x1p-1074), 0x1p-500);
  EXPECT_EQ(hypotenuse(kLargest, kLargest), kInfinity);
  EXPECT_EQ(hypotenuse(kLargest, kTiniest), kLargest);
  EXPECT_EQ(hypotenuse(0.0, -kTiniest), kTiniest);
}

TEST(Roots, HypotenuseOfZeroInfiniteAndNaNAsInC) {
  EXPECT_EQ(hypotenuse(0.0, -0.0), 0.0);
  EXPECT_FALSE(std::signbit(hypotenuse(-0.0, -0.0)));
  EXPECT_EQ(hypotenuse(-3.0, 0.0), 3.0);
  EXPECT_EQ(hypotenuse(-kInfinity, 1.0), kInfinity);
  EXPECT_EQ(hypotenuse(kNaN, -kInfinity), kInfinity);
  EXPECT_EQ(hypotenuse(kInfinity, kNaN), kInfinity);
  EXPECT_TRUE(std::isnan(hypotenuse(kNaN, 0.0)));
  EXPECT_TRUE(std::isnan(hypotenuse(1.0, kNaN)));
}

TEST(Roots, ErrorOfTheCubeRootIsBelowItsBound) {
  Rng random(28);
  double worst = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double x = trial % 2 == 0 ? random_number(random, 0, 2) : random_number(random, -1074, 1023);
    worst = std::max(worst, ulps(cube_root(x), std::cbrt(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 0.667);
  EXPECT_GT(worst, 0.6) << "the trials come near the bound";
}

TEST(Roots, CubeRootOfCubesAndOfZeroInfiniteAndNaN) {
  for (int n = 1; n <= 1 << 17; ++n) {
    const double cube = static_cast<double>(n) * n * n;
    ASSERT_EQ(cube_root(-cube), -n);
  }
  EXPECT_TRUE(std::signbit(cube_root(-0.0)));
  EXPECT_EQ(cube_root(-kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(cube_root(kNaN)));
  EXPECT_EQ(cube_root(0x1p-1074), 0x1p-358);
  EXPECT_EQ(cube_root(-0x8p-1074), -0x1p-357);
}

// The bits that x86-64 and arm64 give; √(x² + y²) with a fused multiplication has others.
TEST(Roots, BitsAreTheSameEverywhere) {
  EXPECT_EQ(hypotenuse(3.1, 0.3), 0x1.8ea75b2443df1p+1);
  Rng random(29);
  std::uint64_t digest = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const double x = random_number(random, -1, 1), y = random_number(random, -1, 1);
    for (const double root : {hypotenuse(x, y), cube_root(x)})
      digest = digest * 6364136223846793005u + std::bit_cast<std::uint64_t>(root);
  }
  EXPECT_EQ(digest, 5782330199336579166u);
}

}  // namespace
}  // namespace signorini::roots_test
