#include "base/system_file.h"

#include <array>

#include "base/input_file.h"

namespace signorini {

std::string system_file(const std::filesystem::path& path) {
  constexpr std::size_t kMost = 1U << 20U;
  std::string text;
  std::array<char, 4096> buffer;
  ByteReader file(path);
  while (text.size() < kMost) {
    const std::optional<std::size_t> got = file.read(buffer.data(), buffer.size());
    if (!got) return {};
    text.append(buffer.data(), *got);
    if (*got < buffer.size()) break;
  }
  return text;
}

}  // namespace signorini
