#pragma once

#include <new>
#include <string>
#include <utility>

namespace signorini {

/// Memory that is not there, known before it is asked for: the system grants more than it has, and ends a process that
/// uses it (SIGKILL, without a word).
class MemoryError : public std::bad_alloc {
 public:
  /// text: what needs how much, without "out of memory".
  explicit MemoryError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Throws `MemoryError` where `bytes` and what this process holds are together more than it can have at most
/// (usable_memory.h). `what` needs them: "the Cholesky factor of 300000 dofs". Below kAlwaysThere bytes nothing is asked.
void check_memory_for(double bytes, const std::string& what);
constexpr double kAlwaysThere = 67'108'864.0;  ///< 64 MiB

}  // namespace signorini
