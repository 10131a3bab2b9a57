#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/digest.h"

namespace signorini {

namespace fs = std::filesystem;

/// Without waiting: a pipe without a writer would hold the program for ever.
ByteReader::ByteReader(const fs::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}

ByteReader::~ByteReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::size_t> ByteReader::read(void* to, std::size_t size) {
  if (!is_open()) return std::nullopt;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(to) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

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
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  ByteReader file(path);
  if (!file.is_open()) cannot(errno);
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) cannot(errno);
  if (!S_ISREG(status.st_mode)) throw_input("{}: is not a regular file any more", path.string());
  while (true) {
    const std::optional<std::size_t> got = file.read(buffer.data(), buffer.size());
    if (!got) cannot(errno);
    if (*got == 0) return text;
    text.append(buffer.data(), *got);
    if (text.size() > most) {
      throw_input("{}: has {} bytes, {}s may have {}; is it the right file?", path.string(),
                  std::max<std::uintmax_t>(text.size(), static_cast<std::uintmax_t>(status.st_size)), what,
                  most);
    }
  }
}

std::optional<FileDigest> digest_of_file(const fs::path& path) {
  Digest digest;
  FileDigest out;
  std::vector<char> buffer(1U << 20U);
  ByteReader file(path);
  while (true) {
    const std::optional<std::size_t> got = file.read(buffer.data(), buffer.size());
    if (!got) return std::nullopt;
    digest.update(buffer.data(), *got);
    out.bytes += *got;
    if (*got < buffer.size()) break;
  }
  out.value = digest.value();
  return out;
}

}  // namespace signorini
