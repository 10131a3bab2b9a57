// signorini list: names, summaries, sources and options of everything that can be asked for.

#include <algorithm>
#include <functional>
#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "harness/catalogue.h"
#include "list_screen.h"
#include "solvers/plugin/plugin_library.h"
#include "terminal.h"

namespace signorini {
namespace {

struct ListArguments {
  std::string what;
  bool names = false;
  std::vector<std::string> plugins;
};

/// One of the lists.
struct Kind {
  const char* name;
  std::function<Json()> json;
  std::function<void()> print;
};

std::vector<Kind> all_kinds(const Program& program) {
  return {{"solvers", [] { return Json::parse(solvers_json()); }, print_solvers},
          {"scenes", [&] { return scenes_json(program); }, [&] { print_scenes(program); }},
          {"shapes", shapes_json, print_shapes},
          {"experiments", [&] { return experiments_json(program); }, [&] { print_experiments(program); }},
          {"measures", [] { return Json::parse(measures_json()); }, print_measures},
          {"columns", columns_json, print_columns}};
}

void show(const Program& program, const Kind& kind) {
  if (program.json)
    print_json(kind.json());
  else
    kind.print();
}

void show_names(const Program& program, const Kind& kind) {
  Json names = Json::array();
  for (const Json& entry : kind.json()) {  // a body and an obstacle may share a shape's name
    if (std::ranges::find(names, entry["name"]) == names.end()) names.push_back(entry["name"]);
  }
  if (program.json) return print_json(names);
  for (const Json& name : names) print(name.get<std::string>() + "\n");
}

int list(const Program& program, const ListArguments& a) {
  const std::string& what = a.what;
  for (const std::string& file : a.plugins) load_solver_plugin(file);
  if (what.empty() && a.names) throw_usage("list: --names needs WHAT, e.g. signorini list solvers --names");
  Json everything = Json::object();
  std::vector<std::string> known;
  for (const Kind& kind : all_kinds(program)) {
    known.emplace_back(kind.name);
    if (what.empty() && program.json) everything[kind.name] = kind.json();
    if (what != kind.name) continue;
    a.names ? show_names(program, kind) : show(program, kind);
    return kSuccess;
  }
  if (!what.empty()) throw_usage("list: unknown kind '{}'{}", what, suggestion(what, known));
  if (program.json)
    print_json(everything);
  else
    print_everything(program);
  return kSuccess;
}

}  // namespace

std::vector<std::string> list_kinds() {
  std::vector<std::string> names;
  const Program none;
  for (const Kind& kind : all_kinds(none)) names.emplace_back(kind.name);
  return names;
}

void add_list(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "list",
      "List solvers, scenes, shapes, experiments, error measures or columns\n"
      "\n"
      "'list solvers' also shows every option of every solver with its default and meaning. Scenes can be "
      "recorded, experiments can be run; both lie in the configs folder. Shapes are those that bodies and "
      "obstacles of a scene may have. Columns are those of runs.csv, "
      "measures the ones of them that judge an answer.");
  command->footer(
      "Examples:\n"
      "  signorini list                      everything, one line each\n"
      "  signorini list solvers              the solvers and all their options\n"
      "  signorini list scenes --json        the scenes as a JSON list\n"
      "  signorini list solvers --names      one name per line, for scripts\n"
      "  signorini list solvers --plugin libmine.so\n"
      "                                      those of a shared library too\n"
      "\n"
      "With --json: a list of objects with name and summary (or artefact, or meaning); without WHAT an "
      "object with the six lists.\n"
      "Exit codes: 0 success; 2 wrong command line; 3 a file of the configs folder or a plugin cannot be "
      "read; 5 out of memory.");
  auto a = std::make_shared<ListArguments>();
  command->add_option("WHAT", a->what,
                      "solvers, scenes, shapes, experiments, measures or columns (default: all six)");
  command->add_flag("--names", a->names, "Print names only, one per line (with --json: a list of them)");
  add_plugin_option(*command, a->plugins);
  command->callback([&program, a] { program.command = [&program, a] { return list(program, *a); }; });
}

}  // namespace signorini
