#include "record/recording_failure.h"

#include <fstream>

#include "record/recording_format.h"

namespace signorini {

std::string recording_failure(const std::filesystem::path& file) {
  std::ifstream in(RecordingPaths(file).beside(kFailureSidecar));
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace signorini
