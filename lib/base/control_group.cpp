#include "base/control_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace signorini {

namespace fs = std::filesystem;
using LimitOf = FunctionRef<double(const fs::path&)>;

namespace {

/// Of the group and of all above it, up to `root`.
double smallest_up_to(const fs::path& root, const std::string& group, LimitOf limit_of) {
  double smallest = limit_of(root);
  fs::path place = root;
  for (const fs::path& part : fs::path(group).relative_path()) {
    if (part == "..") break;  // a group outside this namespace
    place /= part;
    smallest = std::min(smallest, limit_of(place));
  }
  return smallest;
}

}  // namespace

double smallest_group_limit(const fs::path& mount, const std::string& membership, std::string_view controller,
                            LimitOf limit_of) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const std::string& line : split(membership, '\n')) {
    // "0::/user.slice" (version 2) or "4:cpu,cpuacct:/job_7" (version 1)
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* root : {"", "unified"})
        smallest = std::min(smallest, smallest_up_to(mount / root, group, limit_of));
    } else if (fmt::format(",{},", controllers).find(fmt::format(",{},", controller)) != std::string::npos) {
      for (const fs::path& root : {fs::path(controllers), fs::path(controller)})
        smallest = std::min(smallest, smallest_up_to(mount / root, group, limit_of));
    }
  }
  return smallest;
}

}  // namespace signorini
