#include "scene/scene_config.h"

#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <set>

#include "base/check.h"
#include "base/digest.h"
#include "base/input_file.h"
#include "base/text.h"
#include "scene/fallback_solver.h"
#include "scene/length_scale.h"
#include "scene/shapes/registry.h"
#include "scene/step_statistics.h"
#include "solvers/region_tasks.h"
#include "solvers/registry.h"

namespace signorini {

namespace {

/// The shape that a table of bodies or obstacles asks for: by `shape`, or by the key of its file. `owner`:
/// who cannot have the shapes of other kinds, for the error line.
std::shared_ptr<Shape> read_shape(SceneKeys& keys, const std::string& table, BodyKind kind,
                                  const std::string& owner) {
  using enum BodyKind;
  const std::vector<std::string> known =
      kind == obstacle ? shape_names({obstacle}) : shape_names({elastic, rigid, cloth, springs});
  std::string name = shape_names({kind}).front();
  for (const char* file : {"mesh", "surface"})
    if (keys.given(table + "." + file) && std::ranges::count(known, file) > 0) name = file;
  const std::string key = table + ".shape";
  keys.get(key, name);
  if (std::ranges::count(known, name) == 0) {
    throw_usage("{}: {}: unknown value '{}' (known: {})", keys.where(key), key, name, fmt::join(known, ", "));
  }
  std::shared_ptr<Shape> shape = make_shape(kind, name);
  if (!shape) throw_usage("{}: '{}' = \"{}\" is no shape for {}", keys.where(key), key, name, owner);
  KeyLister lister;
  shape->visit(lister);
  std::string names;
  for (const KeyLister::Row& row : lister.rows) names += (names.empty() ? "" : ", ") + row.key;
  keys.explain(table, fmt::format("keys of shape '{}': {}", name, names));
  return shape;
}

/// Tables [bodies.NAME]: what keys they have depends on the material and on the shape.
void read_bodies(SceneKeys& keys, SceneConfig& config) {
  std::vector<std::string> materials;
  for (const auto& [name, material] : config.materials) materials.push_back(name);
  for (const std::string& name : keys.groups("bodies")) {
    const std::string table = "bodies." + name + ".";
    BodyConfig& body = config.bodies[name];
    keys.get(table + "material", body.material);
    if (body.material.empty()) throw_usage("{}: '{}material' is missing", config.path, table);
    const auto material = config.materials.find(body.material);
    if (material == config.materials.end()) {
      throw_usage("{}: '{}material': no table [materials.{}]{}", keys.where(table + "material"), table,
                  body.material, suggestion(body.material, materials));
    }
    body.model = material->second.model;
    body.shape = read_shape(keys, "bodies." + name, kind_of(body.model),
                            fmt::format("material '{}' of model {}", body.material, enum_name(body.model)));
    read_table(keys, "bodies." + name, body);
  }
}

void read_obstacles(SceneKeys& keys, SceneConfig& config) {
  for (const std::string& name : keys.groups("obstacles")) {
    const std::string table = "obstacles." + name + ".";
    ObstacleConfig& obstacle = config.obstacles[name];
    obstacle.shape = read_shape(keys, "obstacles." + name, BodyKind::obstacle, "an obstacle");
    read_table(keys, "obstacles." + name, obstacle);
    if (!keys.given(table + "pivot_m")) obstacle.motion.pivot_m = obstacle.position_m;
  }
}

void read_pins(SceneKeys& keys, SceneConfig& config) {
  std::vector<std::string> bodies;
  for (const auto& [name, body] : config.bodies) bodies.push_back(name);
  for (const std::string& name : keys.groups("pins")) {
    const std::string table = "pins." + name + ".";
    PinConfig& pin = config.pins[name];
    read_table(keys, "pins." + name, pin);
    const auto body = config.bodies.find(pin.body);
    if (pin.body.empty())
      throw_usage("{}: '{}body' is missing{}", keys.where(table + "body"), table, suggestion("", bodies));
    if (body == config.bodies.end()) {
      throw_usage("{}: '{}body': no table [bodies.{}]{}", keys.where(table + "body"), table, pin.body,
                  suggestion(pin.body, bodies));
    }
    if (body->second.model == MaterialModel::rigid) {
      throw_usage("{}: '{}body': bodies '{}' are rigid; only deformable ones can be pinned",
                  keys.where(table + "body"), table, pin.body);
    }
    if (body->second.shape->series() > 0) {
      throw_usage("{}: '{}body': bodies '{}' are {}s, which differ from one another and cannot be pinned",
                  keys.where(table + "body"), table, pin.body, body->second.shape->name());
    }
    if (!keys.given(table + "pivot_m")) pin.motion.pivot_m = body->second.position_m;
  }
}

void read_axles(SceneKeys& keys, SceneConfig& config) {
  std::vector<std::string> bodies;
  for (const auto& [name, body] : config.bodies) bodies.push_back(name);
  std::map<std::string, std::string> axle_of;
  for (const std::string& name : keys.groups("axles")) {
    const std::string key = "axles." + name + ".body";
    AxleConfig& axle = config.axles[name];
    read_table(keys, "axles." + name, axle);
    if (axle.body.empty()) throw_usage("{}: '{}' is missing{}", keys.where(key), key, suggestion("", bodies));
    const auto body = config.bodies.find(axle.body);
    if (body == config.bodies.end()) {
      throw_usage("{}: '{}': no table [bodies.{}]{}", keys.where(key), key, axle.body,
                  suggestion(axle.body, bodies));
    }
    if (body->second.model != MaterialModel::rigid) {
      throw_usage("{}: '{}': bodies '{}' are deformable; only rigid ones turn on axles", keys.where(key), key,
                  axle.body);
    }
    const auto [other, is_first] = axle_of.emplace(axle.body, name);
    if (!is_first) {
      throw_usage("{}: '{}': bodies '{}' are on the axles [axles.{}] already", keys.where(key), key,
                  axle.body, other->second);
    }
  }
}

/// Probes name columns of the statistics, facts read them.
void check_facts(const SceneConfig& config, const SceneKeys& keys) {
  std::vector<std::string> columns = statistics_table().columns, groups;
  for (const auto& [name, body] : config.bodies) groups.push_back(name);
  for (const auto& [name, probe] : config.probes) {
    const std::string table = "probes." + name + ".";
    if (!config.bodies.contains(probe.body)) {
      throw_usage("{}: '{}body': no table [bodies.{}]{}", keys.where(table + "body"), table, probe.body,
                  suggestion(probe.body, groups));
    }
    if (std::find(columns.begin(), columns.end(), name) != columns.end())
      throw_usage("{}: [probes.{}]: the statistics have a column of this name", keys.where(table + "body"),
                  name);
    if (name.size() > 64 ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
      throw_usage("{}: [probes.{}]: the name becomes a column and must be [a-z0-9_]+, up to 64 letters",
                  keys.where(table + "body"), name);
    }
    columns.push_back(name);
  }
  for (const auto& [name, fact] : config.facts) {
    const std::string table = "facts." + name + ".";
    if (fact.quantity == kOldDeepestPoint) {
      throw_usage("{}: '{}quantity' = \"{}\": this column is called deepest_point; write \"deepest_point\"",
                  keys.where(table + "quantity"), table, fact.quantity);
    }
    if (std::find(columns.begin(), columns.end(), fact.quantity) == columns.end()) {
      throw_usage("{}: '{}quantity' = \"{}\" is no column of the statistics{}",
                  keys.where(table + "quantity"), table, fact.quantity, suggestion(fact.quantity, columns));
    }
    if (fact.says.empty())
      throw_usage("{}: '{}says' is missing: the fact in words", keys.where(table + "quantity"), table);
    if (fact.at_least <= -kUnbounded && fact.at_most >= kUnbounded)
      throw_usage("{}: [facts.{}] has neither at_least nor at_most", keys.where(table + "quantity"), name);
    if (fact.at_least > fact.at_most) {
      throw_usage("{}: '{}at_least' = {} is above at_most = {}", keys.where(table + "at_least"), table,
                  exact_text(fact.at_least), exact_text(fact.at_most));
    }
  }
}

void check_body(const SceneConfig& config, const SceneKeys& keys, const std::string& name,
                const BodyConfig& body) {
  const bool is_thin = body.model == MaterialModel::cloth || body.model == MaterialModel::springs;
  if (is_thin && config.time.integrator == Integrator::explicit_euler) {
    throw_usage(
        "{}: bodies '{}' are made of {}, whose contacts explicit steps do not see; set time.integrator = "
        "\"implicit\"",
        keys.where("bodies." + name + ".material"), name, enum_name(body.model));
  }
  check_table(keys, "bodies." + name, body);
}

void check_motion(const SceneKeys& keys, const std::string& table, const MotionConfig& motion) {
  motion.motion().validate(fmt::format("{}: [{}]", keys.where_table(table), table));
}

void check_tables(const SceneConfig& config, const SceneKeys& keys) {
  if (config.bodies.empty()) throw_usage("{}: the scene has no [bodies.NAME] table", config.path);
  for (const auto& [name, body] : config.bodies) check_body(config, keys, name, body);
  for (const auto& [name, obstacle] : config.obstacles) {
    check_table(keys, "obstacles." + name, obstacle);
    check_motion(keys, "obstacles." + name, obstacle.motion);
  }
  for (const auto& [name, pin] : config.pins) {
    check_motion(keys, "pins." + name, pin.motion);
    check_table(keys, "pins." + name, pin);
  }
  for (const auto& [name, axle] : config.axles) {
    check_table(keys, "axles." + name, axle);
    if (config.time.integrator == Integrator::explicit_euler) {
      throw_usage("{}: [axles.{}]: explicit steps have no axles; set time.integrator = \"implicit\"",
                  keys.where("axles." + name + ".body"), name);
    }
  }
  check_table(keys, "contact", config.contact);
  check_table(keys, "prelude.contact", config.prelude.contact);
}

void check_solver(const SceneKeys& keys, const std::string& table, const SolverConfig& solver) {
  try {
    make_driver(solver);
  } catch (const UsageError& e) {
    throw_usage("{}: [{}]: {}", keys.where(table + ".name"), table, e.what());
  }
}

/// Speeds that follow from the time step.
void resolve_speeds(ContactConfig& contact, double dt, double gravity) {
  if (contact.rest_speed_m_s == 0.0) contact.rest_speed_m_s = 2.0 * dt * gravity;
  if (contact.integrator == Integrator::explicit_euler && contact.recovery_speed_m_s == 0.0) {
    contact.recovery_speed_m_s = 0.1 * contact.tolerance_m / dt;
  }
}

void resolve_steps(SceneConfig& config, const SceneKeys& keys, long long asked) {
  TimeConfig& time = config.time;
  double steps = time.steps;
  if (steps == 0.0) steps = std::max(1.0, std::round(time.duration_s / time.step_s));
  if (static_cast<double>(asked) > steps) steps = static_cast<double>(asked);
  if (steps > static_cast<double>(kMaxSteps)) {
    throw_usage("{}: {:.3g} steps are more than {}; raise time.step_s or lower time.duration_s",
                keys.where("time.duration_s"), steps, kMaxSteps);
  }
  time.steps = static_cast<int>(steps);
  if (asked > 0) time.stop_after = static_cast<int>(asked);
  if (time.stop_after >= time.steps) time.stop_after = 0;
  time.duration_s = time.steps * time.step_s;
  PreludeConfig& prelude = config.prelude;
  if (prelude.steps > kMaxSteps)
    throw_usage("{}: 'prelude.steps' = {} are more than {}", keys.where("prelude.steps"), prelude.steps,
                kMaxSteps);
  if (prelude.step_s == 0.0) prelude.step_s = time.step_s;
  const double g = time.gravity_m_s2.norm();
  resolve_speeds(config.contact, time.step_s, g);
  resolve_speeds(prelude.contact, prelude.step_s, g);
}

/// Options and the fallback in the file are those of the file's solver: an override that names another one leaves them
/// behind.
void drop_options_of_another_solver(SolverConfig& solver, const std::string& table, const std::string& path,
                                    SceneSize size, const OptionMap& overrides) {
  if (!overrides.contains(table + ".name")) return;
  SceneKeys file = SceneKeys::read(path, size, {});
  std::string name = SolverConfig{}.name;
  file.get(table + ".name", name);
  if (name == solver.name) return;
  for (const auto& [key, value] : file.take_options(table + ".options"))
    if (!overrides.contains(table + ".options." + key)) solver.options.erase(key);
  if (overrides.contains(table + ".fallback")) return;
  solver.fallback.clear();
  solver.fallback_options.clear();
}

SolverConfig read_solver(SceneKeys& keys, const std::string& table, const std::string& path, SceneSize size,
                         const OptionMap& overrides) {
  SolverConfig solver;
  read_table(keys, table, solver);
  solver.options = keys.take_options(table + ".options");
  solver.fallback_options = keys.take_options(table + ".fallback_options");
  drop_options_of_another_solver(solver, table, path, size, overrides);
  return solver;
}

void read_prelude(SceneKeys& keys, SceneConfig& config, SceneSize size, const OptionMap& overrides) {
  PreludeConfig& prelude = config.prelude;
  read_table(keys, "prelude", prelude);
  prelude.contact = config.contact;
  read_table(keys, "prelude.contact", prelude.contact);
  const bool has_solver = std::ranges::count(keys.groups("prelude"), "solver") > 0;
  prelude.solver =
      has_solver ? read_solver(keys, "prelude.solver", config.path, size, overrides) : config.solver;
}

void scale_lengths(SceneConfig& config, double factor) {
  LengthScaler scaler{factor};
  config.contact.visit(scaler);
  config.prelude.contact.visit(scaler);
  const auto all = [&](auto& tables) {
    for (auto& [name, table] : tables) table.visit(scaler);
  };
  all(config.materials);
  all(config.bodies);
  all(config.obstacles);
  all(config.pins);
  all(config.axles);
  all(config.probes);
}

SceneConfig read_size(const RecordRequest& request, SceneSize size, const OptionMap& overrides) {
  SceneKeys keys = SceneKeys::read(request.scene_path, size, overrides);
  SceneConfig config;
  config.path = request.scene_path;
  keys.get("title", config.title);
  keys.get("seed", config.seed, Range::non_negative);
  keys.get("geometry", config.geometry);
  double scale = 1.0;
  keys.get("scale", scale, Range::positive);
  read_table(keys, "time", config.time);
  config.contact.integrator = config.time.integrator;
  config.contact.edges = config.time.integrator == Integrator::implicit_euler;
  read_table(keys, "contact", config.contact);
  config.solver = read_solver(keys, "solver", config.path, size, overrides);
  read_prelude(keys, config, size, overrides);
  config.materials = read_tables<MaterialConfig>(keys, "materials");
  read_bodies(keys, config);
  read_obstacles(keys, config);
  read_pins(keys, config);
  read_axles(keys, config);
  config.probes = read_tables<ProbeConfig>(keys, "probes");
  config.facts = read_tables<FactConfig>(keys, "facts");
  keys.finish();
  if (scale != 1.0) scale_lengths(config, scale);
  check_tables(config, keys);
  check_facts(config, keys);
  check_solver(keys, "solver", config.solver);
  check_solver(keys, "prelude.solver", config.prelude.solver);
  resolve_steps(config, keys, request.steps);
  for (const char* kind : {"bodies", "obstacles", "pins", "axles", "probes"}) {
    for (const std::string& name : keys.groups(kind)) {
      const std::string table = fmt::format("{}.{}", kind, name);
      config.places[table] = keys.where_table(table);
    }
  }
  for (const char* key :
       {"time.step_s", "prelude.step_s", "contact.tolerance_m", "prelude.contact.tolerance_m"})
    config.places[key] = keys.where(key);
  return config;
}

/// Fills in the digest of a file, or compares it with the one that the scene asks for.
void identify(const SceneConfig& config, FileConfig& file) {
  const std::filesystem::path path = folder_of(config) / file.path;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw_input("{}: no such mesh file (asked for by {})", path.string(), config.path);
  const std::string bytes = read_input_file(path, "mesh file");
  const std::string digest = digest_text(digest_of(bytes));
  if (!file.digest.empty() && file.digest != digest) {
    throw_input("{}: is not the file that {} means (checksum {}, expected {})", path.string(), config.path,
                digest, file.digest);
  }
  file.digest = digest;
}

template <class Config>
std::string table_text(const std::string& name, Config config, const std::set<std::string>& left_out = {}) {
  KeyLister lister;
  config.visit(lister);
  std::string text = fmt::format("\n[{}]\n", name);
  for (const KeyLister::Row& row : lister.rows)
    if (!left_out.contains(row.key)) text += fmt::format("{} = {}  # {}\n", row.key, row.value, row.help);
  return text;
}

/// Keys of [contact] that earlier recordings lack: they stand in the text only where they are used, because
/// recordings are known by it.
std::set<std::string> unused_keys(const ContactConfig& contact) {
  std::set<std::string> keys;
  if (contact.start == ContactStart::constrained) keys.insert("start");
  if (contact.integrator == Integrator::explicit_euler && !contact.edges) keys.insert("edges");
  return keys;
}

/// Of [prelude.contact], where a key that is left out is that of [contact].
std::set<std::string> unused_keys(const PreludeConfig& prelude, const ContactConfig& of_scene) {
  const std::set<std::string> own = unused_keys(prelude.contact), there = unused_keys(of_scene);
  std::set<std::string> both;
  std::ranges::set_intersection(own, there, std::inserter(both, both.end()));
  return both;
}

std::set<std::string> unused_keys(const SolverConfig& solver) {
  return solver.fallback.empty() ? std::set<std::string>{"fallback"} : std::set<std::string>{};
}

/// A table name as TOML needs it.
std::string key_text(const std::string& name) {
  const bool bare =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
          std::string::npos &&
      !name.empty();
  return bare ? name : toml_text(name);
}

std::string options_text(const std::string& table, const OptionMap& options) {
  std::string text = options.empty() ? "" : fmt::format("\n[{}]\n", table);
  for (const auto& [key, value] : options) text += fmt::format("{} = {}\n", key_text(key), toml_text(value));
  return text;
}

std::string solver_text(const std::string& table, const SolverConfig& solver) {
  return table_text(table, solver, unused_keys(solver)) + options_text(table + ".options", solver.options) +
         options_text(table + ".fallback_options", solver.fallback_options);
}

}  // namespace

Vector3 TimeConfig::gravity() const {
  const double tilt = gravity_tilt_deg * std::numbers::pi / 180.0;
  return Eigen::AngleAxisd(tilt, Vector3::UnitY()) * gravity_m_s2;
}

void ContactConfig::validate() const {
  if (safety_m >= tolerance_m) {
    throw KeyError("safety_m",
                   fmt::format("= {} must be below contact.tolerance_m = {}", safety_m, tolerance_m));
  }
  if (friction > 1e200) throw KeyError("friction", fmt::format("= {} is above 1e+200", exact_text(friction)));
  if (free_tolerance >= 1.0)
    throw KeyError("free_tolerance", fmt::format("= {} must be below 1", free_tolerance));
}

std::unique_ptr<Solver> make_driver(const SolverConfig& solver) {
  std::unique_ptr<Solver> first = make_region_solver(solver.name, solver.options, {solver.regions, 1});
  if (solver.fallback.empty()) return first;
  return std::make_unique<FallbackSolver>(
      std::move(first), make_region_solver(solver.fallback, solver.fallback_options, {solver.regions, 1}),
      solver.accepted_residual);
}

SceneConfig read_scene(const RecordRequest& request) {
  for (const auto& [size, name] : EnumNames<SceneSize>::value) {
    if (size != request.size) read_size(request, size, {});
  }
  SceneConfig config = read_size(request, request.size, request.overrides);
  for (FileConfig* file : mesh_files(config)) identify(config, *file);
  return config;
}

std::filesystem::path folder_of(const SceneConfig& config) {
  return std::filesystem::path(config.path).parent_path();
}

std::vector<FileConfig*> mesh_files(SceneConfig& config) {
  KeyLister lister;
  for (auto& [name, body] : config.bodies) body.visit(lister);
  for (auto& [name, obstacle] : config.obstacles) obstacle.visit(lister);
  std::erase_if(lister.files, [](const FileConfig* file) { return file->path.empty(); });
  return lister.files;
}

std::string scene_text(const SceneConfig& config, SceneSize size) {
  std::string text = fmt::format("# Scene '{}', size {}, with every default written out.\n",
                                 std::filesystem::path(config.path).stem().string(), enum_name(size));
  text += fmt::format("title = {}\nseed = {}\ngeometry = {}\n", toml_text(config.title),
                      toml_text(config.seed), toml_text(config.geometry));
  text += table_text("time", config.time);
  text += table_text("contact", config.contact, unused_keys(config.contact));
  text += solver_text("solver", config.solver);
  if (config.prelude.steps > 0) {
    text += table_text("prelude", config.prelude);
    text +=
        table_text("prelude.contact", config.prelude.contact, unused_keys(config.prelude, config.contact));
    text += solver_text("prelude.solver", config.prelude.solver);
  }
  for (const auto& [name, material] : config.materials)
    text += table_text("materials." + key_text(name), material);
  for (const auto& [name, body] : config.bodies) text += table_text("bodies." + key_text(name), body);
  for (const auto& [name, obstacle] : config.obstacles)
    text += table_text("obstacles." + key_text(name), obstacle);
  for (const auto& [name, pin] : config.pins) text += table_text("pins." + key_text(name), pin);
  for (const auto& [name, axle] : config.axles) text += table_text("axles." + key_text(name), axle);
  for (const auto& [name, probe] : config.probes) text += table_text("probes." + key_text(name), probe);
  for (const auto& [name, fact] : config.facts) text += table_text("facts." + key_text(name), fact);
  return text;
}

}  // namespace signorini
