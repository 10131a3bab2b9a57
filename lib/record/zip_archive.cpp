#include "record/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"

namespace signorini {

namespace {

// Signatures and lengths of PKWARE's APPNOTE 6.3.
constexpr std::uint64_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint64_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint64_t kLocalLength = 30, kCentralLength = 46, kEndLength = 22, kLocatorLength = 20;
constexpr std::uint64_t kLongestComment = 0xffff, kLarge16 = 0xffff, kLarge32 = 0xffffffff;
constexpr std::uint64_t kStored = 0, kDeflated = 8, kEncrypted = 1;
constexpr std::uint64_t kFirstDay = 0x21;       // 1980-01-01
constexpr std::uint64_t kMostOfDeflate = 1032;  // bytes that one packed byte can become
constexpr std::size_t kPiece = std::size_t{1} << 30U;

uInt piece_of(std::size_t left) { return static_cast<uInt>(std::min(left, kPiece)); }

/// Whether the stream ends exactly with `out`.
bool inflate_all(std::span<const std::byte> packed, std::span<std::byte> out) {
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  std::size_t taken = 0, given = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const uInt input = piece_of(packed.size() - taken), room = piece_of(out.size() - given);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
    stream.avail_in = input;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + given);
    stream.avail_out = room;
    status = ::inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    given += room - stream.avail_out;
  }
  ::inflateEnd(&stream);
  return status == Z_STREAM_END && given == out.size();
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

void append(std::vector<std::byte>& out, std::uint64_t number, unsigned width) {
  for (unsigned i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
}

void append(std::vector<std::byte>& out, const std::string& text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

/// What the local header and the directory say in the same order: version to the length of the name.
void append_description(std::vector<std::byte>& out, const ZipMember& member) {
  append(out, 20, 2);  // version 2.0 suffices to read it
  append(out, 0, 2);
  append(out, kStored, 2);
  append(out, 0, 2);
  append(out, kFirstDay, 2);
  append(out, checksum_of(member.bytes), 4);
  append(out, member.bytes.size(), 4);
  append(out, member.bytes.size(), 4);
  append(out, member.name.size(), 2);
}

}  // namespace

ZipArchive::ZipArchive(std::vector<std::byte> bytes, std::string where)
    : bytes_(std::move(bytes)), where_(std::move(where)) {
  read_directory();
}

void ZipArchive::fail(const std::string& reason) const { throw_input("{}: {}", where_, reason); }

std::uint64_t ZipArchive::number(std::uint64_t at, unsigned width) const {
  if (at > bytes_.size() || width > bytes_.size() - at)
    fail("damaged zip archive (it points beyond its end)");
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(bytes_[at + i]) << (8 * i);
  return value;
}

std::uint64_t ZipArchive::find_end() const {
  if (bytes_.size() >= kEndLength) {
    const std::uint64_t last = bytes_.size() - kEndLength;
    const std::uint64_t tries = std::min(last, kLongestComment);
    for (std::uint64_t back = 0; back <= tries; ++back) {
      const std::uint64_t at = last - back;
      if (number(at, 4) == kEnd && number(at + 20, 2) == back) return at;
    }
  }
  fail("damaged zip archive (no directory at its end: the file is cut off)");
}

void ZipArchive::read_directory() {
  const std::uint64_t end = find_end();
  std::uint64_t entries = number(end + 10, 2), at = number(end + 16, 4);
  const bool is_large = entries == kLarge16 || at == kLarge32 || number(end + 12, 4) == kLarge32;
  if (is_large && end >= kLocatorLength && number(end - kLocatorLength, 4) == kLocator64) {
    const std::uint64_t end64 = number(end - kLocatorLength + 8, 8);
    if (number(end64, 4) != kEnd64) fail("damaged zip archive (no directory where its end says)");
    entries = number(end64 + 32, 8);
    at = number(end64 + 48, 8);
  } else if (number(end + 4, 2) != 0 || number(end + 6, 2) != 0) {
    fail("is one of several parts of a zip archive");
  }
  for (std::uint64_t i = 0; i < entries; ++i) at = add_entry(at);
}

std::uint64_t ZipArchive::add_entry(std::uint64_t at) {
  if (number(at, 4) != kCentral) fail("damaged zip archive (its directory is broken)");
  Entry entry;
  entry.flags = number(at + 8, 2);
  entry.method = number(at + 10, 2);
  entry.checksum = number(at + 16, 4);
  entry.packed = number(at + 20, 4);
  entry.size = number(at + 24, 4);
  entry.at = number(at + 42, 4);
  const std::uint64_t name_at = at + kCentralLength, extra_at = name_at + number(at + 28, 2);
  const std::uint64_t comment_at = extra_at + number(at + 30, 2), next = comment_at + number(at + 32, 2);
  if (next > bytes_.size()) fail("damaged zip archive (its directory runs over its end)");
  read_large_sizes(entry, extra_at, comment_at);
  const std::string name(reinterpret_cast<const char*>(bytes_.data() + name_at), extra_at - name_at);
  const auto [found, is_new] = entries_.emplace(name, entry);
  if (!is_new) found->second.is_repeated = true;
  return next;
}

/// The extra field 1 holds those of the three numbers that do not fit 32 bits, in this order.
void ZipArchive::read_large_sizes(Entry& entry, std::uint64_t at, std::uint64_t end) const {
  while (at + 4 <= end) {
    const std::uint64_t id = number(at, 2), field_end = at + 4 + number(at + 2, 2);
    if (field_end > end) fail("damaged zip archive (an extra field runs over its end)");
    std::uint64_t field = at + 4;
    at = field_end;
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.at}) {
      if (*value != kLarge32) continue;
      if (field + 8 > field_end) fail("damaged zip archive (a size above 4 GB is missing)");
      *value = number(field, 8);
      field += 8;
    }
  }
}

