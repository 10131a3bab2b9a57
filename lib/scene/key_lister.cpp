#include "scene/key_lister.h"

#include <cmath>

namespace signorini {

std::string toml_text(bool value) { return value ? "true" : "false"; }
std::string toml_text(int value) { return fmt::format("{}", value); }
std::string toml_text(long long value) { return fmt::format("{}", value); }
std::string toml_text(double value) {
  // "-0" is an integer in TOML, which reads back as +0.
  return value == 0.0 && std::signbit(value) ? "-0.0" : exact_text(value);
}
std::string toml_text(const Vector3& v) {
  return fmt::format("[{}, {}, {}]", toml_text(v[0]), toml_text(v[1]), toml_text(v[2]));
}
std::string toml_text(const std::array<int, 3>& v) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); }
std::string toml_text(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + "\"";
}
std::string toml_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + toml_text(value);
  return "[" + text + "]";
}
std::string toml_text(const std::vector<Vector3>& rows) {
  std::string text;
  for (const Vector3& row : rows) text += (text.empty() ? "" : ", ") + toml_text(row);
  return "[" + text + "]";
}

}  // namespace signorini
