#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/options.h"
#include "record/recording_file.h"

/// From a scene file to a stream of contact problems: the only step of the program with physics in it.
namespace signorini {

enum class SceneSize { quick, medium, paper };
template <>
struct EnumNames<SceneSize> {
  static constexpr std::array<std::pair<SceneSize, std::string_view>, 3> value{
      {{SceneSize::quick, "quick"}, {SceneSize::medium, "medium"}, {SceneSize::paper, "paper"}}};
};

/// What the progress line and the statistics know of a step.
struct StepStatistics {
  long long step = 0;
  long long steps = 0;      ///< planned
  double time = 0.0;        ///< s, end of the step
  int contacts = 0;
  int iterations = 0;       ///< of the contact solve that drives the scene
  double residual = 0.0;    ///< the driving solver's own
  double kinetic_energy = 0.0, elastic_energy = 0.0, potential_energy = 0.0;  ///< J
  double penetration = 0.0; ///< m, deepest at the end of the step
  double detection_seconds = 0.0, assembly_seconds = 0.0, solve_seconds = 0.0, other_seconds = 0.0;
};

struct RecordRequest {
  std::string scene_path;
  SceneSize size = SceneSize::quick;
  OptionMap overrides;              ///< --set key=value, dotted keys
  long long steps = 0;              ///< 0 = as the scene says
  int threads = 1;
};

/// Reads and checks the scene (errors name file, line, key), applies size and overrides, and returns the effective TOML:
/// two requests with equal text record equal bytes.
std::string effective_scene(const RecordRequest& request);
/// Header for the recording of this request (scene name, config, seed; git is filled by the caller).
RecordingHeader recording_header(const RecordRequest& request);

/// Step s = 1, 2, … leads from time (s − 1) dt to s dt; its frame has the id of s with six digits, the time and the surface
/// positions of its start. Steps without contacts leave no frame.
///
/// Runs the scene; `on_frame` gets every recorded snapshot, `on_step` every step. `wanted(id)` tells whether a frame must
/// still be built (resume skips those on disk; the physics is run again and gives the same bits).
/// Returning false from `on_step` interrupts. Returns the number of frames that the run has, skipped ones included.
/// Throws `UsageError` / `InputError` before the first step, `std::runtime_error` when a step cannot be solved.
int run_scene(const RecordRequest& request, const std::function<bool(const std::string&)>& wanted,
              const std::function<void(const Frame&)>& on_frame,
              const std::function<bool(const StepStatistics&)>& on_step);

}  // namespace signorini
