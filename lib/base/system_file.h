#pragma once

#include <filesystem>
#include <string>

namespace signorini {

/// Content of a small file of the system (/proc, control groups) or of our own, at most 1 MiB; "" where it cannot be read.
/// Streams would do, if libstdc++ did not free a buffer twice where memory runs out.
std::string system_file(const std::filesystem::path& path);

}  // namespace signorini