std::uint64_t ZipArchive::declared_size(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? 0 : found->second.size;
}

std::span<const std::byte> ZipArchive::packed_bytes(const std::string& name, const Entry& entry) const {
  if (entry.is_repeated) fail(fmt::format("holds '{}' twice", name));
  if ((entry.flags & kEncrypted) != 0)
    fail(fmt::format("'{}' is encrypted; save it without a password", name));
  if (entry.method != kStored && entry.method != kDeflated)
    fail(fmt::format("'{}' is packed by zip method {}; numpy.savez and numpy.savez_compressed write 0 and 8",
                     name, entry.method));
  if (number(entry.at, 4) != kLocal)
    fail(fmt::format("damaged zip archive ('{}' is not where it says)", name));
  const std::uint64_t begin = entry.at + kLocalLength + number(entry.at + 26, 2) + number(entry.at + 28, 2);
  if (begin > bytes_.size() || entry.packed > bytes_.size() - begin)
    fail(fmt::format("damaged zip archive ('{}' is cut off)", name));
  const bool is_possible =
      entry.method == kStored ? entry.size == entry.packed : entry.size / kMostOfDeflate <= entry.packed;
  if (!is_possible)
    fail(fmt::format("damaged zip archive ('{}' is said to hold {} bytes, packed in {})", name, entry.size,
                     entry.packed));
  return std::span(bytes_).subspan(begin, entry.packed);
}

std::vector<std::byte> ZipArchive::read(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail(fmt::format("'{}' is missing", name));
  const Entry& entry = found->second;
  const std::span<const std::byte> packed = packed_bytes(name, entry);
  std::vector<std::byte> out(entry.size);
  if (out.empty()) return out;
  if (entry.method == kStored) {
    std::memcpy(out.data(), packed.data(), out.size());
  } else if (!inflate_all(packed, out)) {
    fail(fmt::format("damaged zip archive ('{}' cannot be unpacked)", name));
  }
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION  // a fuzzer cannot guess checksums
  if (checksum_of(out) != entry.checksum)
    fail(fmt::format("damaged zip archive (the checksum of '{}' is wrong)", name));
#endif
  return out;
}

std::vector<std::byte> zip_image(std::span<const ZipMember> members, const std::string& where) {
  std::vector<std::byte> out, directory;
  for (const ZipMember& member : members) {
    SIGNORINI_CHECK(member.name.size() < kLarge16);
    if (out.size() + member.bytes.size() + kLocalLength + member.name.size() >= kLarge32)
      throw_input(
          "{}: needs more than 4 GB, the most that a plain zip archive holds; export it as FCLib (.hdf5)",
          where);
    append(directory, kCentral, 4);
    append(directory, 20, 2);  // made by version 2.0
    append_description(directory, member);
    append(directory, 0, 2 + 2 + 2 + 2);  // no extra field, no comment, first part, binary
    append(directory, 0, 4);              // no attributes of a file system
    append(directory, out.size(), 4);
    append(directory, member.name);
    append(out, kLocal, 4);
    append_description(out, member);
    append(out, 0, 2);  // no extra field
    append(out, member.name);
    out.insert(out.end(), member.bytes.begin(), member.bytes.end());
  }
  const std::size_t directory_at = out.size();
  out.insert(out.end(), directory.begin(), directory.end());
  append(out, kEnd, 4);
  append(out, 0, 4);  // part 0 of 0
  append(out, members.size(), 2);
  append(out, members.size(), 2);
  append(out, directory.size(), 4);
  append(out, directory_at, 4);
  append(out, 0, 2);  // no comment
  return out;
}

}  // namespace signorini
