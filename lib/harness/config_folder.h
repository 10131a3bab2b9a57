#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Where scenes and experiments are found. A scene is a file <configs>/scenes/<name>.toml, an experiment a folder
/// <configs>/experiments/<paper>/<artefact> with a run.toml, known as <paper>_<artefact>. Without a folder that a user
/// names <configs> is the first of:
///   1. the environment variable SIGNORINI_CONFIGS
///   2. ../share/signorini/configs beside the program: an installed one
///   3. the nearest `configs` folder above the program: one built inside of its source tree
///   4. that of the source tree which the file `source_tree` beside the program names: one built elsewhere
/// The working directory plays no part: a name means the same everywhere. Scripts lie in ../scripts of <configs>.
namespace signorini {

enum class ConfigKind { scenes, experiments };

/// `named`: by the user, "" for none. `home`: the folder of the program; none of 2 to 4 where it is empty. `UsageError`
/// where there is no such folder.
std::filesystem::path find_configs_folder(const std::string& named, const std::filesystem::path& home);
/// The folder that holds <configs> and scripts.
std::filesystem::path folder_above(const std::filesystem::path& configs);
/// Where `optional_files` of experiments are looked for: SIGNORINI_DATA, else ../shared/data of the folder above.
std::filesystem::path test_data_folder(const std::filesystem::path& configs);

/// The files of all scenes by name, or the run.toml of all experiments by id.
std::vector<std::filesystem::path> list_configs(const std::filesystem::path& configs, ConfigKind kind);

/// Whether a name stands for a path instead of being looked up: it has a separator, or ends with .toml.
bool is_config_path(const std::string& name);
/// The file of a scene or experiment given by its path; of an experiment's folder the run.toml in it. `InputError` for a
/// folder without one.
std::filesystem::path config_at(ConfigKind kind, const std::string& path);
/// By its name; a folder of that name here serves where none has it. `UsageError` with the nearest name.
std::filesystem::path find_config(const std::filesystem::path& configs, ConfigKind kind,
                                  const std::string& name);

}  // namespace signorini
