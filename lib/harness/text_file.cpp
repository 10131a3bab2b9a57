#include "harness/text_file.h"

#include <fstream>
#include <iterator>

namespace signorini {

std::string text_or_nothing(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace signorini
