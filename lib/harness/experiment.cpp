#include "harness/experiment.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/check.h"
#include "base/text.h"
#include "harness/strict_table.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw_input("{}: no such file", path.string());
  if (!std::filesystem::is_regular_file(path, error)) throw_input("{}: not a regular file", path.string());
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_input("{}: cannot be read", path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

toml::table parse_toml(const std::filesystem::path& path, const std::string& text) {
  try {
    return toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    throw_input("{}:{}: {}", path.string(), error.source().begin.line, error.description());
  }
}

std::string option_value(const toml::node& node, const StrictTable& where, std::string_view key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto integer = node.value_exact<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto number = node.value_exact<double>()) return exact_text(*number);
  where.fail(node, key, "must be a text, a number, true or false");
}

/// `set = { "materials.rubber.young_modulus_pa" = 5e6 }`; dotted keys may also stand without quotes.
void read_settings(const toml::table& values, const std::string& prefix, const StrictTable& where,
                   OptionMap& out) {
  for (const auto& [key, value] : values) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = value.as_table()) {
      read_settings(*inner, name + ".", where, out);
    } else {
      out[name] = option_value(value, where, "set." + name);
    }
  }
}

/// Every combination of the values that `vary` lists, the first key slowest: { "solver.name" = ["pgs", "pcg"]
/// }.
std::vector<SceneVariant> combinations(const SceneVariant& base, const toml::table& vary,
                                       const StrictTable& where) {
  std::vector<SceneVariant> all{base};
  for (const auto& [key, values] : vary) {
    const std::string name(key.str());
    const toml::array* list = values.as_array();
    if (list == nullptr || list->empty())
      where.fail(values, "vary." + name, "must be a list with at least one entry");
    std::vector<SceneVariant> longer;
    for (const SceneVariant& one : all) {
      for (const toml::node& value : *list) {
        SceneVariant variant = one;
        variant.set[name] = option_value(value, where, "vary." + name);
        variant.name += "_" + variant.set[name];
        longer.push_back(std::move(variant));
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Those of this size: `sizes` of an entry names the ones at which it is recorded.
void read_recordings(StrictTable& table, std::string_view size, Experiment& e) {
  const toml::node* node = table.find("recordings");
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty())
    table.fail(*node, "recordings", "must be a list of tables: [[recordings]]");
  std::set<std::string> names(e.scenes.begin(), e.scenes.end());
  for (const toml::node& entry : *array) {
    const toml::table* values = entry.as_table();
    if (values == nullptr) table.fail(entry, "recordings", "must be a list of tables: [[recordings]]");
    StrictTable strict(*values, table.file(), "recordings.");
    SceneVariant variant;
    if (!strict.read("name", variant.name)) strict.missing("name");
    if (!strict.read("scene", variant.scene)) strict.missing("scene");
    if (const toml::node* set = strict.find("set")) {
      if (set->as_table() == nullptr)
        strict.fail(*set, "set", "must be a table of keys of the scene: { \"time.step_s\" = 1e-3 }");
      read_settings(*set->as_table(), "", strict, variant.set);
    }
    std::vector<SceneVariant> variants{variant};
    if (const toml::node* vary = strict.find("vary")) {
      if (vary->as_table() == nullptr)
        strict.fail(*vary, "vary", "must be a table of lists: { \"solver.name\" = [\"pgs\", \"pcg\"] }");
      variants = combinations(variant, *vary->as_table(), strict);
    }
    std::vector<std::string> sizes;
    const bool wanted = !strict.read_list("sizes", sizes) || sizes.empty() ||
                        std::find(sizes.begin(), sizes.end(), size) != sizes.end();
    strict.finish();
    for (SceneVariant& one : variants) {
      if (one.name.empty() || one.name.find_first_of("/\\,\"") != std::string::npos)
        strict.fail(*values->get("name"), "name", fmt::format("'{}' must be a plain file name", one.name));
      if (!names.insert(one.name).second)
        strict.fail(*values->get("name"), "name", fmt::format("'{}' is recorded already", one.name));
      if (wanted) e.recordings.push_back(std::move(one));
    }
  }
}

/// The keys that a [sizes.<size>] table may change.
void read_amounts(StrictTable& table, Experiment& e) {
  if (table.read("stride", e.stride)) require_positive(table, "stride", e.stride);
  if (table.read("max_steps", e.max_steps)) require_positive(table, "max_steps", e.max_steps);
  if (table.read("repetitions", e.repetitions)) require_positive(table, "repetitions", e.repetitions);
  if (table.read("max_iterations", e.max_iterations))
    require_positive(table, "max_iterations", e.max_iterations);
  if (table.read("time_limit", e.time_limit)) require_positive(table, "time_limit", e.time_limit);
  if (table.read("minimum_time", e.minimum_time)) require_positive(table, "minimum_time", e.minimum_time);
  if (table.read("max_problems", e.max_problems)) require_positive(table, "max_problems", e.max_problems);
  if (table.read("min_contacts", e.min_contacts) && e.min_contacts < 0) {
    table.fail(*table.table().get("min_contacts"), "min_contacts", "is negative");
  }
}

void read_sizes(StrictTable& table, std::string_view size, Experiment& e) {
  const toml::node* node = table.find("sizes");
  if (node == nullptr) return;
  const toml::table* sizes = node->as_table();
  if (sizes == nullptr) table.fail(*node, "sizes", "must be a table");
  StrictTable strict(*sizes, table.file(), "sizes.");
  for (const char* name : {"quick", "medium", "paper"}) {
    const toml::node* one = strict.find(name);
    if (one == nullptr) continue;
    const toml::table* values = one->as_table();
    if (values == nullptr) strict.fail(*one, name, "must be a table");
    Experiment ignored;
    StrictTable amounts(*values, table.file(), fmt::format("sizes.{}.", name));
    read_amounts(amounts, size == name ? e : ignored);
    amounts.finish();
  }
  strict.finish();
}

void read_solvers(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("solvers");
  const bool runs = e.converge || e.time || e.self_stopped;
  if (!runs && e.scenes.empty() && e.recordings.empty())
    table.fail(*table.table().get("protocols"), "protocols",
               "nothing to do without 'scenes' or 'recordings'");
  if (node == nullptr && !runs) return;
  if (node == nullptr) table.missing("solvers");
  if (!runs) table.fail(*node, "solvers", "there are no protocols to run them by: protocols = []");
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty())
    table.fail(*node, "solvers", "must be a list of tables: [[solvers]]");
  std::set<std::string> labels;
  for (const toml::node& entry : *array) {
    const toml::table* values = entry.as_table();
    if (values == nullptr) table.fail(entry, "solvers", "must be a list of tables: [[solvers]]");
    StrictTable strict(*values, table.file(), "solvers.");
    SolverVariant variant;
    if (!strict.read("name", variant.name)) strict.missing("name");
    std::string text = variant.name;
    for (const auto& [key, value] : *values) {
      const std::string name(key.str());
      if (name == "name" || name == "label") continue;
      variant.options[name] = option_value(value, strict, name);
      text += fmt::format(" {}={}", name, variant.options[name]);
    }
    variant.label = text;
    strict.read("label", variant.label);
    try {
      make_solver(variant.name, variant.options);
    } catch (const UsageError& error) {
      throw_usage("{}:{}: {}", table.file(), entry.source().begin.line, error.what());
    }
    if (!labels.insert(variant.label).second) {
      table.fail(entry, "solvers.label", fmt::format("'{}' is used twice; labels are unique", variant.label));
    }
    e.solvers.push_back(std::move(variant));
  }
}

void read_protocols(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("protocols");
  if (node == nullptr) return;
  e.converge = e.time = e.self_stopped = false;
  if (node->as_array() != nullptr && node->as_array()->empty()) return;  // an experiment of recordings alone
  std::vector<std::string> names;
  table.read_list("protocols", names);
  for (const std::string& name : names) {
    if (name == "converge") {
      e.converge = true;
    } else if (name == "time") {
      e.time = true;
    } else if (name == "self-stopped") {
      e.self_stopped = true;
    } else {
      table.fail(*table.table().get("protocols"), "protocols",
                 fmt::format("unknown protocol '{}' (known: converge, self-stopped, time)", name));
    }
  }
}

/// The report evaluates expectations; here only what makes an entry unreadable is refused.
void check_expectations(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("expect");
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) table.fail(*node, "expect", "must be a list of tables: [[expect]]");
  std::set<std::string> ids;
  for (const toml::node& entry : *array) {
    const toml::table* values = entry.as_table();
    if (values == nullptr) table.fail(entry, "expect", "must be a list of tables: [[expect]]");
    StrictTable strict(*values, table.file(), "expect.");
    std::string id, claim, kind;
    if (!strict.read("id", id)) strict.missing("id");
    if (!strict.read("claim", claim)) strict.missing("claim");
    if (!strict.read("kind", kind)) strict.missing("kind");
    for (const char* key :
         {"source", "column",    "where",       "statistic", "lower",   "upper",      "min",
          "max",    "numerator", "denominator", "match",     "against", "comparable", "reason",
          "unit",   "size",      "sizes",       "at_least",  "at_most", "column_of",  "denominator_column",
          "above",  "below"}) {
      strict.find(key);
    }
    std::string rows = "runs";
    if (strict.read("rows", rows) && rows != "runs" && rows != "steps" && rows != "follow")
      strict.fail(*values->get("rows"), "rows",
                  fmt::format("unknown rows '{}' (known: follow, runs, steps)", rows));
    if (rows == "follow" && e.follow.empty())
      strict.fail(*values->get("rows"), "rows", "there is no table [follow]");
    e.steps = e.steps || rows == "steps";
    strict.finish();
    if (!ids.insert(id).second) strict.fail(*values->get("id"), "id", fmt::format("'{}' is used twice", id));
    const std::set<std::string> kinds{"fraction",    "quantity",     "ratio", "slope",
                                      "slope_ratio", "ratio_growth", "spread"};
    if (!kinds.contains(kind)) {
      strict.fail(*values->get("kind"), "kind",
                  fmt::format("unknown kind '{}' (known: {})", kind, fmt::join(kinds, ", ")));
    }
  }
}

void read_series(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("series");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "series", "must be a table: [series]");
  StrictTable strict(*values, table.file(), "series.");
  if (!strict.read_list("columns", e.series)) strict.missing("columns");
  std::string text;
  strict.read("label", text);
  double window = 0.0;
  if (strict.read("window", window)) require_positive(strict, "window", window);
  std::vector<std::string> words;
  strict.read_list("words", words);
  strict.finish();
}

