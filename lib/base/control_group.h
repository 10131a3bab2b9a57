#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace signorini {

/// The smallest limit of the control groups (Linux, versions 1 and 2) that a process is in and of all above them, as
/// `limit_of` reads it from a group's folder; infinite where there is none. `mount`: where groups are mounted.
/// `membership`: the text of /proc/self/cgroup. `controller`: its name in version 1.
double smallest_group_limit(const std::filesystem::path& mount, const std::string& membership,
                            std::string_view controller,
                            FunctionRef<double(const std::filesystem::path&)> limit_of);

}  // namespace signorini
