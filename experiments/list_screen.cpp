#include "list_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "commands.h"
#include "configs.h"
#include "harness/catalogue.h"
#include "harness/experiment.h"
#include "harness/run_record.h"
#include "scene/shapes/registry.h"
#include "solvers/registry.h"
#include "terminal.h"

namespace signorini {
namespace {

/// A name with its title, and below it the meaning in a narrow column.
void print_entry(std::string_view name, std::string_view title, std::string_view meaning) {
  print(fmt::format("{}  {}\n", painted(name, Colour::bold), title));
  for (const std::string& line : wrapped_lines(meaning, text_columns() - 4))
    print(fmt::format("    {}\n", line));
}

/// An option: its default and what it may be, and below that what it means.
void print_option(const OptionDescription& option) {
  std::string kind = option.type;
  for (std::size_t at = kind.find('|'); at != std::string::npos; at = kind.find('|', at))
    kind.replace(at, 1, ", ");
  const std::string line = fmt::format("{} = {}  ({})", option.key, option.value, kind);
  for (const std::string& part : wrapped_lines(line, text_columns() - 4))
    print(fmt::format("    {}\n", part));
  for (const std::string& part : wrapped_lines(option.help, text_columns() - 8))
    print(fmt::format("        {}\n", painted(part, Colour::dim)));
}

void print_experiment_names(const Program& program) {
  TextTable table({{"experiment"}, {"reproduces"}});
  for (const auto& file : list_configs(program, ConfigKind::experiments)) {
    const ExperimentSummary e = read_experiment_summary(file);
    table.add({e.id, e.artefact});
  }
  print(table.text());
}

}  // namespace

void print_solvers() {
  for (const SolverEntry& entry : solver_registry()) {
    const std::string line = fmt::format("{}  {}", entry.name, entry.summary);
    bool first = true;
    for (const std::string& part : wrapped_lines(line, text_columns() - 4)) {
      print(first ? painted(entry.name, Colour::bold) + part.substr(entry.name.size()) + "\n"
                  : fmt::format("    {}\n", part));
      first = false;
    }
    for (const std::string& part : wrapped_lines(entry.source, text_columns() - 4))
      print(fmt::format("    {}\n", painted(part, Colour::dim)));
    for (const OptionDescription& o : entry.describe()) print_option(o);
    print("\n");
  }
  say("Set an option with --set SOLVER.option=value, e.g. --set pgs.law=pyramid.");
}

Json scenes_json(const Program& program) {
  Json all = Json::array();
  for (const auto& file : list_configs(program, ConfigKind::scenes))
    all.push_back({{"name", file.stem().string()}, {"summary", read_toml_summary(file)}});
  return all;
}

void print_scenes(const Program& program) {
  TextTable table({{"scene"}, {"summary"}});
  for (const auto& file : list_configs(program, ConfigKind::scenes))
    table.add({file.stem().string(), read_toml_summary(file)});
  print(table.text());
  say("Record a scene: signorini record NAME -o NAME.h5");
}

Json shapes_json() {
  Json all = Json::array();
  for (const ShapeEntry& shape : shape_registry())
    all.push_back({{"name", shape.name}, {"body", enum_name(shape.kind)}, {"summary", shape.summary}});
  return all;
}

void print_shapes() {
  TextTable table({{"body"}, {"shape"}, {"summary"}});
  for (const ShapeEntry& shape : shape_registry())
    table.add({std::string(enum_name(shape.kind)), std::string(shape.name), std::string(shape.summary)});
  print(table.text());
  say("Choose one with shape = \"NAME\" in a table of bodies or obstacles (docs/scenes.md).");
}

Json experiments_json(const Program& program) {
  Json all = Json::array();
  for (const auto& file : list_configs(program, ConfigKind::experiments)) {
    const ExperimentSummary e = read_experiment_summary(file);
    all.push_back({{"name", e.id}, {"artefact", e.artefact}});
  }
  return all;
}

void print_experiments(const Program& program) {
  print_experiment_names(program);
  say("Run an experiment and draw its figures: signorini reproduce NAME");
}

Json columns_json() { return Json::parse(run_schema_json())["runs.csv"]; }

void print_columns() {
  TextTable table({{"column"}, {"type"}, {"unit"}, {"meaning"}});
  for (const Column& c : run_columns())
    table.add({std::string(c.name), std::string(c.type), std::string(c.unit), std::string(c.meaning)});
  print(table.text());
  say("One row of runs.csv per run; runs.schema.json beside it says the same.");
}

void print_measures() {
  for (const MeasureEntry& m : measures()) print_entry(m.name, fmt::format("(unit: {})", m.unit), m.help);
  say("All measures are computed from the answer, the same way for all solvers.");
}

/// Names and summaries of everything, without options.
void print_everything(const Program& program) {
  TextTable solvers({{"solver"}, {"summary"}});
  for (const SolverEntry& entry : solver_registry())
    solvers.add({std::string(entry.name), std::string(entry.summary)});
  print(solvers.text() + "\n");
  print_scenes(program);
  print("\n");
  TextTable shapes({{"body"}, {"shapes"}});
  for (const auto& [kind, name] : EnumNames<BodyKind>::value)
    shapes.add({std::string(name), fmt::format("{}", fmt::join(shape_names({kind}), ", "))});
  print(shapes.text() + "\n");
  print_experiment_names(program);
  print("\n");
  std::vector<std::string> names;
  for (const MeasureEntry& m : measures()) names.emplace_back(m.name);
  print(painted("measures", Colour::bold) + "\n");
  for (const std::string& line : wrapped_lines(fmt::format("{}", fmt::join(names, ", ")), text_columns()))
    print(line + "\n");
  say("More about each: signorini list solvers, shapes, experiments, measures, columns");
}

}  // namespace signorini
