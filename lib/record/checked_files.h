#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/function_ref.h"

namespace signorini {

/// Remembers which files have passed a check, so that each is checked once as long as it stays the same.
///
/// The same file: device, inode, size, and the times of the last change of its content and of its entry. Times are
/// coarse: two writes within one tick of the file system's clock look alike. A file that was changed less than two
/// seconds ago is known by the XXH3 of its bytes besides, until it is found unchanged after that time. One above 64 MiB is
/// checked again instead: to read all of it before the check may take minutes, and the check may refuse it at its first bytes.
class CheckedFiles {
 public:
  /// Calls `check` unless it has passed for this file before; what it throws is not remembered.
  void check_once(const std::filesystem::path& path, FunctionRef<void()> check);

 private:
  using Identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;
  static std::optional<Identity> identity_of(const std::filesystem::path& path);
  static bool is_young(const Identity& file);
  bool has_passed(const Identity& file, const std::filesystem::path& path);

  std::mutex mutex_;
  std::map<Identity, std::optional<std::uint64_t>>
      passed_;  ///< and the digest where the times do not suffice
};

}  // namespace signorini
