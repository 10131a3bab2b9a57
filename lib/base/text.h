#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace signorini {

/// Splits at every `separator`; empty pieces are kept ("a,,b" has three), an empty text has none.
std::vector<std::string> split(std::string_view text, char separator);

/// `text` without leading and trailing white space.
std::string_view trim(std::string_view text);

/// The candidate nearest to `word` (edit distance ≤ 1 + a third of its length), else the only one that starts so, else "".
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'x'?)" or " (known: a, b, c)"; ready to append to an error line.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// The shortest decimal text that reads back as exactly `value`.
std::string exact_text(double value);

/// Whole-text conversions: "12abc" is not a number. Throw `UsageError` that names `what` and the text.
double parse_double(std::string_view text, std::string_view what);
long long parse_integer(std::string_view text, std::string_view what);
bool parse_bool(std::string_view text, std::string_view what);

}  // namespace signorini
