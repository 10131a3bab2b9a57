#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"

/// Where scenes and experiments are found. A scene is a file <configs>/scenes/<name>.toml, an experiment a folder
/// <configs>/experiments/<paper>/<artefact> with a run.toml, known as <paper>_<artefact>. <configs> is, in this
/// order: --configs, the environment variable SIGNORINI_CONFIGS, the nearest `configs` folder above the program,
/// the source tree it was built from.
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