void read_follow(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("follow");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "follow", "must be a table: [follow]");
  StrictTable strict(*values, table.file(), "follow.");
  std::vector<std::string> modes;
  if (!strict.read_list("regions", modes)) strict.missing("regions");
  for (const std::string& mode : modes) {
    if (mode != "points" && mode != "islands")
      strict.fail(*values->get("regions"), "regions", fmt::format("unknown '{}' (known: points, islands)", mode));
    e.follow.push_back(parse_enum<RegionMode>(mode, "follow.regions"));
  }
  strict.finish();
  if (e.scenes.empty() && e.recordings.empty())
    table.fail(*node, "follow", "needs 'scenes' or 'recordings' whose steps are followed");
}

void read_cut(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("cut");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "cut", "must be a table: [cut]");
  StrictTable strict(*values, table.file(), "cut.");
  e.cut.emplace();
  if (strict.read("min_contacts", e.cut->min_contacts))
    require_positive(strict, "min_contacts", e.cut->min_contacts);
  if (strict.read("max_contacts", e.cut->max_contacts) && e.cut->max_contacts < e.cut->min_contacts)
    strict.fail(*values->get("max_contacts"), "max_contacts", "is less than min_contacts");
  strict.finish();
}

void read_matrix(StrictTable& table, const std::filesystem::path& path, std::string_view size,
                 Experiment& e) {
  table.read_list("scenes", e.scenes);
  std::vector<std::string> files, regions;
  if (table.read_list("files", files)) {
    for (const std::string& file : files) {
      const std::filesystem::path given(file);
      e.files.push_back(given.is_absolute() ? given : path.parent_path() / given);
    }
  }
  table.read_list("optional_files", e.optional_files);
  read_recordings(table, size, e);
  read_config_problems(table, e.problems);
  read_cut(table, e);
  read_follow(table, e);
  read_series(table, e);
  if (e.scenes.empty() && e.recordings.empty() && e.files.empty() && e.problems.empty()) {
    throw_usage("{}:1: needs 'scenes', 'recordings', 'files' or 'problems': there is nothing to solve",
                path.string());
  }
  if (table.read_list("regions", regions)) {
    e.regions.clear();
    for (const std::string& mode : regions) {
      e.regions.push_back(
          parse_enum<RegionMode>(mode, fmt::format("{}:{}: key 'regions'", path.string(),
                                                   table.table().get("regions")->source().begin.line)));
    }
  }
  if (table.read_list("threads", e.threads)) {
    for (const int threads : e.threads) require_positive(table, "threads", threads);
  }
  if (table.read_list("tolerances", e.tolerances)) {
    for (const double tolerance : e.tolerances) require_positive(table, "tolerances", tolerance);
  }
}

