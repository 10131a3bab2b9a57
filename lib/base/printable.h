#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text from users and files made fit for a screen: names of files, keys of tables, values.
namespace signorini {

enum class LineFeeds { escape, keep };

/// What a terminal would obey instead of show, and what is no UTF-8, as an escape: "\n", "\t", "\x1b" for
/// control characters and stray bytes, "\u{202e}" for C1 controls and marks that turn the direction of writing.
std::string printable(std::string_view text, LineFeeds line_feeds = LineFeeds::escape);

/// `text` with at most `most` characters: its beginning, "…" and its end. Characters are never cut in two.
std::string shortened(std::string_view text, std::size_t most);

/// An error as one line for a screen: `printable`, values (words, and what stands between quotes) shortened to
/// `kMostValue` characters, and the whole to `kMostLine`.
inline constexpr std::size_t kMostValue = 200, kMostLine = 2000;
std::string error_line(std::string_view text);

}  // namespace signorini
