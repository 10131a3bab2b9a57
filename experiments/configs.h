#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"

/// Where scenes and experiments are found. A scene is a file <configs>/scenes/<name>.toml, an experiment a folder
/// <configs>/experiments/<paper>/<artefact> with a run.toml, known as <paper>_<artefact>. <configs> is the
/// first of:
///   1. --configs
///   2. the environment variable SIGNORINI_CONFIGS
///   3. ../share/signorini/configs beside the program: an installed one
///   4. the nearest `configs` folder above the program: one built inside of its source tree
///   5. that of the source tree which the file `source_tree` beside the program names: one built elsewhere
/// The working directory plays no part: a name means the same everywhere. Scripts lie in ../scripts of <configs>.
namespace signorini {

enum class ConfigKind { scenes, experiments };

std::filesystem::path configs_folder(const Program& program);
/// The folder that holds configs/ and scripts/.
std::filesystem::path source_folder(const Program& program);
/// The files of all scenes by name, or the run.toml of all experiments by id.
std::vector<std::filesystem::path> list_configs(const Program& program, ConfigKind kind);
/// A path as it stands, a name by look-up. An experiment may also be its folder: the run.toml in it. `UsageError`
/// with the nearest name for an unknown one, `InputError` for a folder without run.toml.
std::filesystem::path find_config(const Program& program, ConfigKind kind, const std::string& name);

}  // namespace signorini
