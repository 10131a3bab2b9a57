#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

/// What people see. Data goes to stdout, talk to stderr. Colour needs a terminal and no NO_COLOR; progress
/// needs stderr to be a terminal and work that lasts longer than two seconds.
namespace signorini {

enum class Colour { none, bold, dim, red, green, yellow };
/// For stdout, respectively stderr.
std::string painted(std::string_view text, Colour colour);
std::string painted_error(std::string_view text, Colour colour);

/// Control characters in what is printed, but for line feeds and colours, are shown as escapes (base/printable.h).

/// One line on stderr: talk, broken between words on a terminal. Line feeds are shown as escapes too.
void say(std::string_view line);
void say_lines(std::string_view text);
/// "signorini: error: …" on stderr.
void say_error(std::string_view text);
/// Text to stdout, unbuffered lines.
void print(std::string_view text);

/// "1.23 ms": three significant digits with a unit. Seconds, bytes.
std::string seconds_text(double seconds);
std::string bytes_text(double bytes);
std::string duration_text(double seconds);  ///< "4:07"
/// "3.2e-07", "inf", "–" for NaN.
std::string error_text(double error);

enum class Align { left, right };

/// Columns that text on stdout may take: those of the terminal, else of the environment variable COLUMNS, else 80.
std::size_t screen_columns();
/// The same for running text, at most 100: long lines are hard to read.
std::size_t text_columns();

/// Text in columns, no wider than the screen. Rows may be printed while they come in: widths start from the header and
/// the examples given.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
    std::size_t width = 0;  ///< at least
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  struct Cell {
    std::string text;
    Colour colour = Colour::none;
    Cell(std::string t, Colour c = Colour::none)
        : text(std::move(t)), colour(c) {}  // NOLINT(google-explicit-constructor)
    Cell(const char* t) : text(t) {}        // NOLINT(google-explicit-constructor)
  };
  using Row = std::vector<Cell>;

  void add(Row row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// Header and all rows, columns as wide as their widest cell. On a screen that is too narrow texts are wrapped; where
  /// that is not enough, columns follow in further tables, which repeat the first one.
  std::string text() const;
  /// For streaming with the widths asked for. What is too wide goes on in indented lines.
  std::string header() const { return broken_line(titles()); }
  std::string line(const Row& row) const { return broken_line(row); }

 private:
  Row titles() const;
  std::string broken_line(const Row& row) const;
  std::string wrapped_text(const std::vector<std::size_t>& widths) const;
  std::string panels(const std::vector<std::size_t>& widths) const;
  TextTable with_columns(const std::vector<std::size_t>& chosen) const;
  std::vector<std::size_t> widths(const std::vector<Row>& rows) const;
  std::string line_of(const Row& row, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Columns on a terminal, counting UTF-8 characters as one.
std::size_t text_width(std::string_view text);
/// `text` broken at spaces into lines of at most `width` columns (longer words stand alone); its own line
/// feeds stay.
std::vector<std::string> wrapped_lines(std::string_view text, std::size_t width);

/// A line at the foot of the terminal: bar, share, detail, time left.
class Progress {
 public:
  Progress(std::string what, long long total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(long long done, std::string_view detail);
  /// Removes the line, e.g. before a row is printed.
  void clear();
  double seconds() const { return watch_.seconds(); }

 private:
  std::string what_;
  long long total_;
  bool enabled_, shown_ = false;
  double last_ = -1.0;
  Stopwatch watch_;
};

}  // namespace signorini
