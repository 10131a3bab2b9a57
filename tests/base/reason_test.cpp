#include "base/reason.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/check.h"
#include "base/memory_error.h"

namespace signorini::reason_test {
namespace {

template <class Work>
std::string reason(Work&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return reason_of(error);
  }
  return "";
}

TEST(Reason, IsInOurWords) {
  EXPECT_EQ(reason([] { throw_usage("--set x: wrong"); }), "--set x: wrong");
  EXPECT_EQ(reason([] { throw std::bad_alloc(); }), "out of memory");
  EXPECT_EQ(reason([] { throw MemoryError("a factor takes 90 GB"); }), "out of memory: a factor takes 90 GB");
  EXPECT_EQ(reason([] { std::vector<double>().reserve(std::size_t(-1) / 2); }), "out of memory");
  EXPECT_EQ(reason([] { static_cast<void>(std::filesystem::file_size("/no/such")); }),
            "/no/such: No such file or directory");
  EXPECT_EQ(reason([] { static_cast<void>(std::filesystem::canonical("")); }), "Invalid argument");
}

}  // namespace
}  // namespace signorini::reason_test
