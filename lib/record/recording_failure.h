#pragma once

#include <filesystem>
#include <string>

namespace signorini {

/// FILE.failure.txt beside a recording.
inline constexpr const char* kFailureSidecar = "failure.txt";

/// Why a recording ended before its last step; empty when it did not.
std::string recording_failure(const std::filesystem::path& file);

}  // namespace signorini
