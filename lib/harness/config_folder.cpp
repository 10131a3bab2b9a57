#include "harness/config_folder.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/system_file.h"
#include "base/text.h"
#include "harness/experiment.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

const char* folder_name(ConfigKind kind) { return kind == ConfigKind::scenes ? "scenes" : "experiments"; }

bool is_configs_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "scenes", error) || fs::is_directory(folder / "experiments", error);
}

/// The name that a file is looked up by.
std::string name_of(ConfigKind kind, const fs::path& file) {
  return kind == ConfigKind::scenes ? file.stem().string() : experiment_id(file);
}

/// The run.toml of an experiment's folder.
fs::path run_file(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "run.toml", error))
    throw_input("{}: is a folder without run.toml; an experiment's folder has one", folder.string());
  return folder / "run.toml";
}

bool is_experiment_folder(ConfigKind kind, const std::string& path) {
  std::error_code error;
  return kind == ConfigKind::experiments && fs::is_directory(path, error);
}

/// What lies in a folder; nothing where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path());
  return paths;
}

/// Where configs may lie as seen from the program: 2 to 4 of the header.
std::vector<fs::path> folders_by_program(const fs::path& home) {
  if (home.empty()) return {};
  std::vector<fs::path> folders{home.parent_path() / "share" / "signorini" / "configs"};
  for (fs::path folder = home; folder.has_relative_path(); folder = folder.parent_path())
    folders.push_back(folder / "configs");
  const std::string tree = system_file(home / "source_tree");
  if (!tree.empty()) folders.push_back(fs::path(tree.substr(0, tree.find('\n'))) / "configs");
  return folders;
}

}  // namespace

fs::path find_configs_folder(const std::string& named, const fs::path& home) {
  if (!named.empty()) {
    if (!is_configs_folder(named)) throw_usage("--configs {}: holds neither scenes/ nor experiments/", named);
    return named;
  }
  const char* variable = std::getenv("SIGNORINI_CONFIGS");
  if (variable != nullptr && *variable != '\0') {
    if (!is_configs_folder(variable))
      throw_usage("SIGNORINI_CONFIGS={}: holds neither scenes/ nor experiments/", variable);
    return variable;
  }
  for (const fs::path& folder : folders_by_program(home)) {
    if (is_configs_folder(folder)) return folder;
  }
  throw_usage("no configs folder found: pass --configs DIR or set SIGNORINI_CONFIGS");
}

fs::path folder_above(const fs::path& configs) {
  const fs::path plain = fs::absolute(configs).lexically_normal();
  return (plain.has_filename() ? plain : plain.parent_path()).parent_path();
}

fs::path test_data_folder(const fs::path& configs) {
  const char* variable = std::getenv("SIGNORINI_DATA");
  if (variable != nullptr && *variable != '\0') return variable;
  return folder_above(configs) / ".." / "shared" / "data";
}

std::vector<fs::path> list_configs(const fs::path& configs, ConfigKind kind) {
  std::vector<fs::path> files;
  for (const fs::path& entry : entries(configs / folder_name(kind))) {
    if (kind == ConfigKind::scenes) {
      if (entry.extension() == ".toml") files.push_back(entry);
      continue;
    }
    for (const fs::path& artefact : entries(entry)) {
      std::error_code error;
      if (fs::exists(artefact / "run.toml", error)) files.push_back(artefact / "run.toml");
    }
  }
  std::ranges::sort(files, {}, [kind](const fs::path& file) { return name_of(kind, file); });
  return files;
}

bool is_config_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".toml");
}

fs::path config_at(ConfigKind kind, const std::string& path) {
  return is_experiment_folder(kind, path) ? run_file(path) : fs::path(path);
}

fs::path find_config(const fs::path& configs, ConfigKind kind, const std::string& name) {
  std::vector<std::string> known;
  for (const fs::path& file : list_configs(configs, kind)) {
    known.push_back(name_of(kind, file));
    if (known.back() == name) return file;
  }
  if (is_experiment_folder(kind, name)) return run_file(name);
  const char* what = kind == ConfigKind::scenes ? "scene" : "experiment";
  throw_usage("unknown {} '{}'{}", what, name, suggestion(name, known));
}

}  // namespace signorini
