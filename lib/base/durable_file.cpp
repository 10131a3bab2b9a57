#include "base/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "base/write_all.h"

namespace signorini {

namespace fs = std::filesystem;

namespace {

/// Closes a descriptor on the way out; `close` reports what the last chance for an error says.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

[[noreturn]] void fail(const fs::path& path, const char* doing) {
  throw_input("{}: {} failed ({})", path.string(), doing, std::strerror(errno));
}

/// What stands in a lock file: "process host". Ours hold nothing else, so a user's file is told from them.
std::string text_of_lock(int fd) {
  char text[512] = {};
  const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
  return std::string(trim(std::string_view(text, got > 0 ? got : 0)));
}

bool is_lock_text(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return text.empty() || (digits > 0 && digits < 12 && text.find('\n') == std::string::npos &&
                          (digits == text.size() || text[digits] == ' '));
}

std::string holder_text(const std::string& text) {
  const std::vector<std::string> words = split(text, ' ');
  if (words.empty()) return "process unknown";
  return words.size() < 2 ? "process " + words[0] : fmt::format("process {} on {}", words[0], words[1]);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void write_and_sync(const fs::path& path, std::span<const std::byte> bytes) {
  constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int descriptor = ::open(path.c_str(), kNewFile, 0666);
  if (descriptor < 0 && errno == EEXIST && ::unlink(path.c_str()) == 0) {  // a kill left it
    descriptor = ::open(path.c_str(), kNewFile, 0666);
  }
  Descriptor file(descriptor);
  if (file.get() < 0) fail(path, "creating it");
  if (!write_all(file.get(), bytes.data(), bytes.size())) fail(path, "writing");
  if (::fsync(file.get()) != 0) fail(path, "flushing");
  if (!file.close()) fail(path, "closing");
}

}  // namespace

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) fail(folder, "opening the folder");
  // Some file systems cannot sync folders (EINVAL); there a rename is as durable as it gets.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) fail(folder, "flushing the folder");
}

void publish_durable(const fs::path& temporary, const fs::path& path) {
  {
    Descriptor file(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) fail(temporary, "opening it");
    if (::fsync(file.get()) != 0) fail(temporary, "flushing");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "renaming the finished file");
  sync_folder(folder_of(path));
}

void write_durable(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path temporary = path.string() + ".tmp";
  try {
    write_and_sync(temporary, bytes);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "renaming the finished file");
  } catch (const InputError&) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path));
}

LockFile::LockFile(fs::path path, const std::string& busy) : path_(std::move(path)) {
  while (true) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) fail(path_, "creating the lock file");
    const std::string text = text_of_lock(fd_);
    if (!is_lock_text(text)) {
      ::close(fd_);
      fd_ = -1;
      throw_input("{}: is in the way, a lock file of this name is needed; rename it", path_.string());
    }
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      ::close(fd_);
      fd_ = -1;
      errno = reason;
      if (reason != EWOULDBLOCK) fail(path_, "locking");
      const std::string holder = holder_text(text);
      throw BusyError(fmt::format("{} by {}; wait for it to end", busy, holder), holder);
    }
    // The previous holder may have removed the file between open and flock: then this lock is on a nameless
    // file.
    struct stat opened {
    }, named{};
    if (::fstat(fd_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev) {
      break;
    }
    ::close(fd_);
  }
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  const std::string holder = fmt::format("{} {}\n", ::getpid(), host);
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, holder.data(), holder.size(), 0) < 0) {
    // The number is a courtesy of the message; the lock holds without it.
    errno = 0;
  }
}

LockFile::LockFile(LockFile&& other) noexcept : path_(std::move(other.path_)), fd_(other.fd_) {
  other.fd_ = -1;
}

LockFile::~LockFile() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());
  ::close(fd_);
}

}  // namespace signorini
