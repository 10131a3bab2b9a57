#include "harness/experiment.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "base/input_file.h"
#include "base/text.h"
#include "harness/strict_table.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  return read_input_file(path, "experiment file", kMostConfigBytes);
}

toml::table parse_toml(const fs::path& path, const std::string& text) {
  try {
    return toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    throw_input("{}:{}: {}", path.string(), error.source().begin.line, error.description());
  }
}

/// The keys that a [sizes.<size>] table may change.
void read_amounts(StrictTable& table, Experiment& e) {
  if (table.read("stride", e.stride)) require_positive(table, "stride", e.stride);
  if (table.read("max_steps", e.max_steps)) require_positive(table, "max_steps", e.max_steps);
  std::string over;
  if (table.read("spread_over", over))
    e.spread_over =
        parse_enum<SpreadOver>(over, table.place(*table.table().get("spread_over"), "spread_over"));
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
  for (const std::string& name : kSizeNames) {
    const toml::node* one = strict.find(name.c_str());
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

/// Makes the solver. A mistake is told at the line of the name or of the option that is wrong by itself, else
/// (options that exclude each other) at the line of the name.
void check_solver(const SolverVariant& variant, const StrictTable& table, const toml::table& values) {
  const auto mistake = [&](const OptionMap& options) -> std::string {
    try {
      make_solver(variant.name, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  };
  const std::string whole = mistake(variant.options);
  if (whole.empty()) return;
  for (const auto& [key, value] : variant.options) {
    if (mistake({{key, value}}) == whole && mistake({}) != whole) table.fail(*values.get(key), key, whole);
  }
  table.fail(*values.get("name"), "name", whole);
}

/// Rows are known by what they were made with: twice the same is one row, and a campaign would wait for the other.
template <class T>
void refuse_repeated(const std::vector<T>& values, const std::vector<std::string>& places) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
        values.begin() + static_cast<std::ptrdiff_t>(i))
      throw_usage("{}: {} is there twice; leave one out", places[i], values[i]);
  }
}

void read_threads(StrictTable& table, std::vector<int>& threads) {
  if (!table.read_list("threads", threads)) return;
  refuse_repeated(threads, table.places("threads"));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (threads[i] < 1 || threads[i] > 1024)
      throw_usage("{}: {} must be between 1 and 1024", table.places("threads")[i], threads[i]);
  }
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
  std::map<std::pair<std::string, std::string>, std::string> label_of;  // of solver and all its options
  for (const toml::node& entry : *array) {
    const toml::table* values = entry.as_table();
    if (values == nullptr) table.fail(entry, "solvers", "must be a list of tables: [[solvers]]");
    StrictTable strict(*values, table.file(), "solvers.");
    SolverVariant variant;
    if (!strict.read("name", variant.name)) strict.missing("name");
    std::string text = variant.name;
    for (const auto& [key, value] : *values) {
      const std::string name(key.str());
      if (name == "name" || name == "label" || name == "self_stopped" || name == "threads") continue;
      variant.options[name] = option_value(value, strict, name);
      text += fmt::format(" {}={}", name, variant.options[name]);
    }
    variant.label = text;
    strict.read("label", variant.label);
    strict.read("self_stopped", variant.self_stopped);
    read_threads(strict, variant.threads);
    if (variant.self_stopped && !e.time && !e.self_stopped)
      table.fail(entry, "solvers.self_stopped",
                 "needs the protocol 'time' or 'self-stopped' among 'protocols'");
    check_solver(variant, strict, *values);
    if (!labels.insert(variant.label).second) {
      table.fail(entry, "solvers.label", fmt::format("'{}' is used twice; labels are unique", variant.label));
    }
    const auto [alike, fresh] = label_of.try_emplace(
        {variant.name, make_solver(variant.name, variant.options)->options()}, variant.label);
    if (!fresh) {  // rows do not tell them apart
      table.fail(
          entry, "solvers.name",
          fmt::format(
              "'{}' is solver and options of '{}'; leave one out, and name all its numbers of threads there",
              variant.label, alike->second));
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
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name == "converge") {
      e.converge = true;
    } else if (name == "time") {
      e.time = true;
    } else if (name == "self-stopped") {
      e.self_stopped = true;
    } else {
      throw_usage("{}: unknown protocol '{}' (known: converge, self-stopped, time)",
                  table.places("protocols")[i], name);
    }
  }
}

