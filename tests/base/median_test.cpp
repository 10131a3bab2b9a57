#include "base/median.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace signorini::median_test {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median_of({7.0}), 7.0);
  EXPECT_EQ(median_of({3.0, 1.0}), 2.0);
  EXPECT_EQ(median_of({9.0, 1.0, 5.0}), 5.0);
  EXPECT_EQ(median_of({9.0, 1.0, 5.0, 2.0}), 3.5);
  EXPECT_EQ(median_of({4.0, 4.0, 4.0, 0.0}), 4.0);
}

TEST(Median, OfNothingIsNotANumber) { EXPECT_TRUE(std::isnan(median_of({}))); }

}  // namespace
}  // namespace signorini::median_test
