#include "scene/scene_keys.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <optional>

#include <toml++/toml.h>

#include "base/check.h"
#include "base/input_file.h"
#include "base/text.h"

namespace signorini {

namespace {

using Value =
    std::variant<bool, long long, double, std::string, std::vector<double>, std::vector<std::vector<double>>>;

std::string value_text(const Value& value) {
  return std::visit(
      []<class T>(const T& v) -> std::string {
        if constexpr (std::same_as<T, std::vector<double>>) {
          return fmt::format("[{}]", fmt::join(v, ", "));
        } else if constexpr (std::same_as<T, std::vector<std::vector<double>>>) {
          std::string text;
          for (const auto& row : v)
            text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(row, ", "));
          return "[" + text + "]";
        } else if constexpr (std::same_as<T, std::string>) {
          return fmt::format("\"{}\"", v);
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

std::vector<double> numbers_of(const toml::array& array, const std::string& where, const std::string& key) {
  std::vector<double> numbers;
  for (const toml::node& element : array) {
    const auto number = element.value<double>();
    if (!number || !element.is_number()) throw_usage("{}: '{}' must be a list of numbers", where, key);
    numbers.push_back(*number);
  }
  return numbers;
}

Value value_of(const toml::node& node, const std::string& where, const std::string& key) {
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  if (const auto* integer = node.as_integer()) return static_cast<long long>(integer->get());
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* array = node.as_array()) {
    const bool nested = !array->empty() && array->get(0)->is_array();
    if (!nested) return numbers_of(*array, where, key);
    std::vector<std::vector<double>> rows;
    for (const toml::node& element : *array) {
      if (!element.is_array()) throw_usage("{}: '{}' mixes lists and numbers", where, key);
      rows.push_back(numbers_of(*element.as_array(), where, key));
    }
    return rows;
  }
  throw_usage("{}: '{}' has a type that scenes do not use (true/false, number, text, list of numbers)", where,
              key);
}

template <class Visit>
void flatten(const toml::table& table, const std::string& prefix, const std::string& path, Visit&& visit) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix.empty() ? std::string(name.str()) : prefix + "." + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      flatten(*inner, key, path, visit);
    } else {
      const auto line = static_cast<int>(node.source().begin.line);
      const std::string where = fmt::format("{}:{}", path, line);
      visit(key, value_of(node, where, key), where, line);
    }
  }
}

toml::table parse_text(const std::string& text, const std::string& where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw_input("{}:{}: {}", where, e.source().begin.line, e.description());
  }
}

toml::table parse_file(const std::string& path) {
  return parse_text(read_input_file(path, "scene file", kMostConfigBytes), path);
}

Value parse_override(const std::string& key, const std::string& text) {
  try {
    const toml::table table = toml::parse("value = " + text);
    if (table.size() == 1 && !table.get("value")->is_table())
      return value_of(*table.get("value"), "--set", key);
  } catch (const toml::parse_error&) {
    // Unquoted text, as in --set solver.name=pgs.
  }
  return text;
}

}  // namespace

SceneKeys SceneKeys::read(const std::string& path, SceneSize size, const OptionMap& overrides) {
  SceneKeys keys;
  keys.path_ = path;
  const toml::table table = parse_file(path);
  std::vector<std::pair<std::string, Entry>> sized;
  flatten(table, "", path, [&](const std::string& key, Value value, const std::string& where, int line) {
    if (!key.starts_with("size.")) {
      keys.entries_[key] = {std::move(value), where, line};
      return;
    }
    const std::size_t dot = key.find('.', 5);
    const SceneSize of = parse_enum<SceneSize>(key.substr(5, dot == std::string::npos ? dot : dot - 5),
                                               where + ": table [size.…]");
    if (dot == std::string::npos) throw_usage("{}: '{}' must be a table", where, key);
    if (of == size) sized.emplace_back(key.substr(dot + 1), Entry{std::move(value), where, line});
  });
  for (auto& [key, entry] : sized) keys.entries_[key] = std::move(entry);
  for (const auto& [key, text] : overrides) keys.entries_[key] = {parse_override(key, text), "--set"};
  return keys;
}

