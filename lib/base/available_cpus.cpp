#include "base/available_cpus.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/control_group.h"
#include "base/system_file.h"

namespace signorini {

namespace {

namespace fs = std::filesystem;

/// Quota over period of one group, in CPUs; infinite where it has none.
double group_quota(const fs::path& group) {
  double quota = 0.0, period = 0.0;
  // version 2: "max 100000" or "150000 100000", both in µs
  if (std::sscanf(system_file(group / "cpu.max").c_str(), "%lf %lf", &quota, &period) == 2 && quota > 0.0 &&
      period > 0.0)
    return quota / period;
  // version 1: −1 is no quota
  if (std::sscanf(system_file(group / "cpu.cfs_quota_us").c_str(), "%lf", &quota) == 1 &&
      std::sscanf(system_file(group / "cpu.cfs_period_us").c_str(), "%lf", &period) == 1 && quota > 0.0 &&
      period > 0.0)
    return quota / period;
  return std::numeric_limits<double>::infinity();
}

}  // namespace

int cpus_in_affinity() {
  constexpr std::size_t kMostCpus = 1U << 16U;  // the kernel refuses masks that are too short
  for (std::size_t cpus = 1024; cpus <= kMostCpus; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return 0;
}

std::optional<double> cgroup_quota(const fs::path& mount, const std::string& membership) {
  const double smallest = smallest_group_limit(mount, membership, "cpu",
                                               [](const fs::path& group) { return group_quota(group); });
  if (std::isinf(smallest)) return {};
  return smallest;
}

AvailableCpus available_cpus() {
  const int machine = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  AvailableCpus cpus{machine, CpuLimit::machine};
  if (const int allowed = cpus_in_affinity(); allowed > 0 && allowed < cpus.count)
    cpus = {allowed, CpuLimit::affinity};
  if (const auto quota = cgroup_quota("/sys/fs/cgroup", system_file("/proc/self/cgroup"))) {
    const double whole = std::max(1.0, std::ceil(*quota));
    if (whole < cpus.count) cpus = {static_cast<int>(whole), CpuLimit::quota};
  }
  return cpus;
}

std::string thread_refusal(int threads, const AvailableCpus& cpus) {
  if (threads <= cpus.count) return "";
  const char* limit = cpus.limit == CpuLimit::affinity ? "affinity"
                      : cpus.limit == CpuLimit::quota  ? "quota of its control group"
                                                       : "all of this machine";
  return fmt::format("asks for {} threads, this process may use {} CPU{} ({})", threads, cpus.count,
                     cpus.count == 1 ? "" : "s", limit);
}

}  // namespace signorini
