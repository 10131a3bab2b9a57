#include "base/csv_text.h"

#include <utility>

namespace signorini {

std::vector<CsvLine> parse_csv(std::string_view text, std::size_t* whole_bytes) {
  std::vector<CsvLine> lines;
  CsvLine line;
  std::string field;
  bool inside_quotes = false;
  std::size_t complete = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside_quotes) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else {
        inside_quotes = false;
      }
    } else if (c == '"') {
      inside_quotes = true;
    } else if (c == ',' || c == '\n') {
      line.push_back(std::move(field));
      field.clear();
      if (c == '\n') {
        lines.push_back(std::move(line));
        line.clear();
        complete = i + 1;
      }
    } else if (c != '\r') {
      field += c;
    }
  }
  if (whole_bytes != nullptr) *whole_bytes = complete;
  return lines;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace signorini
