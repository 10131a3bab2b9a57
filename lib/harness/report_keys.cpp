#include "harness/report_keys.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace signorini {
namespace {

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
  const toml::table* values = table.find_table("table");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("histories");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("growth");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("ratios");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("incline");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("sheet");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("over_contacts");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("ladder");
  if (values == nullptr) return;
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
  const toml::table* values = table.find_table("methods");
  if (values == nullptr) return;
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
    strict.fail(*values, "tables", "must be a list of tables: [[methods.tables]]");
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

}  // namespace

void check_report_keys(StrictTable& table, Experiment& e) {
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
}

}  // namespace signorini
