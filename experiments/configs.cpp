#include "configs.h"

namespace signorini {

namespace fs = std::filesystem;

fs::path configs_folder(const Program& program) {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  return find_configs_folder(program.configs, error ? fs::path() : file.parent_path());
}

fs::path source_folder(const Program& program) { return folder_above(configs_folder(program)); }

std::vector<fs::path> list_configs(const Program& program, ConfigKind kind) {
  return list_configs(configs_folder(program), kind);
}

fs::path find_config(const Program& program, ConfigKind kind, const std::string& name) {
  if (is_config_path(name)) return config_at(kind, name);
  return find_config(configs_folder(program), kind, name);
}

}  // namespace signorini
