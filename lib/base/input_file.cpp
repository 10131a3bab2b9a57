#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/check.h"
#include "base/digest.h"

namespace signorini {

namespace fs = std::filesystem;

namespace {

class Opened {
 public:
  /// Without waiting: a pipe without a writer would hold the program for ever.
  explicit Opened(const fs::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

const char* kind_name(fs::file_type type) {
  switch (type) {
    case fs::file_type::regular:
      return "a regular file";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::symlink:
      return "a symbolic link";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    default:
      return "a device";
  }
}

std::string read_input_file(const fs::path& path, std::string_view what, std::uintmax_t most) {
  const auto cannot = [&](int reason) {
    throw_input("{}: cannot be read ({})", path.string(), std::strerror(reason));
  };
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();  // before it is opened: opening a device may act
  if (type == fs::file_type::not_found) throw_input("{}: no such {}", path.string(), what);
  if (type == fs::file_type::none) throw_input("{}: cannot be read ({})", path.string(), error.message());
  if (type != fs::file_type::regular)
    throw_input("{}: is {}, no {}; name a regular file", path.string(), kind_name(type), what);
  const Opened file(path);
  if (file.get() < 0) cannot(errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) cannot(errno);
  if (!S_ISREG(status.st_mode)) throw_input("{}: is not a regular file any more", path.string());
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot(errno);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > most) {
      throw_input("{}: has {} bytes, {}s may have {}; is it the right file?", path.string(),
                  std::max<std::uintmax_t>(text.size(), static_cast<std::uintmax_t>(status.st_size)), what,
                  most);
    }
  }
}

std::optional<FileDigest> digest_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  Digest digest;
  FileDigest out;
  std::vector<char> buffer(1U << 20U);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    digest.update(buffer.data(), in.gcount());
    out.bytes += static_cast<std::uintmax_t>(in.gcount());
  }
  if (!in.eof()) return std::nullopt;
  out.value = digest.value();
  return out;
}

}  // namespace signorini
