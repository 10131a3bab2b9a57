#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "base/check.h"
#include "base/text.h"

namespace signorini {

/// A table that knows its place in the file and which of its keys were asked for.
class StrictTable {
 public:
  StrictTable(const toml::table& table, std::string file, std::string prefix)
      : table_(table), file_(std::move(file)), prefix_(std::move(prefix)) {}

  /// The table under a key; null where the key is absent, an error where it is something else.
  const toml::table* find_table(const char* key) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    if (node->as_table() == nullptr) fail(*node, key, "must be a table");
    return node->as_table();
  }
  template <class T>
  bool read(const char* key, T& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return false;
    out = convert<T>(*node, key);
    return true;
  }
  template <class T>
  bool read_list(const char* key, std::vector<T>& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return false;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty()) fail(*node, key, "must be a list with at least one entry");
    out.clear();
    for (const toml::node& entry : *array) out.push_back(convert<T>(entry, key));
    return true;
  }
  const toml::node* find(const char* key) {
    known_.emplace_back(key);
    return table_.get(key);
  }
  /// Every key that was not asked for is an error.
  void finish() const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      throw_usage("{}:{}: unknown key '{}{}'{}", file_, node.source().begin.line, prefix_, name,
                  suggestion(name, known_));
    }
  }
  [[noreturn]] void fail(const toml::node& node, std::string_view key, std::string_view reason) const {
    throw_usage("{}: {}", place(node, key), reason);
  }
  /// "FILE:LINE: key 'prefix.key'", for errors that show later.
  std::string place(const toml::node& node, std::string_view key) const {
    return fmt::format("{}:{}: key '{}{}'", file_, node.source().begin.line, prefix_, key);
  }
  /// The places of the entries of a list that `read_list` has read.
  std::vector<std::string> places(const char* key) const {
    std::vector<std::string> all;
    for (const toml::node& entry : *table_.get(key)->as_array()) all.push_back(place(entry, key));
    return all;
  }
  [[noreturn]] void missing(std::string_view key) const {
    throw_usage("{}:{}: key '{}{}' is missing", file_, std::max<unsigned>(1U, table_.source().begin.line),
                prefix_, key);
  }
  const toml::table& table() const { return table_; }
  const std::string& file() const { return file_; }

 private:
  template <class T>
  T convert(const toml::node& node, const char* key) const {
    if constexpr (std::is_same_v<T, bool>) {
      if (const auto value = node.value_exact<bool>()) return *value;
      fail(node, key, "must be true or false");
    } else if constexpr (std::is_same_v<T, double>) {
      if (node.is_number()) return *node.value<double>();
      fail(node, key, "must be a number");
    } else if constexpr (std::is_same_v<T, int>) {
      const auto value = node.value_exact<std::int64_t>();
      if (!value || *value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max()) {
        fail(node, key, "must be a whole number of 32 bits");
      }
      return static_cast<int>(*value);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      const toml::array* row = node.as_array();
      if (row == nullptr || row->empty()) fail(node, key, "must be a list of numbers");
      std::vector<double> values;
      for (const toml::node& entry : *row) values.push_back(convert<double>(entry, key));
      return values;
    } else {
      const auto value = node.value_exact<std::string>();
      if (!value) fail(node, key, "must be a text in quotes");
      return *value;
    }
  }

  const toml::table& table_;
  std::string file_, prefix_;
  std::vector<std::string> known_;
};

/// A value as text, as `--set` takes it.
inline std::string option_value(const toml::node& node, const StrictTable& where, std::string_view key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto integer = node.value_exact<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto number = node.value_exact<double>()) return exact_text(*number);
  where.fail(node, key, "must be a text, a number, true or false");
}

inline void require_positive(const StrictTable& table, const char* key, double value) {
  if (value > 0.0) return;
  table.fail(*table.table().get(key), key, fmt::format("{} is not positive", value));
}

}  // namespace signorini
