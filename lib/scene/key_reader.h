#pragma once

#include <map>
#include <string>
#include <string_view>

#include "scene/scene_keys.h"

namespace signorini {

/// Visitor that reads each key of a table.
struct KeyReader {
  SceneKeys& keys;
  std::string prefix;

  template <class T>
  void operator()(std::string_view key, T& value, std::string_view) {
    keys.get(prefix + std::string(key), value);
  }
  template <class T>
  void operator()(std::string_view key, T& value, Range range, std::string_view) {
    keys.get(prefix + std::string(key), value, range);
  }
};

template <class Config>
void read_table(SceneKeys& keys, const std::string& table, Config& config) {
  KeyReader reader{keys, table + "."};
  config.visit(reader);
}

/// All tables [prefix.NAME].
template <class Config>
std::map<std::string, Config> read_tables(SceneKeys& keys, const std::string& prefix) {
  std::map<std::string, Config> tables;
  for (const std::string& name : keys.groups(prefix)) read_table(keys, prefix + "." + name, tables[name]);
  return tables;
}

}  // namespace signorini
