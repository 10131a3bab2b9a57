#include "harness/scene_variants.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/strict_table.h"

namespace signorini {
namespace {

/// [settings.NAME]
struct Settings {
  OptionMap keys;
  std::map<std::string, Place> places;  ///< of each key
  Place place;
  bool used = false;
};
using SettingsByName = std::map<std::string, Settings>;

/// `{ "materials.rubber.young_modulus_pa" = 5e6 }`; dotted keys may also stand without quotes.
void read_keys(const toml::table& values, const StrictTable& where, const std::string& table,
               const std::string& prefix, OptionMap& keys, std::map<std::string, Place>& places) {
  for (const auto& [key, value] : values) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = value.as_table()) {
      read_keys(*inner, where, table, name + ".", keys, places);
    } else {
      keys[name] = option_value(value, where, table + "." + name);
      places[name] = where.place(value, table + "." + name);
    }
  }
}

SettingsByName read_settings(StrictTable& table) {
  SettingsByName all;
  const toml::table* named = table.find_table("settings");
  if (named == nullptr) return all;
  for (const auto& [key, values] : *named) {
    const std::string full = "settings." + std::string(key.str());
    if (!values.is_table())
      table.fail(values, full, fmt::format("must be a table of keys of a scene: [{}]", full));
    Settings& one = all[std::string(key.str())];
    one.place = table.place(values, full);
    read_keys(*values.as_table(), table, full, "", one.keys, one.places);
  }
  return all;
}

using Combination = std::vector<std::string>;  ///< of names of [settings.NAME], all of them at once

/// One entry of [[recordings]].
class RecordingsEntry {
 public:
  RecordingsEntry(const toml::table& values, const std::string& file, SettingsByName& settings,
                  std::string_view size)
      : strict_(values, file, "recordings."), settings_(settings) {
    if (!strict_.read("name", name_)) strict_.missing("name");
    read_scenes();
    read_set();
    read_combinations();
    read_vary();
    wanted_ = belongs_to_size(strict_, size);
    strict_.finish();
  }

  bool wanted() const { return wanted_; }  ///< at this size

  std::vector<SceneVariant> variants() const {
    std::vector<SceneVariant> all;
    for (std::size_t i = 0; i < scenes_.size(); ++i) {
      SceneVariant plain{"", scenes_[i], set_, scene_places_[i], set_place_};
      if (named_.empty()) append_varied(plain, "", all);
      for (const Combination& one : named_) append_varied(with(plain, one), joined(one), all);
    }
    return all;
  }

  /// What would make the names of the entry differ.
  std::string missing_placeholder() const {
    const auto lacks = [this](const char* word) { return name_.find(word) == std::string::npos; };
    if (scenes_.size() > 1 && lacks("{scene}")) return "; let it hold {scene}";
    if (named_.size() > 1 && lacks("{settings}")) return "; let it hold {settings}";
    return "";
  }
  [[noreturn]] void fail_name(const std::string& reason) const {
    strict_.fail(*strict_.table().get("name"), "name", reason);
  }

 private:
  void read_scenes() {
    const toml::node* node = strict_.find("scene");
    if (node == nullptr) strict_.missing("scene");
    if (node->is_array()) {
      strict_.read_list("scene", scenes_);
      scene_places_ = strict_.places("scene");
    } else {
      strict_.read("scene", scenes_.emplace_back());
      scene_places_.push_back(strict_.place(*node, "scene"));
    }
  }

  void read_set() {
    set_place_ = strict_.place(strict_.table(), "set");
    const toml::node* set = strict_.find("set");
    if (set == nullptr) return;
    set_place_ = strict_.place(*set, "set");
    if (!set->is_table())
      strict_.fail(*set, "set", "must be a table of keys of the scene: { \"time.step_s\" = 1e-3 }");
    std::map<std::string, Place> ignored;
    read_keys(*set->as_table(), strict_, "set", "", set_, ignored);
  }

  void read_vary() {
    const toml::node* vary = strict_.find("vary");
    if (vary == nullptr) return;
    if (!vary->is_table())
      strict_.fail(*vary, "vary", "must be a table of lists: { \"solver.name\" = [\"pgs\", \"pcg\"] }");
    vary_ = vary->as_table();
  }

