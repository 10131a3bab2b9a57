// libFuzzer target of the readers of TOML. The first byte chooses: a scene, whose effective text is a scene with the same
// effective text; an experiment; the plan of a campaign. Everything else is refused with one line that names the file.
#include <filesystem>
#include <fstream>

#include "base/printable.h"
#include "campaign/campaign.h"
#include "harness/experiment.h"
#include "memory_file.h"
#include "scene/scene.h"

namespace {

using namespace signorini;

/// Refused with what is one line on the screen: texts of TOML may hold line feeds. Files that cannot be read are named.
template <class Read>
void read_or_refuse(Read&& read, const std::string& name) {
  const auto is_one_line = [](const std::string& text) {
    require(error_line(text).find('\n') == std::string::npos, "an error is one line");
  };
  try {
    read();
  } catch (const UsageError& error) {
    is_one_line(error.what());
  } catch (const InputError& error) {
    const std::string text = error.what();
    is_one_line(text);
    require(text.rfind(name, 0) == 0, ("an error names the file: " + text).c_str());
  }
}

/// Without the first line, a comment that names the file.
std::string_view below_title(std::string_view effective) {
  return effective.substr(effective.find('\n') + 1);
}

void check_scene(std::string_view text) {
  const MemoryFile file(text);
  read_or_refuse(
      [&] {
        const std::string effective = effective_scene({.scene_path = file.path()});
        const MemoryFile again(effective);
        require(below_title(effective_scene({.scene_path = again.path()})) == below_title(effective),
                "an effective scene is its own");
      },
      file.path());
}

void check_experiment(std::string_view text) {
  for (const char* size : {"quick", "paper"})
    read_or_refuse([&] { parse_experiment(std::string(text), "FILE", size); }, "FILE");
}

/// One folder for all inputs: the file is written anew.
const std::filesystem::path& campaign_folder() {
  static const std::filesystem::path folder = [] {
    std::filesystem::path made =
        std::filesystem::temp_directory_path() / fmt::format("signorini_fuzz_{}", ::getpid());
    std::filesystem::create_directories(made);
    return made;
  }();
  return folder;
}

/// A file of a campaign.
template <class Read>
void check_plan(std::string_view text, const char* name, Read&& read) {
  const std::filesystem::path& folder = campaign_folder();
  std::ofstream(folder / name, std::ios::binary) << text;
  Campaign campaign;
  campaign.folder = folder;
  read_or_refuse([&] { read(campaign); }, folder.string());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      check_scene(text);
      break;
    case 1:
      check_experiment(text);
      break;
    case 2:
      check_plan(text, "plan.toml", [](const Campaign& one) { read_campaign(one.folder); });
      break;
    case 3:
      check_plan(text, "recordings.csv", [](const Campaign& one) { read_recordings(one); });
      break;
    default:
      check_plan(text, "cells.csv", [](const Campaign& one) { read_cells(one); });
  }
  return 0;
}
