#include "geometry/mesh_scanner.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/text.h"

namespace signorini {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string result;
  for (const char c : text.substr(0, kMost)) result += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kMost ? result + "..." : result;
}

bool equal_words(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string MeshScanner::place() const {
  return binary_ ? fmt::format("{}: byte {}", name_, at_) : fmt::format("{}:{}", name_, line_);
}

bool MeshScanner::skip_space() {
  for (; at_ < bytes_.size() && is_space(bytes_[at_]); ++at_) {
    if (bytes_[at_] == '\n') ++line_;
  }
  return at_ < bytes_.size();
}

std::string_view MeshScanner::peek() {
  if (!skip_space()) return {};
  std::size_t end = at_;
  while (end < bytes_.size() && !is_space(bytes_[end])) ++end;
  return bytes_.substr(at_, end - at_);
}

std::string_view MeshScanner::token(const char* what) {
  const std::string_view result = peek();
  if (result.empty()) fail("the file or line ends where {} is expected", what);
  at_ += result.size();
  return result;
}

void MeshScanner::expect(std::string_view word, const char* where) {
  const std::string_view found = token(where);
  if (!equal_words(found, word)) fail("'{}' where {} needs '{}'", shown(found), where, word);
}

double MeshScanner::checked(double value, const char* what) const {
  if (!(std::abs(value) <= 1e30)) fail("{} {} is not finite or beyond 1e30", what, value);
  return value;
}

double MeshScanner::number(const char* what) {
  std::string_view text = token(what);
  const std::string_view all = text;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    fail("{} '{}' is not a number", what, shown(all));
  }
  // Out of range is too large or rounds to zero; strtod says which.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  return checked(value, what);
}

long long MeshScanner::integer(const char* what, long long low, long long high) {
  const std::string_view text = token(what);
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error != std::errc()) {
    fail("{} '{}' is not an integer", what, shown(text));
  }
  if (value < low || value > high) fail("{} {} is outside [{}, {}]", what, value, low, high);
  return value;
}

Index MeshScanner::count(const char* what, std::size_t bytes) {
  const std::size_t most = std::numeric_limits<Index>::max() / 4;
  const long long value = integer(what, 0, static_cast<long long>(most));
  if (std::cmp_greater(value, remaining() / bytes)) {
    fail("{} {} is more than the rest of the file can hold", what, value);
  }
  return static_cast<Index>(value);
}

void MeshScanner::check_size(std::size_t items, const char* what) const {
  constexpr std::size_t kMost = std::numeric_limits<Index>::max() / 4;
  if (items > kMost) fail("more than {} {}", kMost, what);
}

std::string_view MeshScanner::rest_of_line() {
  std::size_t end = at_;
  while (end < bytes_.size() && bytes_[end] != '\n') ++end;
  const std::string_view result = trim(bytes_.substr(at_, end - at_));
  at_ = end;
  if (at_ < bytes_.size()) {
    ++at_;
    ++line_;
  }
  return result;
}

MeshScanner MeshScanner::line_scanner() {
  MeshScanner result(*this);
  result.bytes_ = rest_of_line();
  result.at_ = 0;
  return result;
}

MeshScanner MeshScanner::sub_scanner(std::string_view part) const {
  MeshScanner result(*this);
  result.bytes_ = part;
  result.at_ = 0;
  return result;
}

void MeshScanner::skip(std::size_t bytes, const char* what) {
  if (bytes > remaining()) fail("the file ends inside {}", what);
  at_ += bytes;
}

void add_polygon(const MeshScanner& file, const std::vector<Index>& polygon, Index number,
                 RawTriangles& mesh) {
  if (polygon.size() < 3) file.fail("face {} has {} corners", number, polygon.size());
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) {
    mesh.elements.push_back({polygon[0], polygon[i], polygon[i + 1]});
    mesh.number.push_back(number);
  }
  file.check_size(mesh.elements.size(), "triangles");
}

}  // namespace signorini
