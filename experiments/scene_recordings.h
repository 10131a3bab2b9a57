#pragma once

#include <filesystem>
#include <string>

#include "base/run_monitor.h"
#include "harness/recording_provider.h"
#include "scene/scene.h"

namespace signorini {

struct Program;

/// Recordings of scenes in a folder that all experiments share: OUT/recordings/<name>-<size>.h5. What is missing is
/// recorded, what is unfinished continued; one that another process is making right now is waited for.
class SceneRecordings : public RecordingProvider {
 public:
  /// With `force` a recording of another version of the scene is replaced, else it is a `UsageError`.
  SceneRecordings(const Program& program, RunMonitor& monitor, const std::filesystem::path& out,
                  SceneSize size, bool force);

  /// Where `provide` puts it.
  std::filesystem::path path_of(const SceneVariant& wanted) const;
  /// The scene that is recorded there, with every default written out.
  std::string scene_of(const SceneVariant& wanted) const;
  std::filesystem::path provide(const SceneVariant& wanted, bool keep_failed) override;
  std::vector<std::pair<std::string, double>> facts(const RecordingHeader& header,
                                                    const StepTable& statistics,
                                                    const std::filesystem::path& file) const override;
  std::vector<std::string> statistics_columns() const override;
  std::vector<std::string> clock_columns() const override;

 private:
  RecordRequest request_of(const SceneVariant& wanted) const;
  /// Records what is missing. Throws `BusyError` while another process records it.
  void make(const RecordRequest& record, const std::filesystem::path& file, bool keep_failed);

  const Program& program_;
  RunMonitor& monitor_;
  std::filesystem::path folder_;
  SceneSize size_;
  bool force_;
};

}  // namespace signorini
