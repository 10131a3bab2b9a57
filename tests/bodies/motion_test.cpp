#include "bodies/motion.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "base/check.h"

namespace signorini::motion_test {
namespace {

constexpr double kEps = 2.22e-16;
constexpr double kPi = std::numbers::pi;

TEST(Motion, WithoutTermsLeavesEveryPointExactlyWhereItIs) {
  const Motion motion;
  EXPECT_TRUE(motion.is_static());
  const Vector3 x(0.1, -7.3, 1e-9);
  EXPECT_EQ(motion.position(x, 123.4), x);
}

TEST(Motion, TranslatesBetweenStartAndStopOnly) {
  Motion motion;
  motion.velocity = {2.0, 0.0, -1.0};
  motion.start = 1.0;
  motion.stop = 3.0;
  EXPECT_FALSE(motion.is_static());
  const Vector3 x(5.0, 6.0, 7.0);
  EXPECT_EQ(motion.position(x, 0.5), x);
  EXPECT_EQ(motion.position(x, 2.0), Vector3(7.0, 6.0, 6.0));
  EXPECT_EQ(motion.position(x, 99.0), Vector3(9.0, 6.0, 5.0));
}

TEST(Motion, SpinsAroundThePivotWhateverTheLengthOfTheAxis) {
  Motion motion;
  motion.pivot = {1.0, 2.0, 3.0};
  motion.axis = {0.0, 0.0, 5.0};
  motion.spin = 0.5 * kPi;
  const Vector3 x = motion.position({2.0, 2.0, 4.0}, 1.0);
  EXPECT_LT((x - Vector3(1.0, 3.0, 4.0)).norm(), 16 * kEps);
  EXPECT_LT((motion.position(motion.pivot, 0.37) - motion.pivot).norm(), 16 * kEps);
}

TEST(Motion, OscillatesWithItsAmplitude) {
  Motion motion;
  motion.amplitude = {0.0, 0.25, 0.0};
  motion.frequency = 2.0;
  EXPECT_LT((motion.position(Vector3::Zero(), 0.125) - Vector3(0.0, 0.25, 0.0)).norm(), 4 * kEps);
  EXPECT_LT(motion.position(Vector3::Zero(), 0.5).norm(), 4 * kEps);
  motion.frequency = 0.0;
  EXPECT_TRUE(motion.is_static());
}

TEST(Motion, InterpolatesKeysAndHoldsTheEnds) {
  Motion motion;
  motion.key_time = {1.0, 2.0, 4.0};
  motion.key_displacement = {Vector3(0, 0, 0), Vector3(0, 0, -1), Vector3(2, 0, -1)};
  motion.key_angle = {0.0, 0.0, kPi};
  motion.validate("body 'press'");
  EXPECT_FALSE(motion.is_static());
  EXPECT_EQ(motion.position({1, 0, 0}, 0.0), Vector3(1, 0, 0));
  EXPECT_EQ(motion.position({1, 0, 0}, 1.5), Vector3(1, 0, -0.5));
  EXPECT_LT((motion.position({1, 0, 0}, 3.0) - Vector3(1, 1, -1)).norm(), 8 * kEps);
  EXPECT_LT((motion.position({1, 0, 0}, 50.0) - Vector3(1, 0, -1)).norm(), 8 * kEps);
}

TEST(Motion, TheTransformIsTheMotionOfEveryPoint) {
  Motion motion;
  motion.pivot = {1.0, -2.0, 0.5};
  motion.axis = {1.0, 2.0, -1.0};
  motion.spin = 3.0;
  motion.velocity = {0.1, 0.2, 0.3};
  const MotionTransform at = motion.transform(0.7);
  EXPECT_LT((at.rotation * at.rotation.transpose() - Matrix3::Identity()).norm(), 16 * kEps);
  const Vector3 x(0.3, 0.4, 9.0);
  EXPECT_EQ(motion.position(x, 0.7), at.rotation * x + at.translation);
}

TEST(Motion, RefusesScriptsThatMakeNoSense) {
  const auto refused = [](auto change) {
    Motion motion;
    change(motion);
    EXPECT_THROW(motion.validate("body 'x'"), UsageError);
  };
  EXPECT_NO_THROW(Motion().validate("body 'x'"));
  refused([](Motion& m) { m.axis = Vector3::Zero(); });
  refused([](Motion& m) { m.stop = m.start - 1.0; });
  refused([](Motion& m) { m.frequency = -1.0; });
  refused([](Motion& m) { m.velocity[1] = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Motion& m) { m.key_time = {0.0}; });
  refused([](Motion& m) { m.key_angle = {0.0}; });
  refused([](Motion& m) {
    m.key_time = {0.0, 0.0};
    m.key_angle = {0.0, 1.0};
  });
  refused([](Motion& m) {
    m.key_time = {0.0, 1.0};
    m.key_displacement = {Vector3::Zero()};
  });
}

}  // namespace
}  // namespace signorini::motion_test
