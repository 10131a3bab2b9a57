// signorini list: names, summaries, sources and options of everything that can be asked for.

#include <functional>
#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "harness/catalogue.h"
#include "list_screen.h"
#include "solvers/plugin/plugin_library.h"

namespace signorini {
namespace {

struct ListArguments {
  std::string what;
  std::vector<std::string> plugins;
};

int list(const Program& program, const ListArguments& a) {
  const std::string& what = a.what;
  for (const std::string& file : a.plugins) load_solver_plugin(file);
  struct Kind {
    const char* name;
    std::function<Json()> json;
    std::function<void()> print;
  };
  const Kind kinds[] = {
      {"solvers", [] { return Json::parse(solvers_json()); }, print_solvers},
      {"scenes", [&] { return scenes_json(program); }, [&] { print_scenes(program); }},
      {"shapes", shapes_json, print_shapes},
      {"experiments", [&] { return experiments_json(program); }, [&] { print_experiments(program); }},
      {"measures", [] { return Json::parse(measures_json()); }, print_measures},
      {"columns", columns_json, print_columns}};
  Json everything = Json::object();
  std::vector<std::string> known;
  for (const Kind& kind : kinds) {
    known.emplace_back(kind.name);
    if (what.empty() && program.json) everything[kind.name] = kind.json();
    if (what != kind.name) continue;
    if (program.json)
      print_json(kind.json());
    else
      kind.print();
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
      "  signorini list solvers --plugin libmine.so\n"
      "                                      those of a shared library too\n"
      "\n"
      "With --json: a list of objects with name and summary (or artefact, or meaning); without WHAT an "
      "object with the six lists.\n"
      "Exit codes: 0 success; 2 wrong command line; 3 a file of the configs folder or a plugin cannot be "
      "read.");
  auto a = std::make_shared<ListArguments>();
  command->add_option("WHAT", a->what,
                      "solvers, scenes, shapes, experiments, measures or columns (default: all six)");
  add_plugin_option(*command, a->plugins);
  command->callback([&program, a] { program.command = [&program, a] { return list(program, *a); }; });
}

}  // namespace signorini