/// A label of [[solvers]], or an error at `node`.
void check_label(const StrictTable& table, const toml::node& node, const char* key, const std::string& label,
                 const Experiment& e) {
  std::vector<std::string> labels;
  for (const SolverVariant& variant : e.solvers) labels.push_back(variant.label);
  if (std::find(labels.begin(), labels.end(), label) != labels.end()) return;
  table.fail(node, key, fmt::format("'{}' is no label of [[solvers]]{}", label, suggestion(label, labels)));
}

/// The table of iterations that the report prints: [table].
void check_table(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("table");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "table", "must be a table");
  StrictTable strict(*values, table.file(), "table.");
  std::string text;
  strict.read("title", text);
  strict.read("beside", text);
  strict.read("show", text);
  const toml::node* prototype = strict.find("numbers");
  strict.finish();
  if (prototype == nullptr) return;
  if (prototype->as_table() == nullptr) strict.fail(*prototype, "numbers", "must be a table of tables");
  for (const auto& [label, row] : *prototype->as_table()) {
    check_label(strict, row, "numbers", std::string(label.str()), e);
    if (row.as_table() == nullptr)
      strict.fail(row, "numbers", fmt::format("'{}' must be a table: problem = \"iterations\"", label.str()));
  }
}

/// The snapshot and the variants of the figure of residual histories: [histories].
void check_histories(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("histories");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "histories", "must be a table");
  StrictTable strict(*values, table.file(), "histories.");
  std::string problem;
  std::vector<std::string> labels;
  strict.read("problem", problem);
  if (strict.read_list("variants", labels)) {
    for (const std::string& label : labels)
      check_label(strict, *values->get("variants"), "variants", label, e);
  }
  strict.finish();
}

