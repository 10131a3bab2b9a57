#include "harness/text_file.h"

#include "base/input_file.h"

namespace signorini {

std::string text_or_nothing(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) ? read_input_file(path, "file") : "";
}

}  // namespace signorini
