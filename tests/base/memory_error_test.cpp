#include "base/memory_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <new>

#include "base/usable_memory.h"

namespace signorini::memory_error_test {
namespace {

TEST(MemoryError, IsThrownAboveWhatThisProcessCanHave) {
  const double usable = usable_memory();
  EXPECT_NO_THROW(check_memory_for(0.0, "nothing"));
  EXPECT_NO_THROW(check_memory_for(usable / 2.0, "the factor"));  // a test holds less than the other half
  if (usable == std::numeric_limits<double>::infinity())
    GTEST_SKIP() << "the system does not tell its memory";
  EXPECT_THROW(check_memory_for(usable, "the factor"), std::bad_alloc);  // it holds something already
  try {
    check_memory_for(1e21, "the factor");
    FAIL() << "1e12 GB were granted";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("the factor takes 1e+12 GB beside "));
  }
}

TEST(MemoryError, LittleMemoryIsNotAskedFor) {
  EXPECT_NO_THROW(check_memory_for(kAlwaysThere, "the factor"));
}

}  // namespace
}  // namespace signorini::memory_error_test
