#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace signorini {

/// All bytes, or false (errno says why).
inline bool write_all(int file, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(file, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= n;
  }
  return true;
}

}  // namespace signorini
