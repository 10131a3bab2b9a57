#include "base/usable_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

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
    if (std::ifstream(group / name) >> bytes && bytes > 0.0 && bytes < kNoLimit)
      return bytes;  // "max" is no number
  }
  return kNone;
}

/// Of the group and of all above it, up to `root`.
double smallest_limit(const fs::path& root, const std::string& group) {
  double smallest = group_limit(root);
  fs::path place = root;
  for (const fs::path& part : fs::path(group).relative_path()) {
    if (part == "..") break;  // a group outside this namespace
    place /= part;
    smallest = std::min(smallest, group_limit(place));
  }
  return smallest;
}

double address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNone;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::optional<double> cgroup_memory(const fs::path& mount, const std::string& membership) {
  double smallest = kNone;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    // "0::/user.slice" (version 2) or "9:memory:/job_7" (version 1)
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* root : {"", "unified"})
        smallest = std::min(smallest, smallest_limit(mount / root, group));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      smallest = std::min(smallest, smallest_limit(mount / "memory", group));
    }
  }
  if (std::isinf(smallest)) return {};
  return smallest;
}

double usable_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const double machine =
      pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : kNone;
  std::ifstream in("/proc/self/cgroup");
  const std::string membership{std::istreambuf_iterator<char>(in), {}};
  return std::min({machine, address_space(), cgroup_memory("/sys/fs/cgroup", membership).value_or(kNone)});
}

}  // namespace signorini
