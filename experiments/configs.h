#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"
#include "harness/config_folder.h"

/// Scenes and experiments (harness/config_folder.h) as the program finds them: in the folder of --configs, else by the
/// place of its own file.
namespace signorini {

std::filesystem::path configs_folder(const Program& program);
/// The folder that holds configs/ and scripts/.
std::filesystem::path source_folder(const Program& program);
/// The files of all scenes by name, or the run.toml of all experiments by id.
std::vector<std::filesystem::path> list_configs(const Program& program, ConfigKind kind);
/// A path as it stands, a name by look-up. An experiment may also be its folder: the run.toml in it. `UsageError`
/// with the nearest name for an unknown one, `InputError` for a folder without run.toml.
std::filesystem::path find_config(const Program& program, ConfigKind kind, const std::string& name);

}  // namespace signorini