/// The figure of growth with a setting of the recordings: [growth].
void check_growth(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("growth");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "growth", "must be a table");
  StrictTable strict(*values, table.file(), "growth.");
  std::string key, label;
  if (!strict.read("key", key)) strict.missing("key");
  strict.read("label", label);
  std::vector<std::string> variants;
  if (strict.read_list("variants", variants)) {
    for (const std::string& one : variants) check_label(strict, *values->get("variants"), "variants", one, e);
  }
  strict.finish();
  const bool known = std::any_of(e.recordings.begin(), e.recordings.end(),
                                 [&](const SceneVariant& one) { return one.set.contains(key); });
  if (!known) strict.fail(*values->get("key"), "key", fmt::format("no [[recordings]] set '{}'", key));
}

/// The figure of ratios of two rows of one snapshot: [ratios].
void check_ratios(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("ratios");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "ratios", "must be a table");
  StrictTable strict(*values, table.file(), "ratios.");
  std::string text;
  if (!strict.read("column", text)) strict.missing("column");
  strict.read("against", text);
  strict.read("label", text);
  for (const char* key : {"numerator", "denominator", "where"}) {
    const toml::node* rows = strict.find(key);
    if (rows == nullptr && std::string_view(key) != "where") strict.missing(key);
    if (rows != nullptr && rows->as_table() == nullptr)
      strict.fail(*rows, key, "must be a table of columns: { region_mode = \"none\" }");
  }
  std::vector<std::string> names;
  strict.read_list("match", names);
  if (strict.read_list("variants", names)) {
    for (const std::string& one : names) check_label(strict, *values->get("variants"), "variants", one, e);
  }
  strict.finish();
}