SceneKeys SceneKeys::parse(const std::string& text, const std::string& where) {
  SceneKeys keys;
  keys.path_ = where;
  flatten(parse_text(text, where), "", where,
          [&](const std::string& key, Value value, const std::string& place, int line) {
            keys.entries_[key] = {std::move(value), place, line};
          });
  return keys;
}

std::string SceneKeys::where(const std::string& key) const {
  const auto entry = entries_.find(key);
  if (entry != entries_.end()) return entry->second.where;
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos ? path_ : where_table(key.substr(0, dot));
}

std::string SceneKeys::where_table(const std::string& table) const {
  std::string first = path_;
  int least = std::numeric_limits<int>::max();
  for (const auto& [key, entry] : entries_) {
    if (!key.starts_with(table + ".") || entry.line >= least) continue;
    least = entry.line;
    first = entry.where;
  }
  return first;
}

const SceneKeys::Entry* SceneKeys::find(const std::string& key) {
  known_.insert(key);
  const auto entry = entries_.find(key);
  return entry != entries_.end() ? &entry->second : nullptr;
}

/// 1e3 is as whole as 1000; above 2^53 a floating-point number says nothing about its units.
std::optional<long long> SceneKeys::whole_number(const Value& value) {
  if (const auto* integer = std::get_if<long long>(&value)) return *integer;
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || *real != std::round(*real) || std::abs(*real) > 0x1p53) return std::nullopt;
  return static_cast<long long>(*real);
}

void SceneKeys::wrong_type(const std::string& key, const Entry& entry, std::string_view expected) const {
  throw_usage("{}: '{}' = {} is not {}", entry.where, key, value_text(entry.value), expected);
}

double SceneKeys::number(const std::string& key, const Entry& entry, Range range) const {
  double value = 0.0;
  if (const auto* real = std::get_if<double>(&entry.value)) {
    value = *real;
  } else if (const auto* integer = std::get_if<long long>(&entry.value)) {
    value = static_cast<double>(*integer);
  } else {
    wrong_type(key, entry, "a number");
  }
  const auto check = [&](bool good, std::string_view rule) {
    if (!good) throw_usage("{}: '{}' = {} must be {}", entry.where, key, value_text(entry.value), rule);
  };
  check(std::isfinite(value), "finite");
  switch (range) {
    case Range::any:
      break;
    case Range::positive:
      check(value > 0.0, "positive");
      break;
    case Range::non_negative:
      check(value >= 0.0, "zero or positive");
      break;
    case Range::fraction:
      check(value >= 0.0 && value <= 1.0, "between 0 and 1");
      break;
    case Range::below_half:
      check(value >= 0.0 && value < 0.5, "at least 0 and below 0.5");
      break;
    case Range::inside_unit:
      check(value > 0.0 && value < 1.0, "above 0 and below 1");
      break;
  }
  return value;
}

void SceneKeys::get(const std::string& key, bool& value) {
  const Entry* entry = find(key);
  if (entry == nullptr) return;
  if (const auto* boolean = std::get_if<bool>(&entry->value)) {
    value = *boolean;
  } else {
    wrong_type(key, *entry, "true or false");
  }
}

void SceneKeys::get(const std::string& key, long long& value, Range range) {
  const Entry* entry = find(key);
  if (entry == nullptr) return;
  const std::optional<long long> whole = whole_number(entry->value);
  if (!whole) wrong_type(key, *entry, "a whole number");
  number(key, *entry, range);
  value = *whole;
}

void SceneKeys::get(const std::string& key, int& value, Range range) {
  long long wide = value;
  get(key, wide, range);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    throw_usage("{}: '{}' = {} is out of range", where(key), key, wide);
  }
  value = static_cast<int>(wide);
}

void SceneKeys::get(const std::string& key, int& value, Between bounds) {
  get(key, value, bounds.least > 0 ? Range::positive : Range::non_negative);
  if (value < bounds.least)
    throw_usage("{}: '{}' = {} must be at least {}", where(key), key, value, bounds.least);
  if (value > bounds.most) throw_usage("{}: '{}' = {} is above {}", where(key), key, value, bounds.most);
}

