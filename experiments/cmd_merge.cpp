// signorini merge: the rows that the shards of a campaign made, as results.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "campaign_session.h"
#include "commands.h"
#include "json_output.h"
#include "python_script.h"
#include "solvers/plugin/plugin_library.h"
#include "terminal.h"

namespace signorini {
namespace {

struct MergeArguments {
  std::string folder;
  std::vector<std::string> plugins;
  bool partial = false, by_machine = false;
};

int merge(const Program& program, const MergeArguments& a) {
  for (const std::string& file : a.plugins) load_solver_plugin(file);
  const MergeOutcome out =
      merge_campaign(program, a.folder, {a.by_machine ? Machines::by_snapshot : Machines::one, a.partial});
  if (program.json) {
    Json folders = Json::array();
    for (const auto& folder : out.folders) folders.push_back(folder.string());
    print_json({{"folders", folders},
                {"rows", out.rows},
                {"failed", out.failed},
                {"missing_groups", out.missing},
                {"unlike_machines", out.unlike_machines}});
  }
  say(fmt::format("{}: {} rows of {} experiments{}", a.folder, out.rows, out.folders.size(),
                  out.missing > 0 ? fmt::format("; {} groups of runs are missing", out.missing) : ""));
  if (out.unlike_machines)
    say("times come from unlike machines, one per snapshot: machines.csv beside runs.csv says which");
  say(fmt::format("next: {} --out {}", script_command(program, "report"), a.folder));
  return out.failed > 0 ? kRunFailed : kSuccess;
}

}  // namespace

void add_merge(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "merge",
      "Join the parts of a campaign into results\n"
      "\n"
      "Makes DIR/<id>/ with runs.csv, trace.h5, env.json, run.toml and the tables of recordings, as "
      "'signorini "
      "run --out DIR' on one machine would have made them: the same rows in the same order, with the same "
      "bytes but for times. Parts that another program, experiment or recording made are refused, and so are "
      "times from unlike machines.");
  command->footer(
      "Examples:\n"
      "  signorini merge campaign\n"
      "  signorini merge campaign --partial          what is there so far\n"
      "\n"
      "Merging again replaces what was merged before. Machines are alike when processor, instruction sets, "
      "caches, cores and usable threads are; env.json of every part has them.\n"
      "With --json: an object with folders, rows, failed, missing_groups, unlike_machines.\n"
      "Exit codes: 0 success; 1 a run failed; 2 groups are missing, or parts do not fit together; 3 a "
      "file cannot be read or written; 5 out of memory; 130 interrupted.");
  auto a = std::make_shared<MergeArguments>();
  command->add_option("DIR", a->folder, "Folder of the campaign")->required();
  command->add_flag("--partial", a->partial, "Merge although groups of runs are missing");
  command->add_flag("--by-machine", a->by_machine,
                    "Allow unlike machines where all rows of a snapshot come from one kind: solvers can be "
                    "compared on a snapshot, not snapshots with each other");
  add_plugin_option(*command, a->plugins);
  command->callback([&program, a] { program.command = [&program, a] { return merge(program, *a); }; });
}

}  // namespace signorini
