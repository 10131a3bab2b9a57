#include "configs.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/check.h"
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

/// What lies in a folder; nothing where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path());
  return paths;
}

/// Where configs may lie as seen from the program: 3 to 5 of configs.h.
std::vector<fs::path> folders_by_program() {
  std::error_code error;
  const fs::path home = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  std::vector<fs::path> folders{home.parent_path() / "share" / "signorini" / "configs"};
  for (fs::path folder = home; folder.has_relative_path(); folder = folder.parent_path())
    folders.push_back(folder / "configs");
  std::string tree;
  if (std::getline(std::ifstream(home / "source_tree"), tree)) folders.push_back(fs::path(tree) / "configs");
  return folders;
}

}  // namespace

fs::path configs_folder(const Program& program) {
  if (!program.configs.empty()) {
    if (!is_configs_folder(program.configs)) {
      throw_usage("--configs {}: holds neither scenes/ nor experiments/", program.configs);
    }
    return program.configs;
  }
  const char* variable = std::getenv("SIGNORINI_CONFIGS");
  if (variable != nullptr && *variable != '\0') {
    if (!is_configs_folder(variable))
      throw_usage("SIGNORINI_CONFIGS={}: holds neither scenes/ nor experiments/", variable);
    return variable;
  }
  for (const fs::path& folder : folders_by_program()) {
    if (is_configs_folder(folder)) return folder;
  }
  throw_usage("no configs folder found: pass --configs DIR or set SIGNORINI_CONFIGS");
}

fs::path source_folder(const Program& program) {
  const fs::path configs = fs::absolute(configs_folder(program)).lexically_normal();
  return (configs.has_filename() ? configs : configs.parent_path()).parent_path();
}

std::vector<fs::path> list_configs(const Program& program, ConfigKind kind) {
  std::vector<fs::path> files;
  for (const fs::path& entry : entries(configs_folder(program) / folder_name(kind))) {
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

fs::path find_config(const Program& program, ConfigKind kind, const std::string& name) {
  std::error_code error;
  const bool is_folder = kind == ConfigKind::experiments && fs::is_directory(name, error);
  if (name.find('/') != std::string::npos || name.ends_with(".toml"))
    return is_folder ? run_file(name) : fs::path(name);
  std::vector<std::string> known;
  for (const fs::path& file : list_configs(program, kind)) {
    known.push_back(name_of(kind, file));
    if (known.back() == name) return file;
  }
  if (is_folder) return run_file(name);
  const char* what = kind == ConfigKind::scenes ? "scene" : "experiment";
  throw_usage("unknown {} '{}'{}", what, name, suggestion(name, known));
}

}  // namespace signorini
