#include "solvers/plugin/plugin_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "base/input_file.h"
#include "solvers/plugin/plugin_solver.h"

namespace signorini {

namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "include/signorini/solver_plugin.h of this program";
constexpr const char* kFunction = "signorini_solver_plugin";

/// "libmine.so:0123456789abcdef", without what separates options in a row.
std::string library_name(const fs::path& file) {
  std::string name = file.filename().string();
  std::ranges::replace_if(
      name, [](char c) { return c == ';' || c == '=' || c == ',' || c == '"' || c <= ' '; }, '_');
  return name + ":" + digest_text(digest_of(read_input_file(file, "file")));
}

/// The last message of the loader, without the path that it may open with.
std::string loader_message(const std::string& path) {
  const char* said = dlerror();
  std::string text = said == nullptr ? "no reason given" : said;
  if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
  return text;
}

const plugin::Library* open(const fs::path& file) {
  const std::string path = fs::absolute(file).string();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw_input("{}: cannot be loaded ({}); give a shared library made for this machine", file.string(),
                loader_message(path));
  void* address = dlsym(handle, kFunction);
  if (address == nullptr)
    throw_input("{}: has no function '{}'; end it with SIGNORINI_SOLVER_PLUGIN(YourSolver) of {}",
                file.string(), kFunction, kHeader);
  try {
    return reinterpret_cast<const plugin::Library* (*)()>(address)();
  } catch (...) {
    throw_input("{}: '{}' throws; it may only describe the solvers", file.string(), kFunction);
  }
}

/// Structs that may grow are as long as in the first header of this version at least, and as ours at most.
void check_interface(const plugin::Library& brought, const std::string& file) {
  if (brought.version != SIGNORINI_PLUGIN_VERSION)
    throw_input(
        "{}: made for version {} of the plugin interface, this program has {}; compile it again with {}",
        file, brought.version, SIGNORINI_PLUGIN_VERSION, kHeader);
  struct Size {
    const char* name;
    std::uint32_t theirs;
    std::size_t first, ours;
  };
  const Size sizes[] = {
      {"Library", brought.library_size, 48, sizeof(plugin::Library)},
      {"Entry", brought.entry_size, 96, sizeof(plugin::Entry)},
      {"Problem", brought.problem_size, 176, sizeof(plugin::Problem)},
      {"Start", brought.start_size, 24, sizeof(plugin::Start)},
      {"Step", brought.step_size, 24, sizeof(plugin::Step)},
      {"Option", brought.option_size, sizeof(plugin::Option), sizeof(plugin::Option)},
      {"OptionValue", brought.value_size, sizeof(plugin::OptionValue), sizeof(plugin::OptionValue)},
      {"Failure", brought.failure_size, sizeof(plugin::Failure), sizeof(plugin::Failure)}};
  for (const Size& size : sizes) {
    if (size.theirs < size.first || size.theirs > size.ours)
      throw_input("{}: its struct {} has {} bytes, that of this program {}; compile it again with {}", file,
                  size.name, size.theirs, size.ours, kHeader);
  }
}

}  // namespace

std::vector<SolverEntry> solvers_of(const plugin::Library* brought, const std::string& file,
                                    const std::string& library) {
  if (brought == nullptr) throw_input("{}: '{}' returns nothing", file, kFunction);
  check_interface(*brought, file);
  if (brought->count == 0 || brought->entries == nullptr) throw_input("{}: brings no solver", file);
  std::vector<SolverEntry> solvers;
  for (std::uint32_t i = 0; i < brought->count; ++i) {
    plugin::Entry entry{};  // theirs may be shorter
    std::memcpy(&entry,
                reinterpret_cast<const char*>(brought->entries) + std::size_t{i} * brought->entry_size,
                brought->entry_size);
    SolverEntry solver = plugin_solver_entry(entry, file, library);
    const bool twice = std::ranges::find(solvers, solver.name, &SolverEntry::name) != solvers.end();
    if (twice || find_solver(solver.name) != nullptr)
      throw_input("{}: there is a solver '{}' already; give this one another name", file, solver.name);
    solvers.push_back(std::move(solver));
  }
  return solvers;
}

void load_solver_plugin(const fs::path& file) {
  static std::set<std::pair<std::string, std::string>> loaded;  // path and content
  const std::string library = library_name(file);
  const std::pair known{fs::weakly_canonical(file).string(), library};
  if (loaded.contains(known)) return;
  for (SolverEntry& solver : solvers_of(open(file), file.string(), library)) add_solver(std::move(solver));
  loaded.insert(known);
}

}  // namespace signorini
