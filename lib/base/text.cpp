#include "base/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/check.h"

namespace signorini {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    pieces.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0U : 1U);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = 1 + word.size() / 3;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance || (distance == best_distance && best.empty())) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || word.size() < 3) return best;
  for (const std::string& candidate : candidates) {
    if (!candidate.starts_with(word)) continue;
    if (!best.empty()) return {};
    best = candidate;
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest_name(word, candidates);
  if (!near.empty()) return fmt::format(" (did you mean '{}'?)", near);
  return candidates.empty() ? std::string{} : fmt::format(" (known: {})", fmt::join(candidates, ", "));
}

std::string exact_text(double value) { return fmt::format("{}", value); }

namespace {

template <class T>
T parse_number(std::string_view text, std::string_view what, const char* kind) {
  const std::string_view body = trim(text);
  T value{};
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc{} || end != body.data() + body.size() || body.empty()) {
    throw_usage("{}: '{}' is not {}", what, text, kind);
  }
  return value;
}

}  // namespace

double parse_double(std::string_view text, std::string_view what) {
  return parse_number<double>(text, what, "a number");
}

long long parse_integer(std::string_view text, std::string_view what) {
  return parse_number<long long>(text, what, "a whole number");
}

bool parse_bool(std::string_view text, std::string_view what) {
  const std::string_view body = trim(text);
  if (body == "true" || body == "1" || body == "yes" || body == "on") return true;
  if (body == "false" || body == "0" || body == "no" || body == "off") return false;
  throw_usage("{}: '{}' is neither true nor false", what, text);
}

}  // namespace signorini
