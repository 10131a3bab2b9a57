#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/check.h"

/// Files that are either there completely or not at all, also after a crash or a full disk; and locks.
namespace signorini {

/// Writes `path.tmp`, checks every return, fsyncs, and renames to `path`; fsyncs the folder. On failure the
/// file that was there stays, the temporary file is removed and `InputError` names path and reason.
void write_durable(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same for a temporary file that is complete already: fsync, rename, fsync of the folder.
void publish_durable(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// fsync of a folder, so that renames and removals inside it last.
void sync_folder(const std::filesystem::path& folder);

/// Another living process holds the lock.
class BusyError : public InputError {
 public:
  BusyError(const std::string& text, std::string holder) : InputError(text), holder_(std::move(holder)) {}
  const std::string& holder() const { return holder_; }  ///< "process 123 on HOST"

 private:
  std::string holder_;
};

/// Holds `path` as a lock file (flock) for the life of the object. The kernel frees the lock of a dead
/// process. On NFS the kernel turns flock into a lock at the server, so processes on two machines see each
/// other; a file system without locks is refused with the reason.
class LockFile {
 public:
  /// Throws `BusyError` "<busy> by process N on HOST; …" when another holder lives, `InputError` when the
  /// folder cannot be written or when a file of this name is no lock file.
  LockFile(std::filesystem::path path, const std::string& busy);
  ~LockFile();
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace signorini
