#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace signorini {

/// Bytes of memory that this process can have at most: the machine's, or less where a control group (container,
/// batch job) or `ulimit -v` says so. Infinity where the system does not tell.
double usable_memory();

/// The smallest limit of the control groups in `membership` (the text of /proc/self/cgroup), bytes, and of the
/// groups above them, mounted at `mount`. Nothing where none has a limit.
std::optional<double> cgroup_memory(const std::filesystem::path& mount, const std::string& membership);

}  // namespace signorini
