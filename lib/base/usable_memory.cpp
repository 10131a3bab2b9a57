#include "base/usable_memory.h"

#include <sys/resource.h>
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

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Version 1 says "no limit" by the largest number of pages.
constexpr double kNoLimit = 1e18;

/// Limit of one group, bytes; infinite where it has none.
double group_limit(const fs::path& group) {
  for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {  // versions 2 and 1
    double bytes = 0.0;
    if (std::sscanf(system_file(group / name).c_str(), "%lf", &bytes) == 1 && bytes > 0.0 && bytes < kNoLimit)
      return bytes;  // "max" is no number
  }
  return kNone;
}

double address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNone;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::optional<double> cgroup_memory(const fs::path& mount, const std::string& membership) {
  const double smallest = smallest_group_limit(mount, membership, "memory",
                                               [](const fs::path& group) { return group_limit(group); });
  if (std::isinf(smallest)) return {};
  return smallest;
}

double usable_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const double machine =
      pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : kNone;
  const std::string membership = system_file("/proc/self/cgroup");
  return std::min({machine, address_space(), cgroup_memory("/sys/fs/cgroup", membership).value_or(kNone)});
}

}  // namespace signorini
