#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"

/// Where scenes and experiments are found. A name without a slash or ".toml" is looked up by stem in
/// <configs>/scenes or <configs>/experiments, where <configs> is, in this order: --configs, the environment
/// variable SIGNORINI_CONFIGS, the nearest `configs` folder above the program, the source tree it was built
/// from.
namespace signorini {

enum class ConfigKind { scenes, experiments };

std::filesystem::path configs_folder(const Program& program);
/// The folder that holds configs/ and scripts/.
std::filesystem::path source_folder(const Program& program);
/// All files of a kind, by name.
std::vector<std::filesystem::path> list_configs(const Program& program, ConfigKind kind);
/// A path as it stands, a bare name by look-up. `UsageError` with the nearest name for an unknown one.
std::filesystem::path find_config(const Program& program, ConfigKind kind, const std::string& name);

}  // namespace signorini
