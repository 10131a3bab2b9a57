#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Tables as text (RFC 4180).
namespace signorini {

using CsvLine = std::vector<std::string>;

/// A last line without its line feed is torn and not returned; `whole_bytes` (where not null) receives the length of the
/// text without it.
std::vector<CsvLine> parse_csv(std::string_view text, std::size_t* whole_bytes = nullptr);

/// In quotes where it has commas, quotes or line ends.
std::string csv_field(const std::string& text);

}  // namespace signorini