void read_accuracy(StrictTable& table, Experiment& e) {
  const toml::table* values = table.find_table("accuracy");
  if (values == nullptr) return;
  StrictTable strict(*values, table.file(), "accuracy.");
  Accuracy& accuracy = e.accuracy.emplace();
  if (!strict.read("over", accuracy.over)) strict.missing("over");
  accuracy.over_place = strict.place(*values->get("over"), "over");
  if (strict.read("rest", accuracy.rest) && !(accuracy.rest > 0.0 && accuracy.rest <= 1.0))
    strict.fail(*values->get("rest"), "rest", "must be above 0 and at most 1");
  if (strict.read("rest_speed_m_s", accuracy.rest_speed))
    require_positive(strict, "rest_speed_m_s", accuracy.rest_speed);
  strict.finish();
}

/// What is kept of the steps of recordings: all statistics, some columns over time, regions.
void read_kept(StrictTable& table, Experiment& e) {
  std::vector<std::string> modes;
  if (table.read_list("series", e.series))
    e.series_place = table.place(*table.table().get("series"), "series");
  if (table.read_list("follow", modes)) {
    for (std::size_t i = 0; i < modes.size(); ++i) {
      if (modes[i] != "points" && modes[i] != "islands")
        throw_usage("{}: unknown '{}' (known: points, islands)", table.places("follow")[i], modes[i]);
      e.follow.push_back(parse_enum<RegionMode>(modes[i], "follow"));
    }
  }
  table.read("steps", e.steps);
  table.read("matrices", e.matrices);
  read_accuracy(table, e);
  if (!e.scenes.empty() || !e.recordings.empty()) return;
  const std::pair<const char*, bool> wanted[] = {{"follow", !e.follow.empty()},
                                                 {"series", !e.series.empty()},
                                                 {"steps", e.steps},
                                                 {"accuracy", e.accuracy.has_value()}};
  for (const auto& [key, is_wanted] : wanted) {
    if (is_wanted)
      table.fail(*table.table().get(key), key, "needs 'scenes' or 'recordings': it is about their steps");
  }
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

bool is_recorded(const Experiment& e, std::string_view name) {
  const auto is_scene = [&](const std::string& scene) { return fs::path(scene).stem() == name; };
  const auto is_recording = [&](const SceneVariant& one) { return one.name == name; };
  return std::any_of(e.scenes.begin(), e.scenes.end(), is_scene) ||
         std::any_of(e.recordings.begin(), e.recordings.end(), is_recording);
}

void read_thinned(StrictTable& table, Experiment& e) {
  const toml::node* node = table.find("thinned");
  if (node == nullptr) return;
  constexpr const char* kForm = "must be a list of tables: [[thinned]]";
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty()) table.fail(*node, "thinned", kForm);
  for (const toml::node& values : *array) {
    if (!values.is_table()) table.fail(values, "thinned", kForm);
    StrictTable strict(*values.as_table(), table.file(), "thinned.");
    ThinnedSnapshots one;
    if (!strict.read("name", one.name)) strict.missing("name");
    if (!strict.read("recording", one.recording)) strict.missing("recording");
    if (!is_recorded(e, one.recording))
      strict.fail(*values.as_table()->get("recording"), "recording",
                  fmt::format("'{}' is no scene and no recording of this experiment", one.recording));
    if (strict.read("cosine", one.cosine) && !(one.cosine > 0.0 && one.cosine < 1.0))
      strict.fail(*values.as_table()->get("cosine"), "cosine", "must be between 0 and 1");
    strict.read("at_random", one.at_random);
    strict.finish();
    e.thinned.push_back(std::move(one));
  }
}

void read_matrix(StrictTable& table, const fs::path& path, std::string_view size, Experiment& e) {
  if (table.read_list("scenes", e.scenes)) e.scene_places = table.places("scenes");
  std::vector<std::string> files, regions;
  if (table.read_list("files", files)) {
    e.file_places = table.places("files");
    for (const std::string& file : files) {
      const fs::path given(file);
      e.files.push_back(given.is_absolute() ? given : path.parent_path() / given);
    }
  }
  table.read_list("optional_files", e.optional_files);
  read_scene_variants(table, size, e.scenes, e.recordings);
  read_config_problems(table, size, e.problems);
  read_cut(table, e);
  read_thinned(table, e);
  read_kept(table, e);
  if (e.scenes.empty() && e.recordings.empty() && e.files.empty() && e.problems.empty()) {
    throw_usage("{}:1: needs 'scenes', 'recordings', 'files' or 'problems': there is nothing to solve",
                path.string());
  }
  if (table.read_list("regions", regions)) {
    e.regions.clear();
    for (std::size_t i = 0; i < regions.size(); ++i)
      e.regions.push_back(parse_enum<RegionMode>(regions[i], table.places("regions")[i]));
    refuse_repeated(regions, table.places("regions"));
  }
  read_threads(table, e.threads);
  if (table.read_list("tolerances", e.tolerances)) {
    for (std::size_t i = 0; i < e.tolerances.size(); ++i) {
      if (!(e.tolerances[i] > 0.0 && std::isfinite(e.tolerances[i])))
        throw_usage("{}: {} must be a finite number above 0", table.places("tolerances")[i], e.tolerances[i]);
    }
  }
}

