#include "record/recording_failure.h"

#include "base/system_file.h"
#include "record/recording_format.h"

namespace signorini {

std::string recording_failure(const std::filesystem::path& file) {
  const std::string text = system_file(RecordingPaths(file).beside(kFailureSidecar));
  return text.substr(0, text.find('\n'));
}

}  // namespace signorini