/// The figure of what slides on a slope: [incline].
void check_incline(StrictTable& table) {
  const toml::node* node = table.find("incline");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "incline", "must be a table");
  StrictTable strict(*values, table.file(), "incline.");
  std::string text;
  for (const char* key : {"angle", "friction", "fact"}) {
    if (!strict.read(key, text)) strict.missing(key);
  }
  double number = 0.0;
  for (const char* key : {"default", "limit"}) {
    if (!strict.read(key, number)) strict.missing(key);
  }
  strict.finish();
}

/// The contact sheets of recordings: [sheet].
void check_sheet(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("sheet");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "sheet", "must be a table");
  StrictTable strict(*values, table.file(), "sheet.");
  std::vector<std::string> names;
  if (!strict.read_list("recordings", names)) strict.missing("recordings");
  for (const std::string& one : names) {
    const bool known = std::find(e.scenes.begin(), e.scenes.end(), one) != e.scenes.end() ||
                       std::any_of(e.recordings.begin(), e.recordings.end(),
                                   [&](const SceneVariant& variant) { return variant.name == one; });
    if (!known)
      strict.fail(*values->get("recordings"), "recordings",
                  fmt::format("no scene or [[recordings]] '{}' in this experiment", one));
  }
  int frames = 6;
  if (strict.read("frames", frames)) require_positive(strict, "frames", frames);
  std::vector<double> view;
  if (strict.read_list("view", view) && view.size() > 3)
    strict.fail(*values->get("view"), "view",
                "must be [azimuth, elevation, zoom], the last ones may be absent");
  strict.finish();
}

/// The figure of times over contacts: [over_contacts], panels with lines.
void check_over_contacts(StrictTable& table) {
  const toml::node* node = table.find("over_contacts");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "over_contacts", "must be a table");
  StrictTable strict(*values, table.file(), "over_contacts.");
  std::string text;
  strict.read("label", text);
  const auto each = [&](StrictTable& owner, const char* key, const auto& check) {
    const toml::node* list = owner.find(key);
    if (list == nullptr) owner.missing(key);
    const toml::array* array = list->as_array();
    if (array == nullptr || array->empty()) owner.fail(*list, key, "must be a list of tables");
    for (const toml::node& entry : *array) {
      if (entry.as_table() == nullptr) owner.fail(entry, key, "must be a list of tables");
      StrictTable one(*entry.as_table(), table.file(), fmt::format("over_contacts.{}.", key));
      if (const toml::node* rows = one.find("where"); rows != nullptr && rows->as_table() == nullptr)
        one.fail(*rows, "where", "must be a table of columns: { label = \"CA\" }");
      check(one);
      one.finish();
    }
  };
  each(strict, "panels", [&](StrictTable& panel) {
    panel.read("title", text);
    each(panel, "lines", [&](StrictTable& line) {
      for (const char* key : {"words", "column"}) {
        if (!line.read(key, text)) line.missing(key);
      }
    });
  });
  strict.finish();
}

/// The figure of work and failures over the values of an option: [ladder].
void check_ladder(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("ladder");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "ladder", "must be a table");
  StrictTable strict(*values, table.file(), "ladder.");
  std::string text;
  std::vector<std::string> names;
  for (const char* key : {"solver", "option"}) {
    if (!strict.read(key, text)) strict.missing(key);
  }
  if (!strict.read_list("beside", names)) strict.missing("beside");
  for (const std::string& one : names) check_label(strict, *values->get("beside"), "beside", one, e);
  strict.read_list("columns", names);
  strict.read("label", text);
  strict.read("protocol", text);
  strict.finish();
}