void SceneKeys::get(const std::string& key, double& value, Range range) {
  if (const Entry* entry = find(key)) value = number(key, *entry, range);
}

void SceneKeys::get(const std::string& key, std::string& value) {
  const Entry* entry = find(key);
  if (entry == nullptr) return;
  const auto* text = std::get_if<std::string>(&entry->value);
  if (text == nullptr) wrong_type(key, *entry, "text");
  value = *text;
}

void SceneKeys::get(const std::string& key, Vector3& value, Range range) {
  const Entry* entry = find(key);
  if (entry == nullptr) return;
  const auto* list = std::get_if<std::vector<double>>(&entry->value);
  if (list == nullptr || list->size() != 3) wrong_type(key, *entry, "a list of three numbers");
  for (std::size_t d = 0; d < 3; ++d) {
    value[d] = number(key, {(*list)[d], entry->where}, range);
  }
}

void SceneKeys::get(const std::string& key, std::array<int, 3>& value, Range range) {
  Vector3 numbers(value[0], value[1], value[2]);
  get(key, numbers, range);
  for (std::size_t d = 0; d < 3; ++d) {
    const double number = numbers[d];
    if (number != std::floor(number) || std::abs(number) > 1e6) {
      throw_usage("{}: '{}' must be three whole numbers up to a million", where(key), key);
    }
    value[d] = static_cast<int>(number);
  }
}

void SceneKeys::get(const std::string& key, std::vector<double>& value) {
  const Entry* entry = find(key);
  if (entry == nullptr) return;
  const auto* list = std::get_if<std::vector<double>>(&entry->value);
  if (list == nullptr) wrong_type(key, *entry, "a list of numbers");
  for (const double element : *list) number(key, {element, entry->where}, Range::any);
  value = *list;
}

void SceneKeys::get(const std::string& key, std::vector<Vector3>& value) {
  const Entry* entry = find(key);
  if (entry == nullptr) return;
  value.clear();
  // An empty list has no rows to tell what it is a list of.
  if (const auto* empty = std::get_if<std::vector<double>>(&entry->value); empty != nullptr && empty->empty())
    return;
  const auto* rows = std::get_if<std::vector<std::vector<double>>>(&entry->value);
  if (rows == nullptr) wrong_type(key, *entry, "a list of [x, y, z]");
  for (const std::vector<double>& row : *rows) {
    if (row.size() != 3) wrong_type(key, *entry, "a list of [x, y, z]");
    for (const double element : row) number(key, {element, entry->where}, Range::any);
    value.emplace_back(row[0], row[1], row[2]);
  }
}

std::vector<std::string> SceneKeys::groups(const std::string& prefix) const {
  std::set<std::string> names;
  for (const auto& [key, entry] : entries_) {
    if (!key.starts_with(prefix + ".")) continue;
    const std::string rest = key.substr(prefix.size() + 1);
    if (const std::size_t dot = rest.find('.'); dot != std::string::npos) names.insert(rest.substr(0, dot));
  }
  return {names.begin(), names.end()};
}

OptionMap SceneKeys::take_options(const std::string& prefix) {
  OptionMap options;
  for (const auto& [key, entry] : entries_) {
    if (!key.starts_with(prefix + ".")) continue;
    known_.insert(key);
    const auto* text = std::get_if<std::string>(&entry.value);
    options[key.substr(prefix.size() + 1)] = text != nullptr ? *text : value_text(entry.value);
  }
  return options;
}

void SceneKeys::finish() const {
  for (const auto& [key, entry] : entries_) {
    if (known_.contains(key)) continue;
    const std::vector<std::string> candidates(known_.begin(), known_.end());
    const std::string near = nearest_name(key, candidates);
    const auto note = notes_.find(key.substr(0, key.rfind('.')));
    throw_usage("{}: unknown key '{}'{}{}", entry.where, key,
                near.empty() ? std::string{} : fmt::format(" (did you mean '{}'?)", near),
                note == notes_.end() ? std::string{} : "; " + note->second);
  }
}

}  // namespace signorini
