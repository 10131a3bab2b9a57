#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancellation.h"
#include "base/options.h"
#include "record/recording_file.h"
#include "scene/scene_size.h"
#include "scene/step_statistics.h"
#include "scene/stepper.h"

/// From a scene file to a stream of contact problems: the only step of the program with physics in it.
namespace signorini {

struct RecordRequest {
  std::string scene_path;
  SceneSize size = SceneSize::quick;
  OptionMap overrides;  ///< --set key=value, dotted keys
  long long steps = 0;  ///< 0 = as the scene says
  int threads = 1;
  /// Raised in the midst of a step: the step throws `Cancelled`. No part of the effective scene.
  const CancelFlag* cancelled = nullptr;
};

/// Reads and checks the scene (errors name file, line, key), applies size and overrides, and returns the
/// effective TOML: two requests with equal text record equal bytes.
std::string effective_scene(const RecordRequest& request);
/// Header for the recording of this request (scene name, config, seed; git is filled by the caller).
RecordingHeader recording_header(const RecordRequest& request);

/// The scene file and every mesh that it names.
std::vector<std::filesystem::path> scene_files(const RecordRequest& request);

/// Two bodies (or a body and an obstacle) and the distance between their surfaces.
struct NearestApproach {
  std::string a, b;
  double distance = 0.0;  ///< m
};

/// A scene, built and ready to take its steps.
///
/// Step s = 1, 2, … leads from time (s − 1) dt to s dt. When it is due (record_every, record_from), every
/// linearised contact solve in it with record_min_contacts becomes a frame: "000120" the first, "000120.2"
/// the second, …, with the surfaces where the solve's (sub-)step starts. The impulse of a solve that failed
/// is left out. Steps without contacts leave no frame.
///
/// With [prelude] in the scene, its steps come first: `advance` may be called once `prelude_left` is 0. The time of
/// step s is then later by that of the prelude.
class SceneRun {
 public:
  /// Asked before a frame is built; false skips it.
  using FrameFilter = std::function<bool(const std::string& id)>;
  using FrameSink = std::function<void(const Frame&)>;

  /// Throws `UsageError` / `InputError` for anything wrong with the scene.
  explicit SceneRun(const RecordRequest& request);
  ~SceneRun();
  SceneRun(SceneRun&&) noexcept;
  SceneRun& operator=(SceneRun&&) noexcept;

  long long prelude_steps() const;  ///< planned
  long long prelude_left() const;
  /// Takes one step of the prelude. Throws as `advance` does.
  StepReport advance_prelude();

  long long steps() const;  ///< planned
  /// The columns of `/statistics`, those of the scene's probes last; without rows.
  StepTable statistics_table() const;
  long long steps_taken() const;
  /// Whether the run ends with the steps in `statistics`, which are those taken: all planned ones, or as many
  /// with contact as time.contact_steps asks for.
  bool ends(const StepTable& statistics) const;
  /// Takes one step. Throws `std::runtime_error` when it cannot be solved; `Cancelled` when asked to end, and
  /// then the scene is good for nothing but `restore`.
  StepStatistics advance(const FrameFilter& wanted, const FrameSink& on_frame);
  /// Of the bodies as they are now; nothing in a scene of one body. Takes about as long as a step.
  std::optional<NearestApproach> nearest_approach() const;
  /// Going on from a restored checkpoint gives the same bits as never having stopped. `restore` throws
  /// `InputError` for bytes of another scene and for damaged ones.
  std::string checkpoint() const;
  void restore(std::string_view bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs the whole scene; `on_frame` gets every recorded snapshot that is `wanted`, `on_step` every step.
/// Returning false from `on_step` interrupts. Returns the number of frames that the run has, skipped ones
/// included. Throws as SceneRun does.
int run_scene(const RecordRequest& request, const SceneRun::FrameFilter& wanted,
              const SceneRun::FrameSink& on_frame, const std::function<bool(const StepStatistics&)>& on_step);

}  // namespace signorini
