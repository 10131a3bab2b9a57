#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Reading a file that a user names, whole.
namespace signorini {

/// Bound of configurations (scenes, experiments, plans): a hundred times the longest of this tree.
inline constexpr std::uintmax_t kMostConfigBytes = 16U << 20U;

/// "a folder", "a pipe", "a device", …
const char* kind_name(std::filesystem::file_type type);

/// The content of a regular file of at most `most` bytes. `what` names its kind in messages, e.g. "scene file".
/// Throws `InputError` where there is no such file, for folders, pipes, sockets and devices (they are not
/// opened for reading: a pipe would never answer), for more than `most` bytes and for errors of reading.
std::string read_input_file(const std::filesystem::path& path, std::string_view what,
                            std::uintmax_t most = UINTMAX_MAX);

/// The bytes of a file from its beginning on. (std::ifstream frees a buffer twice where memory runs out in libstdc++ 12.)
class ByteReader {
 public:
  explicit ByteReader(const std::filesystem::path& path);
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// The number of bytes, less than `size` only at the end of the file; nothing where it cannot be read.
  std::optional<std::size_t> read(void* to, std::size_t size);

 private:
  int descriptor_;
};

/// Of a file's content (base/digest.h).
struct FileDigest {
  std::uint64_t value = 0;
  std::uintmax_t bytes = 0;
};
/// Nothing where the file cannot be read to its end.
std::optional<FileDigest> digest_of_file(const std::filesystem::path& path);

}  // namespace signorini