/// An earlier form held in one file what is run, what is expected of it and what is drawn.
void refuse_earlier_form(const StrictTable& table) {
  static const std::vector<std::string> kKeys{"claim",  "source",    "expect",        "figures",   "methods",
                                              "table",  "histories", "growth",        "ratios",    "ladder",
                                              "sheet",  "incline",   "histogram",     "over_time", "against",
                                              "shares", "scatter",   "over_contacts", "rules"};
  const toml::node* first = nullptr;
  std::string name;
  for (const auto& [key, node] : table.table()) {
    const bool listed = std::ranges::find(kKeys, key.str()) != kKeys.end();
    const bool drawn = (key == "series" || key == "follow") && node.is_table();
    if (!listed && !drawn) continue;
    if (first != nullptr && first->source().begin.line < node.source().begin.line) continue;
    first = &node;
    name = key.str();
  }
  if (first == nullptr) return;
  table.fail(*first, name,
             "says what is judged or drawn, which stands beside run.toml now (claims.toml, figures.toml); "
             "scripts/migrate_experiment FILE FOLDER writes the new form");
}

/// JSON on one line, keys sorted: the same for files that differ in comments, order of keys and `artefact` only.
std::string canonical_text(toml::table root) {
  root.erase("artefact");
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // a lack of memory would only cut the text
  out << toml::json_formatter(root, toml::format_flags::allow_unicode_strings);
  return out.str();
}

void thin_problems(Experiment& e) {
  std::vector<ConfigProblem> kept;
  for (const std::size_t i : spread(e.problems.size(), e.max_problems))
    kept.push_back(std::move(e.problems[i]));
  e.problems = std::move(kept);
}

}  // namespace

std::string experiment_id(const fs::path& path) {
  if (path.filename() != "run.toml") return path.stem().string();
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  const fs::path paper = folder.parent_path();
  if (paper.parent_path().filename() != "experiments") return folder.filename().string();
  return fmt::format("{}_{}", paper.filename().string(), folder.filename().string());
}

Experiment read_experiment(const fs::path& path, std::string_view size) {
  return parse_experiment(read_file(path), path, size);
}

Experiment parse_experiment(std::string text, const fs::path& path, std::string_view size) {
  Experiment e;
  e.id = experiment_id(path);
  e.text = std::move(text);
  const toml::table root = parse_toml(path, e.text);
  StrictTable table(root, path.string(), "");
  refuse_earlier_form(table);
  if (!table.read("artefact", e.artefact)) table.missing("artefact");
  read_matrix(table, path, size, e);
  read_protocols(table, e);
  read_amounts(table, e);
  read_solvers(table, e);
  read_sizes(table, size, e);
  table.finish();
  thin_problems(e);
  e.content = canonical_text(root);
  return e;
}

ExperimentSummary read_experiment_summary(const fs::path& path) {
  const toml::table root = parse_toml(path, read_file(path));
  return {experiment_id(path), root["artefact"].value_or(std::string{})};
}

std::string read_toml_summary(const fs::path& path) {
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

/// `wanted` of the candidates, those whose numbers of contacts are next to evenly spread ones; in their order.
std::vector<std::size_t> spread_over_contacts(std::vector<std::size_t> candidates,
                                              const std::vector<int>& contacts, std::size_t wanted) {
  if (candidates.size() <= wanted) return candidates;
  const auto fewer = [&](std::size_t a, std::size_t b) { return contacts[a] < contacts[b]; };
  std::stable_sort(candidates.begin(), candidates.end(), fewer);
  const double least = contacts[candidates.front()], most = contacts[candidates.back()];
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < wanted; ++i) {
    const double share = wanted == 1 ? 1.0 : static_cast<double>(i) / static_cast<double>(wanted - 1);
    const double target = least + share * (most - least);
    const auto nearest =
        std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
          return std::abs(contacts[a] - target) < std::abs(contacts[b] - target);
        });
    chosen.push_back(*nearest);
    candidates.erase(nearest);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::size_t> select_steps(const std::vector<int>& contacts, const Experiment& experiment) {
  std::vector<std::size_t> candidates;
  const std::size_t stride = experiment.stride;
  for (std::size_t i = 0; i < contacts.size(); i += stride) {
    if (contacts[i] >= experiment.min_contacts) candidates.push_back(i);
  }
  if (experiment.spread_over == SpreadOver::contacts)
    return spread_over_contacts(std::move(candidates), contacts, experiment.max_steps);
  std::vector<std::size_t> chosen;
  for (const std::size_t i : spread(candidates.size(), experiment.max_steps)) chosen.push_back(candidates[i]);
  return chosen;
}

}  // namespace signorini