/// Tables of methods beside a paper's numbers: [methods] with [[methods.tables]] and [methods.paper].
void check_methods(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("methods");
  if (node == nullptr) return;
  const toml::table* values = node->as_table();
  if (values == nullptr) table.fail(*node, "methods", "must be a table");
  StrictTable strict(*values, table.file(), "methods.");
  std::string text;
  if (!strict.read("reference", text)) strict.missing("reference");
  strict.read("title", text);
  std::vector<std::string> names;
  for (const char* key : {"methods", "scenes"}) {
    if (!strict.read_list(key, names)) strict.missing(key);
  }
  const toml::node* paper = strict.find("paper");
  if (paper != nullptr && paper->as_table() == nullptr) strict.fail(*paper, "paper", "must be a table");
  const toml::node* tables = strict.find("tables");
  const toml::array* list = tables == nullptr ? nullptr : tables->as_array();
  if (list == nullptr || !list->is_homogeneous(toml::node_type::table))
    strict.fail(*node, "tables", "must be a list of tables: [[methods.tables]]");
  for (const toml::node& one : *list) {
    StrictTable own(*one.as_table(), table.file(), "methods.tables.");
    std::string rows;
    if (own.read("rows", rows) && rows == "steps") e.steps = true;
    for (const char* key : {"title", "note", "suffix", "count"}) own.read(key, text);
    for (const char* key : {"where", "methods"}) own.find(key);
    double target = 0.0;
    if (own.read("target", target)) require_positive(own, "target", target);
    own.finish();
  }
  strict.finish();
}

/// One figure of steps.
void check_step_figure(const toml::table& values, const StrictTable& table, std::string_view figure) {
  StrictTable strict(values, table.file(), fmt::format("{}.", figure));
  std::string text;
  if (!strict.read("column", text) && figure != "shares") strict.missing("column");
  for (const char* key : {"label", "abscissa", "abscissa_label", "name"}) strict.read(key, text);
  std::vector<std::string> names;
  for (const char* key : {"recordings", "words"}) strict.read_list(key, names);
  int number = 0;
  for (const char* key : {"window", "most"}) {
    if (strict.read(key, number)) require_positive(strict, key, number);
  }
  for (const char* key : {"at_least", "at_most", "fit", "log", "pool"}) strict.find(key);
  strict.finish();
}

/// The figures of steps, one table or a list of them: [histogram], [over_time], [against], [shares].
void check_step_figures(StrictTable& table, Experiment& e) {
  for (const char* figure : {"histogram", "over_time", "against", "shares"}) {
    const toml::node* node = table.find(figure);
    if (node == nullptr) continue;
    e.steps = true;
    if (const toml::table* values = node->as_table()) {
      check_step_figure(*values, table, figure);
      continue;
    }
    const toml::array* list = node->as_array();
    if (list == nullptr || !list->is_homogeneous(toml::node_type::table))
      table.fail(*node, figure, "must be a table or a list of tables");
    for (const toml::node& one : *list) check_step_figure(*one.as_table(), table, figure);
  }
}

/// Figures of single runs: [[scatter]].
void check_scatter(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("scatter");
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_homogeneous(toml::node_type::table))
    table.fail(*node, "scatter", "must be a list of tables: [[scatter]]");
  for (const toml::node& one : *list) {
    StrictTable strict(*one.as_table(), table.file(), "scatter.");
    std::string text;
    if (!strict.read("name", text)) strict.missing("name");
    for (const char* key : {"panels", "abscissa", "abscissa_label", "label"}) strict.read(key, text);
    for (const char* key : {"where", "fit", "log", "limits"}) strict.find(key);
    const toml::node* series = strict.find("series");
    if (series == nullptr) strict.missing("series");
    const toml::array* entries = series->as_array();
    if (entries == nullptr || !entries->is_homogeneous(toml::node_type::table))
      strict.fail(*series, "series", "must be a list of tables { label, column, words }");
    for (const toml::node& entry : *entries) {
      StrictTable member(*entry.as_table(), table.file(), "scatter.series.");
      if (!member.read("column", text)) member.missing("column");
      if (!member.read("label", text)) member.missing("label");
      check_label(member, *entry.as_table()->get("label"), "label", text, e);
      member.read("words", text);
      member.find("where");
      member.finish();
    }
    strict.finish();
  }
}

