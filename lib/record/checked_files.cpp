#include "record/checked_files.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>

#include "base/input_file.h"

namespace signorini {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::int64_t kYoung = 2 * kNanoseconds;  // no file system in use has a coarser clock
constexpr std::int64_t kMostDigested = 1
                                       << 26;  // bytes; a larger file is checked again as long as it is young

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kNanoseconds + time.tv_nsec;
}

std::optional<std::uint64_t> content_of(const std::filesystem::path& path) {
  const std::optional<FileDigest> digest = digest_of_file(path);
  return digest ? std::optional(digest->value) : std::nullopt;
}

}  // namespace

std::optional<CheckedFiles::Identity> CheckedFiles::identity_of(const std::filesystem::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return Identity{file.st_dev, file.st_ino, file.st_size, nanoseconds(file.st_mtim),
                  nanoseconds(file.st_ctim)};
}

bool CheckedFiles::is_young(const Identity& file) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::max(std::get<3>(file), std::get<4>(file)) > nanoseconds(now) - kYoung;
}

bool CheckedFiles::has_passed(const Identity& file, const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  const auto found = passed_.find(file);
  if (found == passed_.end()) return false;
  if (!found->second) return true;
  const bool is_settled = !is_young(file);  // asked first: a change after it moves the times
  if (content_of(path) != found->second) return false;
  if (is_settled) found->second.reset();
  return true;
}

void CheckedFiles::check_once(const std::filesystem::path& path, FunctionRef<void()> check) {
  const std::optional<Identity> file = identity_of(path);
  if (file && has_passed(*file, path)) return;
  const bool needs_digest = file && is_young(*file);
  std::optional<std::uint64_t> digest;
  if (needs_digest && std::get<2>(*file) <= kMostDigested) digest = content_of(path);
  check();
  if (!file || identity_of(path) != file || (needs_digest && !digest)) return;
  const std::lock_guard lock(mutex_);
  passed_[*file] = digest;
}

}  // namespace signorini
