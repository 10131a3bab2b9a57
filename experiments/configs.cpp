#include "configs.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/text.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

const char* folder_name(ConfigKind kind) { return kind == ConfigKind::scenes ? "scenes" : "experiments"; }

bool is_configs_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "scenes", error) || fs::is_directory(folder / "experiments", error);
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
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = self.parent_path(); !error && folder.has_relative_path();
       folder = folder.parent_path()) {
    if (is_configs_folder(folder / "configs")) return folder / "configs";
    if (is_configs_folder(folder / "share" / "signorini" / "configs"))
      return folder / "share" / "signorini" / "configs";
  }
  const fs::path built = fs::path(SIGNORINI_SOURCE_DIR) / "configs";
  if (is_configs_folder(built)) return built;
  throw_usage("no configs folder found: pass --configs DIR or set SIGNORINI_CONFIGS");
}

fs::path source_folder(const Program& program) {
  const fs::path configs = fs::absolute(configs_folder(program)).lexically_normal();
  return (configs.has_filename() ? configs : configs.parent_path()).parent_path();
}

std::vector<fs::path> list_configs(const Program& program, ConfigKind kind) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(configs_folder(program) / folder_name(kind), error)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path find_config(const Program& program, ConfigKind kind, const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) return name;
  std::vector<std::string> known;
  for (const fs::path& file : list_configs(program, kind)) {
    if (file.stem() == name) return file;
    known.push_back(file.stem().string());
  }
  const char* what = kind == ConfigKind::scenes ? "scene" : "experiment";
  throw_usage("unknown {} '{}'{}", what, name, suggestion(name, known));
}

}  // namespace signorini
