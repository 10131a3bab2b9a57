#include "terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "base/printable.h"
#include "base/text.h"

namespace signorini {
namespace {

bool colour_wanted(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return isatty(descriptor) == 1;
}

constexpr std::array<std::string_view, 6> kCodes{"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                 "\x1b[31m", "\x1b[32m", "\x1b[33m"};

std::string paint(std::string_view text, Colour colour, bool wanted) {
  if (!wanted || colour == Colour::none) return std::string(text);
  return fmt::format("{}{}{}", kCodes[static_cast<std::size_t>(colour)], text, kCodes[0]);
}

/// Text fit for a screen: control characters in it come from names and values of users; those of `paint` stay where
/// `coloured`.
std::string screen_text(std::string_view text, LineFeeds line_feeds, bool coloured) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto code = std::ranges::find_if(
        kCodes, [&](std::string_view known) { return text.substr(at).starts_with(known); });
    if (coloured && code != kCodes.end()) {
      result += *code;
      at += code->size();
      continue;
    }
    const std::size_t end = std::min(text.find('\x1b', at + 1), text.size());
    result += printable(text.substr(at, end - at), line_feeds);
    at = end;
  }
  return result;
}

constexpr std::size_t kColumns = 80, kLeastColumns = 20;

/// 0 where it is no terminal.
std::size_t columns_of(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > kLeastColumns ? size.ws_col : 0;
}

std::size_t terminal_width() {
  const std::size_t columns = columns_of(STDERR_FILENO);
  return columns > 0 ? columns : kColumns;
}

/// The first `columns` characters of UTF-8 text.
std::string_view clipped(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (seen++ == columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::size_t screen_columns() {
  if (const std::size_t columns = columns_of(STDOUT_FILENO); columns > 0) return columns;
  const char* wanted = std::getenv("COLUMNS");
  const long long columns = wanted == nullptr ? 0 : std::strtoll(wanted, nullptr, 10);
  return columns > static_cast<long long>(kLeastColumns) && columns < 10'000
             ? static_cast<std::size_t>(columns)
             : kColumns;
}

std::size_t text_columns() { return std::min<std::size_t>(100, screen_columns()); }

namespace {

bool colour_on_stdout() {
  static const bool wanted = colour_wanted(STDOUT_FILENO);
  return wanted;
}

bool colour_on_stderr() {
  static const bool wanted = colour_wanted(STDERR_FILENO);
  return wanted;
}

}  // namespace

std::string painted(std::string_view text, Colour colour) { return paint(text, colour, colour_on_stdout()); }

std::string painted_error(std::string_view text, Colour colour) {
  return paint(text, colour, colour_on_stderr());
}

namespace {

/// To stderr, if anybody reads it: talk that cannot be delivered is no reason to fail (fmt::print would throw).
void talk(std::string_view text) {
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

namespace {

/// A terminal breaks lines within words; a file or a pipe gets one line, which scripts can search.
std::string fitted(const std::string& line) {
  constexpr std::string_view kMore = "\n  ";
  const std::size_t columns = columns_of(STDERR_FILENO);
  if (columns == 0 || text_width(line) <= columns) return line;
  const std::size_t indent = std::min(line.find_first_not_of(' '), columns / 2);
  const std::vector<std::string> lines =
      wrapped_lines(std::string_view(line).substr(indent), columns - indent - (kMore.size() - 1));
  const std::string margin(indent, ' ');
  return margin + fmt::format("{}", fmt::join(lines, std::string(kMore) + margin));
}

}  // namespace

void say(std::string_view line) {
  talk(fitted(screen_text(line, LineFeeds::escape, colour_on_stderr())) + "\n");
}

void say_lines(std::string_view text) { talk(screen_text(text, LineFeeds::keep, colour_on_stderr()) + "\n"); }

void say_error(std::string_view text) {
  say(fmt::format("signorini: {} {}", painted_error("error:", Colour::red), error_line(text)));
}

void print(std::string_view asked) {
  const std::string text = screen_text(asked, LineFeeds::keep, colour_on_stdout());
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  // nobody reads any more (`| head`): files are still to be finished
  if (!written && errno != EPIPE) throw_input("standard output: cannot write: {}", std::strerror(errno));
}

std::string seconds_text(double s) {
  if (!std::isfinite(s)) return "–";
  constexpr std::array<const char*, 4> kUnits{"s", "ms", "µs", "ns"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::abs(s) < 0.9995) {
    s *= 1e3;
    ++unit;
  }
  if (s == 0.0) return "0";
  const int digits = s < 9.995 ? 2 : s < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", s, digits, kUnits[unit]);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 999.5) {
    bytes /= 1e3;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes)
                   : fmt::format("{:.{}f} {}", bytes, bytes < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string error_text(double error) {
  if (std::isnan(error)) return "–";
  if (std::isinf(error)) return "inf";
  if (error == 0.0) return "0";
  return fmt::format("{:.2e}", error);
}

std::size_t text_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto code = std::ranges::find_if(
        kCodes, [&](std::string_view known) { return text.substr(at).starts_with(known); });
    if (code == kCodes.end() && (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) ++columns;
    at += code == kCodes.end() ? 1 : code->size();
  }
  return columns;
}

std::vector<std::string> wrapped_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& paragraph : split(text, '\n')) {
    std::string line;
    for (const std::string& word : split(paragraph, ' ')) {
      if (!line.empty() && text_width(line) + 1 + text_width(word) > width) {
        lines.push_back(line);
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::size_t> TextTable::widths(const std::vector<Row>& rows) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(std::max(column.width, text_width(column.title)));
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], text_width(printable(row[i].text)));
  }
  return widths;
}

std::string TextTable::line_of(const Row& row, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string text = printable(row[i].text);
    const std::size_t pad = widths[i] - std::min(widths[i], text_width(text));
    if (columns_[i].align == Align::right) line.append(pad, ' ');
    line += painted(text, row[i].colour);
    if (i + 1 < row.size()) {
      if (columns_[i].align == Align::left) line.append(pad, ' ');
      line += "  ";
    }
  }
  return line + "\n";
}

TextTable::Row TextTable::titles() const {
  Row row;
  for (const Column& column : columns_) row.emplace_back(column.title, Colour::bold);
  return row;
}

namespace {

constexpr std::size_t kGap = 2;
/// A text that is wrapped keeps at least so many columns.
constexpr std::size_t kLeastText = 24;

std::size_t width_of(const std::vector<std::size_t>& columns) {
  return std::accumulate(columns.begin(), columns.end(), kGap * (columns.size() - 1));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> columns = widths(rows_);
  const std::size_t screen = screen_columns();
  // The widest texts give way first; the first column names the row and stays whole.
  while (width_of(columns) > screen) {
    std::size_t widest = 0;
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (columns_[i].align == Align::left && (widest == 0 || columns[i] > columns[widest])) widest = i;
    }
    if (widest == 0 || columns[widest] <= kLeastText) return panels(widths(rows_));
    const std::size_t excess = width_of(columns) - screen;
    columns[widest] = columns[widest] > excess + kLeastText ? columns[widest] - excess : kLeastText;
  }
  return wrapped_text(columns);
}

/// Cells wider than their column go on in the lines below.
std::string TextTable::wrapped_text(const std::vector<std::size_t>& widths) const {
  std::string text = line_of(titles(), widths);
  for (const Row& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool fits = text_width(row[i].text) <= widths[i];
      cells.push_back(fits ? std::vector<std::string>{row[i].text} : wrapped_lines(row[i].text, widths[i]));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t at = 0; at < lines; ++at) {
      Row line;
      for (std::size_t i = 0; i < row.size(); ++i)
        line.emplace_back(at < cells[i].size() ? cells[i][at] : "", row[i].colour);
      while (line.size() > 1 && line.back().text.empty()) line.pop_back();
      text += line_of(line, widths);
    }
  }
  return text;
}

TextTable TextTable::with_columns(const std::vector<std::size_t>& chosen) const {
  std::vector<Column> columns;
  for (const std::size_t i : chosen) columns.push_back(columns_[i]);
  TextTable part(std::move(columns));
  for (const Row& row : rows_) {
    Row cells;
    for (const std::size_t i : chosen)
      if (i < row.size()) cells.push_back(row[i]);
    part.add(std::move(cells));
  }
  return part;
}

std::string TextTable::panels(const std::vector<std::size_t>& widths) const {
  const std::size_t screen = screen_columns();
  const std::size_t beside = widths[0] + kGap;
  const std::size_t room = std::max(kLeastText, screen > beside ? screen - beside : 0);  // of a text
  std::string text;
  for (std::size_t next = 1; next < columns_.size();) {
    std::vector<std::size_t> chosen{0}, wide{widths[0]};
    do {
      chosen.push_back(next);
      const std::size_t most = columns_[next].align == Align::left ? room : widths[next];
      wide.push_back(std::min(widths[next++], most));
    } while (next < columns_.size() && width_of(wide) + kGap + widths[next] <= screen);
    if (!text.empty()) text += "\n";
    text += with_columns(chosen).wrapped_text(wide);
  }
  return text;
}

std::string TextTable::broken_line(const Row& row) const {
  constexpr std::size_t kIndent = 4;
  const std::vector<std::size_t> columns = widths({});
  const std::size_t screen = screen_columns();
  std::string text;
  std::size_t begin = 0;
  while (begin < row.size()) {
    const std::size_t indent = begin == 0 ? 0 : kIndent;
    std::size_t end = begin, used = indent;
    while (end < row.size()) {
      const std::size_t cell = std::max(columns[end], text_width(row[end].text)) + (end > begin ? kGap : 0);
      if (end > begin && used + cell > screen) break;
      used += cell;
      ++end;
    }
    TextTable part({columns_.begin() + static_cast<std::ptrdiff_t>(begin),
                    columns_.begin() + static_cast<std::ptrdiff_t>(end)});
    const Row cells(row.begin() + static_cast<std::ptrdiff_t>(begin),
                    row.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<std::size_t> wide(columns.begin() + static_cast<std::ptrdiff_t>(begin),
                                        columns.begin() + static_cast<std::ptrdiff_t>(end));
    text += std::string(indent, ' ') + part.line_of(cells, wide);
    begin = end;
  }
  return text;
}

Progress::Progress(std::string what, long long total)
    : what_(std::move(what)), total_(std::max(1LL, total)), enabled_(isatty(STDERR_FILENO) == 1) {}

void Progress::update(long long done, std::string_view detail) {
  constexpr double kQuiet = 2.0, kBetween = 0.1;
  if (!enabled_) return;
  const double now = watch_.seconds();
  if (now < kQuiet || now - last_ < kBetween) return;
  last_ = now;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
  const std::string left = share > 0.0 ? duration_text(now * (1.0 - share) / share) + " left" : "…";
  constexpr std::size_t kBar = 20;
  const auto full = static_cast<std::size_t>(share * static_cast<double>(kBar));
  std::string bar;
  for (std::size_t i = 0; i < kBar; ++i) bar += i < full ? "█" : "░";
  const std::string line =
      fmt::format("{} {} {:3.0f} %  {}  {}", printable(what_), bar, 100.0 * share, left, printable(detail));
  talk(fmt::format("\r{}\x1b[K", clipped(line, terminal_width() - 1)));
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  talk("\r\x1b[K");
  shown_ = false;
}

}  // namespace signorini
