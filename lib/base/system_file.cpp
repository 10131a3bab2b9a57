#include "base/system_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace signorini {

std::string system_file(const std::filesystem::path& path) {
  constexpr std::size_t kMost = 1U << 20U;
  std::string text;
  text.reserve(4096);  // before the file is open: nothing closes it when this throws
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  std::array<char, 4096> buffer;
  bool whole = false;
  try {
    while (text.size() < kMost) {
      const ssize_t got = ::read(file, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      whole = got == 0;
      if (got <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
  return whole ? text : std::string();
}

}  // namespace signorini
