#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/experiment.h"
#include "record/recording_file.h"

namespace signorini {

/// Where the recordings of an experiment come from. Experiments know no physics: whoever runs one brings this along.
class RecordingProvider {
 public:
  virtual ~RecordingProvider() = default;
  /// A complete recording of the scene at these settings, recorded when there is none. With `keep_failed` a scene whose
  /// driver fails is a shorter recording (record/recording_failure.h), else an error.
  virtual std::filesystem::path provide(const SceneVariant& wanted, bool keep_failed) = 0;
  /// Values of the facts of a recording's scene, by name. `file` opens errors.
  virtual std::vector<std::pair<std::string, double>> facts(const RecordingHeader& header,
                                                            const StepTable& statistics,
                                                            const std::filesystem::path& file) const = 0;
  /// Columns of the statistics that every recording has.
  virtual std::vector<std::string> statistics_columns() const = 0;
  /// Columns that FILE.steps.csv has besides the statistics, its last ones.
  virtual std::vector<std::string> clock_columns() const = 0;
};

}  // namespace signorini
