#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/options.h"
#include "linalg/types.h"
#include "scene/scene_size.h"

/// A scene file as a flat list of dotted keys, each with the place it came from. TOML stays behind this door.
namespace signorini {

/// What a number must be.
enum class Range { any, positive, non_negative, fraction, below_half, inside_unit };
/// Of a whole number.
struct Between {
  int least, most;
};

/// A value that its table does not allow, as `validate` of a table says it: "must be below the other".
class KeyError : public UsageError {
 public:
  KeyError(std::string of, const std::string& text) : UsageError(text), key(std::move(of)) {}
  std::string key;
};

class SceneKeys {
 public:
  /// Reads the file, lays the table [size.<size>] over it, then the overrides. Throws `InputError` for a file
  /// that cannot be read or is no TOML, `UsageError` "file:line: …" for a value type that scenes do not
  /// have.
  static SceneKeys read(const std::string& path, SceneSize size, const OptionMap& overrides);

  /// The same of a text that holds one size only; `where` stands for the file in errors.
  static SceneKeys parse(const std::string& text, const std::string& where);

  /// Reads `key` into `value` when it is there; errors name place, key, value and what is expected.
  void get(const std::string& key, bool& value);
  void get(const std::string& key, int& value, Range range);
  void get(const std::string& key, int& value, Between bounds);
  void get(const std::string& key, long long& value, Range range);
  void get(const std::string& key, double& value, Range range);
  void get(const std::string& key, std::string& value);
  void get(const std::string& key, Vector3& value, Range range);
  void get(const std::string& key, std::array<int, 3>& value, Range range);
  void get(const std::string& key, std::vector<double>& value);
  void get(const std::string& key, std::vector<Vector3>& value);
  template <NamedEnum E>
  void get(const std::string& key, E& value) {
    std::string text(enum_name(value));
    get(key, text);
    value = parse_enum<E>(text, where(key) + ": " + key);
  }

  bool given(const std::string& key) const { return entries_.contains(key); }
  /// Names x of all keys "prefix.x.…", ascending. A value directly at "prefix.x" is left for `finish` to
  /// complain about.
  std::vector<std::string> groups(const std::string& prefix) const;
  /// All keys "prefix.x" as text; they count as known.
  OptionMap take_options(const std::string& prefix);
  /// "file:line" or "--set", or just the file when the key was not given.
  std::string where(const std::string& key) const;
  /// "FILE:LINE" of the first key of a table, e.g. "pins.left"; the file where the table has none.
  std::string where_table(const std::string& table) const;
  /// What `finish` adds about unknown keys of this table.
  void explain(const std::string& table, std::string text) { notes_[table] = std::move(text); }
  /// Throws `UsageError` for the first key that was not asked for, with the nearest known one.
  void finish() const;

 private:
  using Value = std::variant<bool, long long, double, std::string, std::vector<double>,
                             std::vector<std::vector<double>>>;
  struct Entry {
    Value value;
    std::string where;
    int line = std::numeric_limits<int>::max();  ///< the largest for keys that no file has
  };
  const Entry* find(const std::string& key);
  double number(const std::string& key, const Entry& entry, Range range) const;
  static std::optional<long long> whole_number(const Value& value);
  [[noreturn]] void wrong_type(const std::string& key, const Entry& entry, std::string_view expected) const;

  std::string path_;
  std::map<std::string, Entry> entries_;
  std::set<std::string> known_;
  std::map<std::string, std::string> notes_;
};

}  // namespace signorini
