#include "experiment_check.h"

#include "base/check.h"
#include "commands.h"
#include "configs.h"
#include "harness/experiment.h"
#include "scene/scene.h"

namespace signorini {
namespace {

/// How errors of a changed key of a scene open, whoever changed it.
constexpr std::string_view kOverride = "--set: ";

/// Where the key that an error speaks of was set.
const Place& place_of_key(const SceneVariant& wanted, std::string_view error) {
  for (const auto& [key, place] : wanted.key_places) {
    if (error.find("'" + key + "'") != std::string_view::npos) return place;
  }
  return wanted.set_place;
}

void check_scene(const Program& program, const SceneVariant& wanted, SceneSize size) {
  try {
    RecordRequest request;
    request.scene_path = find_config(program, ConfigKind::scenes, wanted.scene).string();
    request.size = size;
    request.overrides = wanted.set;
    effective_scene(request);
  } catch (const UsageError& error) {
    const std::string_view text = error.what();
    if (text.starts_with(kOverride))
      throw_usage("{}: {}", place_of_key(wanted, text), text.substr(kOverride.size()));
    throw_usage("{}: {}", wanted.scene_place, text);
  } catch (const InputError& error) {
    throw_input("{}: {}", wanted.scene_place, error.what());
  }
}

}  // namespace

void check_experiment(const Program& program, const std::filesystem::path& config, std::string_view size) {
  const Experiment experiment = read_experiment(config, size);
  const auto scene_size = parse_enum<SceneSize>(size, "--size");
  for (std::size_t i = 0; i < experiment.scenes.size(); ++i) {
    const std::string& place = experiment.scene_places[i];
    check_scene(program, {experiment.scenes[i], experiment.scenes[i], {}, place, place}, scene_size);
  }
  for (const SceneVariant& wanted : experiment.recordings) check_scene(program, wanted, scene_size);
  for (std::size_t i = 0; i < experiment.files.size(); ++i) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(experiment.files[i], error)) {
      throw_input(
          "{}: {}: {}", experiment.file_places[i], experiment.files[i].string(),
          std::filesystem::exists(experiment.files[i], error) ? "not a regular file" : "no such file");
    }
  }
}

}  // namespace signorini