/// The page of rules that fail as printed: [[rules]].
void check_rules(StrictTable& table, const Experiment& e) {
  const toml::node* node = table.find("rules");
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) table.fail(*node, "rules", "must be a list of tables: [[rules]]");
  std::set<std::string> ids;
  for (const toml::node& entry : *array) {
    const toml::table* values = entry.as_table();
    if (values == nullptr) table.fail(entry, "rules", "must be a list of tables: [[rules]]");
    StrictTable strict(*values, table.file(), "rules.");
    std::string id, text;
    for (const char* key : {"id", "source", "printed", "wrong", "change"}) {
      if (!strict.read(key, text)) strict.missing(key);
      if (std::string_view(key) == "id") id = text;
    }
    if (!ids.insert(id).second) strict.fail(*values->get("id"), "id", fmt::format("'{}' is used twice", id));
    std::vector<std::string> labels;
    for (const char* key : {"as_printed", "corrected"}) {
      if (!strict.read_list(key, labels)) continue;
      for (const std::string& label : labels) check_label(strict, *values->get(key), key, label, e);
    }
    strict.read_list("problems", labels);
    strict.read("judge", text);
    strict.read("note", text);
    strict.finish();
  }
}

void thin_problems(Experiment& e) {
  std::vector<ConfigProblem> kept;
  for (const std::size_t i : spread(e.problems.size(), static_cast<std::size_t>(e.max_problems)))
    kept.push_back(std::move(e.problems[i]));
  e.problems = std::move(kept);
}

}  // namespace

Experiment read_experiment(const std::filesystem::path& path, std::string_view size) {
  Experiment e;
  e.id = path.stem().string();
  e.text = read_file(path);
  const toml::table root = parse_toml(path, e.text);
  StrictTable table(root, path.string(), "");
  if (!table.read("artefact", e.artefact)) table.missing("artefact");
  if (!table.read("claim", e.claim)) table.missing("claim");
  table.read("source", e.source);
  table.read("matrices", e.matrices);
  read_matrix(table, path, size, e);
  read_protocols(table, e);
  read_amounts(table, e);
  read_solvers(table, e);
  read_sizes(table, size, e);
  thin_problems(e);
  check_expectations(table, e);
  std::vector<std::string> figures;
  table.read_list("figures", figures);  // the report knows their names
  check_table(table, e);
  check_histories(table, e);
  check_growth(table, e);
  check_ratios(table, e);
  check_ladder(table, e);
  check_incline(table);
  check_methods(table, e);
  check_step_figures(table, e);
  check_scatter(table, e);
  check_sheet(table, e);
  check_over_contacts(table);
  check_rules(table, e);
  table.finish();
  return e;
}

ExperimentSummary read_experiment_summary(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const toml::table root = parse_toml(path, text);
  return {path.stem().string(), root["artefact"].value_or(std::string{}),
          root["claim"].value_or(std::string{})};
}

std::string read_toml_summary(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const toml::table root = parse_toml(path, text);
  for (const char* key : {"summary", "description", "title"}) {
    if (const auto value = root[key].value_exact<std::string>()) return *value;
  }
  const std::string first = text.substr(0, text.find('\n'));
  return first.rfind('#', 0) == 0 ? std::string(trim(first.substr(1))) : std::string{};
}

std::vector<std::size_t> spread(std::size_t n, std::size_t wanted) {
  std::vector<std::size_t> chosen;
  if (n <= wanted) {
    for (std::size_t i = 0; i < n; ++i) chosen.push_back(i);
  } else if (wanted == 1) {
    chosen.push_back(n - 1);
  } else {
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(i * (n - 1) / (wanted - 1));
  }
  return chosen;
}

std::vector<std::size_t> select_steps(const std::vector<int>& contacts, const Experiment& experiment) {
  std::vector<std::size_t> candidates;
  const auto stride = static_cast<std::size_t>(experiment.stride);
  for (std::size_t i = 0; i < contacts.size(); i += stride) {
    if (contacts[i] >= experiment.min_contacts) candidates.push_back(i);
  }
  std::vector<std::size_t> chosen;
  for (const std::size_t i : spread(candidates.size(), static_cast<std::size_t>(experiment.max_steps)))
    chosen.push_back(candidates[i]);
  return chosen;
}

}  // namespace signorini
