#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace signorini {

/// Streaming XXH3 (64 bit) over bytes; not cryptographic. Numbers are hashed as their little-endian bytes.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void update(const void* data, std::size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  template <class T>
  void update(std::span<const T> values) {
    update(values.data(), values.size_bytes());
  }
  std::uint64_t value() const;

 private:
  void* state_;
};

std::uint64_t digest_of(std::string_view text);
/// 16 lower-case hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace signorini