  /// One list of names, or several: then every combination, the first list slowest.
  void read_combinations() {
    const toml::node* node = strict_.find("settings");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty())
      strict_.fail(*node, "settings", "must be a list with at least one entry");
    if (array->get(0)->as_array() == nullptr) {
      combine(*array);
    } else {
      for (const toml::node& list : *array) {
        if (list.as_array() == nullptr || list.as_array()->empty())
          strict_.fail(list, "settings", "must be a list of names, or of lists of names");
        combine(*list.as_array());
      }
    }
  }
  void combine(const toml::array& names) {
    std::vector<Combination> longer;
    for (const Combination& one : named_.empty() ? std::vector<Combination>(1) : named_) {
      for (const toml::node& name : names) {
        longer.push_back(one);
        longer.back().push_back(checked_name(name, one));
      }
    }
    named_ = std::move(longer);
  }

  /// A name is a table [settings.NAME], and sets what `set` and the names before it leave alone.
  std::string checked_name(const toml::node& node, const Combination& before) {
    const auto name = node.value_exact<std::string>();
    if (!name) strict_.fail(node, "settings", "must be a list of names, or of lists of names");
    std::vector<std::string> known;
    for (const auto& [other, settings] : settings_) known.push_back(other);
    const std::string place = strict_.place(node, "settings");
    const auto found = settings_.find(*name);
    if (found == settings_.end())
      throw_usage("{}: no table [settings.{}]{}", place, *name, suggestion(*name, known));
    found->second.used = true;
    for (const auto& [key, value] : found->second.keys) {
      if (set_.contains(key)) throw_usage("{}: '{}' sets '{}', which stands in 'set' too", place, *name, key);
      for (const std::string& other : before) {
        if (settings_.at(other).keys.contains(key))
          throw_usage("{}: '{}' sets '{}', which '{}' sets too", place, *name, key, other);
      }
    }
    return *name;
  }

  SceneVariant with(SceneVariant variant, const Combination& names) const {
    for (const std::string& name : names) {
      const Settings& added = settings_.at(name);
      variant.set.insert(added.keys.begin(), added.keys.end());
      variant.key_places.insert(added.places.begin(), added.places.end());
    }
    return variant;
  }
  static std::string joined(const Combination& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : "_") + name;
    return out;
  }

  /// The name with words in the place of {scene} and {settings}.
  std::string filled_name(const std::string& scene, const std::string& settings) const {
    const std::vector<std::string> known{"scene", "settings"};
    std::string out;
    for (std::size_t i = 0; i < name_.size(); ++i) {
      if (name_[i] != '{' && name_[i] != '}') {
        out += name_[i];
        continue;
      }
      const std::size_t end = name_.find('}', i);
      if (name_[i] == '}' || end == std::string::npos)
        fail_name(fmt::format("'{}' has a brace without its partner", name_));
      const std::string word = name_.substr(i + 1, end - i - 1);
      if (word == "settings" && named_.empty())
        fail_name(fmt::format("'{}' needs the key 'settings': a list of tables [settings.NAME]", name_));
      if (word == "scene") {
        out += std::filesystem::path(scene).stem().string();
      } else if (word == "settings") {
        out += settings;
      } else {
        fail_name(fmt::format("unknown placeholder '{{{}}}'{}", word, suggestion(word, known)));
      }
      i = end;
    }
    return out;
  }

  /// Every combination of the values that `vary` lists, the first key slowest.
  void append_varied(SceneVariant base, const std::string& settings, std::vector<SceneVariant>& out) const {
    base.name = filled_name(base.scene, settings);
    std::vector<SceneVariant> all{std::move(base)};
    const toml::table none;
    for (const auto& [key, values] : vary_ == nullptr ? none : *vary_) {
      const std::string name(key.str());
      const toml::array* list = values.as_array();
      if (list == nullptr || list->empty())
        strict_.fail(values, "vary." + name, "must be a list with at least one entry");
      std::vector<SceneVariant> longer;
      for (const SceneVariant& one : all) {
        for (const toml::node& value : *list) {
          SceneVariant& variant = longer.emplace_back(one);
          variant.set[name] = option_value(value, strict_, "vary." + name);
          variant.key_places[name] = strict_.place(value, "vary." + name);
          variant.name += "_" + variant.set[name];
        }
      }
      all = std::move(longer);
    }
    out.insert(out.end(), all.begin(), all.end());
  }

  StrictTable strict_;
  SettingsByName& settings_;
  std::string name_;
  bool wanted_ = true;
  std::vector<std::string> scenes_;
  std::vector<Combination> named_;
  std::vector<Place> scene_places_;
  OptionMap set_;
  Place set_place_;
  const toml::table* vary_ = nullptr;
};

}  // namespace

bool belongs_to_size(StrictTable& table, std::string_view size) {
  std::vector<std::string> sizes;
  if (!table.read_list("sizes", sizes)) return true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (std::find(kSizeNames.begin(), kSizeNames.end(), sizes[i]) == kSizeNames.end())
      throw_usage("{}: unknown size '{}'{}", table.places("sizes")[i], sizes[i],
                  suggestion(sizes[i], kSizeNames));
  }
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

void read_scene_variants(StrictTable& table, std::string_view size, const std::vector<std::string>& scenes,
                         std::vector<SceneVariant>& out) {
  SettingsByName settings = read_settings(table);
  std::set<std::string> names(scenes.begin(), scenes.end());
  if (const toml::node* node = table.find("recordings")) {
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty())
      table.fail(*node, "recordings", "must be a list of tables: [[recordings]]");
    for (const toml::node& values : *array) {
      if (!values.is_table()) table.fail(values, "recordings", "must be a list of tables: [[recordings]]");
      const RecordingsEntry entry(*values.as_table(), table.file(), settings, size);
      for (SceneVariant& one : entry.variants()) {
        if (one.name.empty() || one.name.find_first_of("/\\,\"") != std::string::npos)
          entry.fail_name(fmt::format("'{}' must be a plain file name", one.name));
        if (!names.insert(one.name).second)
          entry.fail_name(fmt::format("'{}' is recorded already{}", one.name, entry.missing_placeholder()));
        if (entry.wanted()) out.push_back(std::move(one));
      }
    }
  }
  for (const auto& [name, one] : settings) {
    if (!one.used) throw_usage("{}: is in the 'settings' of no [[recordings]]", one.place);
  }
}

}  // namespace signorini
