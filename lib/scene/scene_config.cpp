#include "scene/scene_config.h"

#include <cmath>
#include <filesystem>

#include "base/check.h"
#include "base/text.h"
#include "geometry/ball.h"
#include "solvers/registry.h"

namespace signorini {

namespace {

/// Visitor that reads each key of a table.
struct Reader {
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

std::string toml_text(bool value) { return value ? "true" : "false"; }
std::string toml_text(int value) { return fmt::format("{}", value); }
std::string toml_text(long long value) { return fmt::format("{}", value); }
std::string toml_text(double value) { return exact_text(value); }
std::string toml_text(const Vector3& v) {
  return fmt::format("[{}, {}, {}]", exact_text(v[0]), exact_text(v[1]), exact_text(v[2]));
}
std::string toml_text(const std::array<int, 3>& v) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); }
std::string toml_text(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x20) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text + "\"";
}
template <NamedEnum E>
std::string toml_text(E value) {
  return toml_text(std::string(enum_name(value)));
}

/// Visitor that prints "key = value  # help" lines.
struct Printer {
  std::string text;

  template <class T>
  void operator()(std::string_view key, T& value, std::string_view help) {
    text += fmt::format("{} = {}  # {}\n", key, toml_text(value), help);
  }
  template <class T>
  void operator()(std::string_view key, T& value, Range, std::string_view help) {
    (*this)(key, value, help);
  }
};

template <class Config>
void read_table(SceneKeys& keys, const std::string& table, Config& config) {
  Reader reader{keys, table + "."};
  config.visit(reader);
}

template <class Config>
std::map<std::string, Config> read_tables(SceneKeys& keys, const std::string& prefix) {
  std::map<std::string, Config> tables;
  for (const std::string& name : keys.groups(prefix)) read_table(keys, prefix + "." + name, tables[name]);
  return tables;
}

void check_bodies(const SceneConfig& config, const SceneKeys& keys) {
  if (config.bodies.empty()) throw_usage("{}: the scene has no [bodies.NAME] table", config.path);
  std::vector<std::string> materials;
  for (const auto& [name, material] : config.materials) materials.push_back(name);
  for (const auto& [name, body] : config.bodies) {
    const std::string key = "bodies." + name + ".";
    if (body.material.empty()) throw_usage("{}: '{}material' is missing", config.path, key);
    if (!config.materials.contains(body.material)) {
      throw_usage("{}: '{}material': no table [materials.{}]{}", keys.where(key + "material"), key,
                  body.material, suggestion(body.material, materials));
    }
    if (body.level > kMaxBallLevel) {
      throw_usage("{}: '{}level' = {} is above {}", keys.where(key + "level"), key, body.level,
                  kMaxBallLevel);
    }
  }
  for (const auto& [name, obstacle] : config.obstacles) {
    if (obstacle.segments < 3) {
      throw_usage("{}: 'obstacles.{}.segments' = {} must be at least 3",
                  keys.where("obstacles." + name + ".segments"), name, obstacle.segments);
    }
  }
}

void check_solver(const SceneConfig& config, const SceneKeys& keys) {
  try {
    make_solver(config.solver.name, config.solver.options);
  } catch (const UsageError& e) {
    throw_usage("{}: [solver]: {}", keys.where("solver.name"), e.what());
  }
}

void resolve_steps(SceneConfig& config, const SceneKeys& keys, long long asked) {
  TimeConfig& time = config.time;
  double steps = asked > 0 ? static_cast<double>(asked) : time.steps;
  if (steps == 0.0) steps = std::max(1.0, std::round(time.duration_s / time.step_s));
  if (steps > static_cast<double>(kMaxSteps)) {
    throw_usage("{}: {:.0f} steps are more than {}; raise time.step_s or lower time.duration_s",
                keys.where("time.duration_s"), steps, kMaxSteps);
  }
  time.steps = static_cast<int>(steps);
  time.duration_s = time.steps * time.step_s;
  const double g = time.gravity_m_s2.norm();
  if (config.contact.rest_speed_m_s == 0.0) config.contact.rest_speed_m_s = 2.0 * time.step_s * g;
  if (config.contact.recovery_speed_m_s == 0.0) {
    config.contact.recovery_speed_m_s = 0.1 * config.contact.tolerance_m / time.step_s;
  }
}

SceneConfig read_size(const RecordRequest& request, SceneSize size, const OptionMap& overrides) {
  SceneKeys keys = SceneKeys::read(request.scene_path, size, overrides);
  SceneConfig config;
  config.path = request.scene_path;
  keys.get("title", config.title);
  keys.get("seed", config.seed, Range::non_negative);
  keys.get("geometry", config.geometry);
  read_table(keys, "time", config.time);
  read_table(keys, "contact", config.contact);
  read_table(keys, "solver", config.solver);
  config.solver.options = keys.take_options("solver.options");
  config.materials = read_tables<MaterialConfig>(keys, "materials");
  config.bodies = read_tables<BodyConfig>(keys, "bodies");
  config.obstacles = read_tables<ObstacleConfig>(keys, "obstacles");
  keys.finish();
  check_bodies(config, keys);
  check_solver(config, keys);
  resolve_steps(config, keys, request.steps);
  return config;
}

template <class Config>
std::string table_text(const std::string& name, Config config) {
  Printer printer;
  config.visit(printer);
  return fmt::format("\n[{}]\n{}", name, printer.text);
}

/// A table name as TOML needs it.
std::string key_text(const std::string& name) {
  const bool bare =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
          std::string::npos &&
      !name.empty();
  return bare ? name : toml_text(name);
}

}  // namespace

SceneConfig read_scene(const RecordRequest& request) {
  for (const auto& [size, name] : EnumNames<SceneSize>::value) {
    if (size != request.size) read_size(request, size, {});
  }
  return read_size(request, request.size, request.overrides);
}

std::string scene_text(const SceneConfig& config, SceneSize size) {
  std::string text = fmt::format("# Scene '{}', size {}, with every default written out.\n",
                                 std::filesystem::path(config.path).stem().string(), enum_name(size));
  text += fmt::format("title = {}\nseed = {}\ngeometry = {}\n", toml_text(config.title),
                      toml_text(config.seed), toml_text(config.geometry));
  text += table_text("time", config.time);
  text += table_text("contact", config.contact);
  text += table_text("solver", config.solver);
  if (!config.solver.options.empty()) text += "\n[solver.options]\n";
  for (const auto& [key, value] : config.solver.options)
    text += fmt::format("{} = {}\n", key_text(key), toml_text(value));
  for (const auto& [name, material] : config.materials)
    text += table_text("materials." + key_text(name), material);
  for (const auto& [name, body] : config.bodies) text += table_text("bodies." + key_text(name), body);
  for (const auto& [name, obstacle] : config.obstacles)
    text += table_text("obstacles." + key_text(name), obstacle);
  return text;
}

}  // namespace signorini
