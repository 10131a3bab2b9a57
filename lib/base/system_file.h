#pragma once

#include <filesystem>
#include <string>

namespace signorini {

/// Content of a small file of the system (/proc, control groups) or of our own, at most 1 MiB; "" where it cannot be read.
std::string system_file(const std::filesystem::path& path);

}  // namespace signorini
