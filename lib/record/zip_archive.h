#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

/// ZIP archives in memory, as far as numpy writes them: entries stored or deflated, ZIP64 where sizes need it.
///
/// Nothing in the bytes is trusted. Every place is checked against the end of the archive before it is read, a
/// declared size against what deflate can make of the packed bytes before memory is taken, and the checksum of an
/// entry after it was unpacked. Archives in several parts, encryption and other methods are refused.
namespace signorini {

class ZipArchive {
 public:
  /// Reads the directory. Throws `InputError` "<where>: <reason>", as all members do.
  ZipArchive(std::vector<std::byte> bytes, std::string where);

  bool has(const std::string& name) const { return entries_.contains(name); }
  /// Bytes of an entry once it is unpacked, as declared; 0 when absent.
  std::uint64_t declared_size(const std::string& name) const;
  /// An entry of the archive, unpacked.
  std::vector<std::byte> read(const std::string& name) const;
  std::size_t archive_size() const { return bytes_.size(); }

 private:
  struct Entry {
    std::uint64_t flags = 0, method = 0, checksum = 0, packed = 0, size = 0, at = 0;
    bool is_repeated = false;
  };
  [[noreturn]] void fail(const std::string& reason) const;
  /// Little-endian, `width` bytes at `at`.
  std::uint64_t number(std::uint64_t at, unsigned width) const;
  std::uint64_t find_end() const;
  void read_directory();
  /// Returns where the next entry of the directory begins.
  std::uint64_t add_entry(std::uint64_t at);
  void read_large_sizes(Entry& entry, std::uint64_t at, std::uint64_t end) const;
  std::span<const std::byte> packed_bytes(const std::string& name, const Entry& entry) const;

  std::vector<std::byte> bytes_;
  std::string where_;
  std::map<std::string, Entry> entries_;
};

struct ZipMember {
  std::string name;
  std::vector<std::byte> bytes;
};
/// An archive of stored entries in the given order, all dated 1980-01-01: equal members give equal bytes. Throws
/// `InputError` above 4 GB.
std::vector<std::byte> zip_image(std::span<const ZipMember> members, const std::string& where);

}  // namespace signorini
