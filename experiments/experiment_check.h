#pragma once

#include <filesystem>
#include <string_view>

namespace signorini {

struct Program;

/// Reads an experiment and everything it names (scenes at their settings, files) without running anything, so
/// that a mistake in the last of several experiments is told before the first has run. Errors name the
/// experiment's file, line, key and value: `UsageError` for names and settings, `InputError` for files that
/// cannot be read.
void check_experiment(const Program& program, const std::filesystem::path& config, std::string_view size);

}  // namespace signorini
