#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace signorini {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The UTF-8 character at the beginning of `text`, which is not empty. Overlong forms, surrogates and codes above
/// U+10FFFF are not valid.
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {lead, 1, false};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return {lead, 1, false};
  return {code, bytes, true};
}

/// Embeddings, overrides and isolates of the bidirectional algorithm, and breaks of lines beside the line feed.
bool moves_text(std::uint32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x2028 ||
         code == 0x2029 || code == 0x200E || code == 0x200F;
}

std::string escape_of(const Character& c) {
  if (c.code == '\n') return "\\n";
  if (c.code == '\t') return "\\t";
  if (c.code == '\r') return "\\r";
  return c.valid && c.code >= 0x80 ? fmt::format("\\u{{{:x}}}", c.code) : fmt::format("\\x{:02x}", c.code);
}

/// Where character number `n` of `text` begins, or its end.
std::size_t begin_of(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; n > 0 && at < text.size(); --n) at += first_character(text.substr(at)).bytes;
  return at;
}

std::size_t characters(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size(); ++n) at += first_character(text.substr(at)).bytes;
  return n;
}

/// A quote that opens a value stands after a space, a bracket or an equals sign: no apostrophe does.
bool opens(std::string_view text, std::size_t at) {
  return (text[at] == '\'' || text[at] == '"') &&
         (at == 0 || std::string_view(" ([{=,").find(text[at - 1]) != std::string_view::npos);
}

/// The end of the value that begins at `at`: behind its closing quote, or the next space.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  if (opens(text, at)) {
    for (std::size_t end = text.find(text[at], at + 1); end != std::string_view::npos;
         end = text.find(text[at], end + 1)) {
      const bool closes = end + 1 == text.size() ||
                          std::string_view(" .,;:)]}").find(text[end + 1]) != std::string_view::npos;
      if (closes) return end + 1;
    }
  }
  return std::min(text.find(' ', at), text.size());
}

}  // namespace

std::string printable(std::string_view text, LineFeeds line_feeds) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    const bool control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0) || moves_text(c.code);
    const bool kept = c.code == '\n' && line_feeds == LineFeeds::keep;
    if (c.valid && (!control || kept))
      result += text.substr(at, c.bytes);
    else
      result += escape_of(c);
    at += c.bytes;
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::size_t length = characters(text);
  if (length <= most) return std::string(text);
  const std::size_t kept = std::max<std::size_t>(most, 1) - 1;  // and the ellipsis
  const std::size_t tail = kept / 3;
  return std::string(text.substr(0, begin_of(text, kept - tail))) + "…" +
         std::string(text.substr(begin_of(text, length - tail)));
}

std::string error_line(std::string_view text) {
  const std::string shown = printable(text);
  std::string line;
  for (std::size_t at = 0; at < shown.size();) {
    if (shown[at] == ' ') {
      line += shown[at++];
      continue;
    }
    const std::size_t end = end_of_value(shown, at);
    line += shortened(std::string_view(shown).substr(at, end - at), kMostValue);
    at = end;
  }
  return shortened(line, kMostLine);
}

}  // namespace signorini
