#include "base/available_cpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace signorini::available_cpus_test {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like a mount of control groups.
class CpuGroups : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / fmt::format("signorini_{}_{}", info->name(), ::getpid());
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

TEST_F(CpuGroups, VersionTwoTakesTheSmallestQuotaOnTheWayUp) {
  EXPECT_FALSE(cgroup_quota(root_, "0::/a/b\n"));
  put("a/b/cpu.max", "max 100000");
  EXPECT_FALSE(cgroup_quota(root_, "0::/a/b\n"));
  put("a/cpu.max", "150000 100000");
  EXPECT_EQ(cgroup_quota(root_, "0::/a/b\n"), 1.5);
  put("cpu.max", "50000 100000");  // a container sees its own group as the root
  EXPECT_EQ(cgroup_quota(root_, "0::/a/b\n"), 0.5);
  EXPECT_EQ(cgroup_quota(root_, "0::/\n"), 0.5);
}

TEST_F(CpuGroups, VersionOneAsWell) {
  const std::string membership = "5:memory:/jobs/7\n4:cpu,cpuacct:/jobs/7\n";
  put("cpu,cpuacct/jobs/7/cpu.cfs_quota_us", "-1");
  put("cpu,cpuacct/jobs/7/cpu.cfs_period_us", "100000");
  EXPECT_FALSE(cgroup_quota(root_, membership));
  put("cpu,cpuacct/jobs/cpu.cfs_quota_us", "300000");
  put("cpu,cpuacct/jobs/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_quota(root_, membership), 3.0);
}

TEST_F(CpuGroups, TextThatIsNoneAndGroupsOfOthersAreNoQuota) {
  for (const char* text : {"", "nonsense\n", "0:\n", "0::/../elsewhere\n", "0::/gone\n"})
    EXPECT_FALSE(cgroup_quota(root_, text)) << text;
}

TEST(AvailableCpus, FollowTheAffinityMask) {
  const AvailableCpus all = available_cpus();
  EXPECT_GE(all.count, 1);
  AvailableCpus one;
  std::thread pinned([&one] {  // the mask of this thread only
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    one = available_cpus();
  });
  pinned.join();
  EXPECT_EQ(one.count, 1);
  if (all.count > 1) {
    EXPECT_EQ(one.limit, CpuLimit::affinity);
  }
}

TEST(AvailableCpus, RefusalNamesTheLimit) {
  EXPECT_EQ(thread_refusal(2, {2, CpuLimit::machine}), "");
  EXPECT_EQ(thread_refusal(2, {1, CpuLimit::affinity}),
            "asks for 2 threads, this process may use 1 CPU (affinity)");
  EXPECT_EQ(thread_refusal(8, {3, CpuLimit::quota}),
            "asks for 8 threads, this process may use 3 CPUs (quota of its control group)");
  EXPECT_EQ(thread_refusal(8, {2, CpuLimit::machine}),
            "asks for 8 threads, this process may use 2 CPUs (all of this machine)");
}

}  // namespace
}  // namespace signorini::available_cpus_test
