#pragma once

#include <concepts>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"

/// Typed options that name each field once.
///
/// An options struct holds its defaults as member initialisers and one member template
///
///     template <class Visitor> void visit(Visitor& v) {
///       v("omega", omega, "relaxation factor, 0 < omega < 2");
///     }
///
/// From it follow: reading `--set NAME.key=value` and TOML tables (unknown keys are errors with the nearest name),
/// the `options` column of runs.csv and its hash, and the table that `signorini list solvers` prints.
/// Field types: bool, int, double, std::string, and enums with a specialised `EnumNames`.
/// A struct may add `void validate() const` that throws `UsageError`.
namespace signorini {

/// Specialise with `static constexpr std::array<std::pair<E, std::string_view>, N> value`.
template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  EnumNames<E>::value;
};

template <NamedEnum E>
std::string_view enum_name(E e) {
  for (const auto& [value, name] : EnumNames<E>::value) {
    if (value == e) return name;
  }
  return "?";
}

template <NamedEnum E>
E parse_enum(std::string_view text, std::string_view what) {
  std::string known;
  for (const auto& [value, name] : EnumNames<E>::value) {
    if (name == text) return value;
    known += known.empty() ? "" : ", ";
    known += name;
  }
  throw_usage("{}: unknown value '{}' (known: {})", what, text, known);
}

/// What the environment variable asks for; `otherwise` where it is not set or empty. Throws `UsageError` for another name.
template <NamedEnum E>
E enum_from_environment(const std::string& variable, E otherwise) {
  const char* asked = std::getenv(variable.c_str());
  return asked == nullptr || *asked == '\0' ? otherwise
                                            : parse_enum<E>(asked, "environment variable " + variable);
}

/// Keys and values as text, as they come from the command line or a TOML table.
using OptionMap = std::map<std::string, std::string>;

/// One row of `list`: key, type, default, help.
struct OptionDescription {
  std::string key;
  std::string type;
  std::string value;
  std::string help;
};

namespace detail {

inline std::string option_text(bool value) { return value ? "true" : "false"; }
inline std::string option_text(int value) { return fmt::format("{}", value); }
inline std::string option_text(double value) { return exact_text(value); }
inline std::string option_text(const std::string& value) { return value; }
template <NamedEnum E>
std::string option_text(E value) {
  return std::string(enum_name(value));
}

inline void parse_option(std::string_view text, std::string_view what, bool& out) {
  out = parse_bool(text, what);
}
inline void parse_option(std::string_view text, std::string_view what, double& out) {
  out = parse_double(text, what);
}
inline void parse_option(std::string_view text, std::string_view, std::string& out) { out = text; }
void parse_option(std::string_view text, std::string_view what, int& out);
template <NamedEnum E>
void parse_option(std::string_view text, std::string_view what, E& out) {
  out = parse_enum<E>(text, what);
}

template <class T>
std::string option_type() {
  if constexpr (std::same_as<T, bool>) {
    return "true|false";
  } else if constexpr (std::same_as<T, int>) {
    return "integer";
  } else if constexpr (std::same_as<T, double>) {
    return "number";
  } else if constexpr (std::same_as<T, std::string>) {
    return "text";
  } else {
    std::string names;
    for (const auto& [value, name] : EnumNames<T>::value)
      names += (names.empty() ? "" : "|") + std::string(name);
    return names;
  }
}

}  // namespace detail

/// Rows (key, type, current value, help) in the order of `visit`.
template <class Options>
std::vector<OptionDescription> describe_options(Options options = {}) {
  std::vector<OptionDescription> rows;
  auto visitor = [&rows]<class T>(std::string_view key, T& field, std::string_view help) {
    rows.push_back(
        {std::string(key), detail::option_type<T>(), detail::option_text(field), std::string(help)});
  };
  options.visit(visitor);
  return rows;
}

/// Sets every field named in `values`. `context` opens the error line, e.g. "solver 'pgs'".
/// Throws `UsageError` for an unknown key, a value that does not parse, or a failed `validate()`.
template <class Options>
void apply_options(Options& options, const OptionMap& values, std::string_view context) {
  std::vector<std::string> known;
  OptionMap rest = values;
  auto visitor = [&]<class T>(std::string_view key, T& field, std::string_view) {
    known.emplace_back(key);
    const auto found = rest.find(std::string(key));
    if (found == rest.end()) return;
    detail::parse_option(found->second, fmt::format("{}: option '{}'", context, key), field);
    rest.erase(found);
  };
  options.visit(visitor);
  if (!rest.empty()) {
    const std::string& key = rest.begin()->first;
    throw_usage("{}: unknown option '{}'{}", context, key, suggestion(key, known));
  }
  if constexpr (requires { options.validate(); }) options.validate();
}

/// "key=value;key=value" of every field, in the order of `visit`: the `options` column of runs.csv.
template <class Options>
std::string options_text(Options options) {
  std::string text;
  auto visitor = [&text]<class T>(std::string_view key, T& field, std::string_view) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", key, detail::option_text(field));
  };
  options.visit(visitor);
  return text;
}

}  // namespace signorini
