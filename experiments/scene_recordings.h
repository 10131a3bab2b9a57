#pragma once

#include <filesystem>
#include <string>

#include "harness/recording_provider.h"
#include "scene/scene_size.h"

namespace signorini {

struct Program;

/// Recordings of scenes in a folder that all experiments share: OUT/recordings/<name>-<size>.h5. What is missing is
/// recorded, what is unfinished continued; one that another process is making right now is waited for.
class SceneRecordings : public RecordingProvider {
 public:
  /// With `force` a recording of another version of the scene is replaced, else it is a `UsageError`.
  SceneRecordings(const Program& program, std::filesystem::path out, SceneSize size, bool force);

  std::filesystem::path provide(const SceneVariant& wanted, bool keep_failed) override;
  std::vector<std::pair<std::string, double>> facts(const RecordingHeader& header,
                                                    const StepTable& statistics,
                                                    const std::filesystem::path& file) const override;
  std::vector<std::string> statistics_columns() const override;
  std::vector<std::string> clock_columns() const override;

 private:
  const Program& program_;
  std::filesystem::path folder_;
  SceneSize size_;
  bool force_;
};

}  // namespace signorini
