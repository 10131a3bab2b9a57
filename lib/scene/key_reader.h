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
  template <class T, class Limits>
  void operator()(std::string_view key, T& value, const Limits& limits, std::string_view) {
    keys.get(prefix + std::string(key), value, limits);
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

/// What `validate` of a table says, with the table and the place of the key.
template <class Config>
void check_table(const SceneKeys& keys, const std::string& table, const Config& config) {
  try {
    config.validate();
  } catch (const KeyError& e) {
    const std::string key = table + "." + e.key;
    throw_usage("{}: '{}' {}", keys.where(key), key, e.what());
  }
}

}  // namespace signorini
