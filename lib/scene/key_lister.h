#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "linalg/types.h"

namespace signorini {

struct FileConfig;

std::string toml_text(bool value);
std::string toml_text(int value);
std::string toml_text(long long value);
std::string toml_text(double value);
std::string toml_text(const Vector3& v);
std::string toml_text(const std::array<int, 3>& v);
std::string toml_text(const std::string& value);
std::string toml_text(const std::vector<double>& values);
std::string toml_text(const std::vector<Vector3>& rows);
template <NamedEnum E>
std::string toml_text(E value) {
  return toml_text(std::string(enum_name(value)));
}

/// Visitor that lists the keys of a table with their values as TOML, and the files that they name.
struct KeyLister {
  struct Row {
    std::string key, value, help;
  };
  std::vector<Row> rows;
  std::vector<FileConfig*> files;

  template <class T>
  void operator()(std::string_view key, T& value, std::string_view help) {
    rows.push_back({std::string(key), toml_text(value), std::string(help)});
  }
  template <class T, class Limits>
  void operator()(std::string_view key, T& value, const Limits&, std::string_view help) {
    (*this)(key, value, help);
  }
};

}  // namespace signorini
