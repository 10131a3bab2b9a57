#pragma once

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "fuzz_check.h"

namespace signorini {

/// A regular file in memory, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    require(::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "a write");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace signorini
