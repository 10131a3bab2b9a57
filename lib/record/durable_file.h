#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

/// Files that are either there completely or not at all, also after a crash or a full disk.
namespace signorini {

/// Writes `path.tmp` (its name ends in the process id when `path` is shared), checks every return, fsyncs,
/// and renames to `path`; fsyncs the folder. On failure the temporary file is removed and `InputError` names
/// path and reason.
void write_durable(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same for a temporary file that is complete already: fsync, rename, fsync of the folder.
void publish_durable(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// fsync of a folder, so that renames and removals inside it last.
void sync_folder(const std::filesystem::path& folder);

/// Holds `path` as a lock file (flock) for the life of the object. The kernel frees the lock of a dead
/// process.
class LockFile {
 public:
  /// Throws `InputError` "<busy>: … by process N" when another holder lives.
  LockFile(std::filesystem::path path, const std::string& busy);
  ~LockFile();
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace signorini
