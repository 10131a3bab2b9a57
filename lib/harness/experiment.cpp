#include "harness/experiment.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "base/check.h"
#include "base/text.h"
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

/// A table that knows its place in the file and which of its keys were asked for.
class StrictTable {
 public:
  StrictTable(const toml::table& table, std::string file, std::string prefix)
      : table_(table), file_(std::move(file)), prefix_(std::move(prefix)) {}

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
  /// Every key that nobody asked for is an error.
  void finish() const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      throw_usage("{}:{}: unknown key '{}{}'{}", file_, node.source().begin.line, prefix_, name,
                  suggestion(name, known_));
    }
  }
  [[noreturn]] void fail(const toml::node& node, std::string_view key, std::string_view reason) const {
    throw_usage("{}:{}: key '{}{}': {}", file_, node.source().begin.line, prefix_, key, reason);
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
    if constexpr (std::is_same_v<T, double>) {
      if (node.is_number()) return *node.value<double>();
      fail(node, key, "must be a number");
    } else if constexpr (std::is_same_v<T, int>) {
      const auto value = node.value_exact<std::int64_t>();
      if (!value || *value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max()) {
        fail(node, key, "must be a whole number of 32 bits");
      }
      return static_cast<int>(*value);
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

std::string option_value(const toml::node& node, const StrictTable& where, std::string_view key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto integer = node.value_exact<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto number = node.value_exact<double>()) return exact_text(*number);
  where.fail(node, key, "must be a text, a number, true or false");
}

void require_positive(const StrictTable& table, const char* key, double value) {
  if (value > 0.0) return;
  table.fail(*table.table().get(key), key, fmt::format("{} is not positive", value));
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
  if (node == nullptr) table.missing("solvers");
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
  std::vector<std::string> names;
  if (!table.read_list("protocols", names)) return;
  e.converge = e.time = false;
  for (const std::string& name : names) {
    if (name == "converge") {
      e.converge = true;
    } else if (name == "time") {
      e.time = true;
    } else {
      table.fail(*table.table().get("protocols"), "protocols",
                 fmt::format("unknown protocol '{}' (known: converge, time)", name));
    }
  }
}

/// The report evaluates expectations; here only what makes an entry unreadable is refused.
void check_expectations(StrictTable& table) {
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
         {"source", "column", "where", "statistic", "lower", "upper", "min", "max", "numerator",
          "denominator", "match", "against", "comparable", "reason", "unit", "size", "sizes"}) {
      strict.find(key);
    }
    strict.finish();
    if (!ids.insert(id).second) strict.fail(*values->get("id"), "id", fmt::format("'{}' is used twice", id));
    const std::set<std::string> kinds{"fraction", "quantity", "ratio", "slope"};
    if (!kinds.contains(kind)) {
      strict.fail(*values->get("kind"), "kind",
                  fmt::format("unknown kind '{}' (known: fraction, quantity, ratio, slope)", kind));
    }
  }
}

void read_matrix(StrictTable& table, const std::filesystem::path& path, Experiment& e) {
  table.read_list("scenes", e.scenes);
  std::vector<std::string> files, regions;
  if (table.read_list("files", files)) {
    for (const std::string& file : files) {
      const std::filesystem::path given(file);
      e.files.push_back(given.is_absolute() ? given : path.parent_path() / given);
    }
  }
  if (e.scenes.empty() && e.files.empty()) {
    throw_usage("{}:1: needs 'scenes' or 'files': there is nothing to solve", path.string());
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
  read_matrix(table, path, e);
  read_protocols(table, e);
  read_amounts(table, e);
  read_solvers(table, e);
  read_sizes(table, size, e);
  check_expectations(table);
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

std::vector<std::size_t> select_steps(const std::vector<int>& contacts, const Experiment& experiment) {
  std::vector<std::size_t> candidates;
  const auto stride = static_cast<std::size_t>(experiment.stride);
  for (std::size_t i = 0; i < contacts.size(); i += stride) {
    if (contacts[i] >= experiment.min_contacts) candidates.push_back(i);
  }
  const auto wanted = static_cast<std::size_t>(experiment.max_steps);
  if (candidates.size() <= wanted) return candidates;
  if (wanted == 1) return {candidates.back()};
  // i-th of `wanted` points on [0, n − 1], both ends included
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < wanted; ++i)
    chosen.push_back(candidates[i * (candidates.size() - 1) / (wanted - 1)]);
  return chosen;
}

}  // namespace signorini
