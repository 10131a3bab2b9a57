#include "base/usable_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace signorini::usable_memory_test {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like a mount of control groups.
class MemoryGroups : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / fmt::format("signorini_memory_{}_{}", info->name(), ::getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }

  fs::path root_;
};

TEST_F(MemoryGroups, VersionTwoTakesTheSmallestLimitOnTheWayUp) {
  EXPECT_FALSE(cgroup_memory(root_, "0::/a/b\n"));
  put("a/b/memory.max", "max");
  EXPECT_FALSE(cgroup_memory(root_, "0::/a/b\n"));
  put("a/memory.max", "2000000000");
  EXPECT_EQ(cgroup_memory(root_, "0::/a/b\n"), 2e9);
  put("memory.max", "1000000000");  // a container sees its own group as the root
  EXPECT_EQ(cgroup_memory(root_, "0::/\n"), 1e9);
}

TEST_F(MemoryGroups, VersionOneHasAMountOfItsOwn) {
  put("memory/job/memory.limit_in_bytes", "3000000000");
  put("memory/memory.limit_in_bytes", "9223372036854771712");  // its word for no limit
  EXPECT_EQ(cgroup_memory(root_, "9:memory:/job\n3:cpu:/job\n"), 3e9);
  EXPECT_FALSE(cgroup_memory(root_, "9:memory:/other\n"));
}

TEST(UsableMemory, IsThatOfTheMachineOrLess) {
  const double machine =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double usable = usable_memory();
  EXPECT_GT(usable, 1e6);
  EXPECT_LE(usable, machine);
}

}  // namespace
}  // namespace signorini::usable_memory_test
