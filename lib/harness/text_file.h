#pragma once

#include <filesystem>
#include <string>

namespace signorini {

/// Content of a file, "" when there is none. `write_text_file` (harness/run_table.h) writes one.
std::string text_or_nothing(const std::filesystem::path& path);

}  // namespace signorini
