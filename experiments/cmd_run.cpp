// signorini run: experiments by their configuration files.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "campaign_session.h"
#include "commands.h"
#include "configs.h"
#include "experiment_json.h"
#include "experiment_session.h"
#include "solve_options.h"
#include "solvers/plugin/plugin_library.h"
#include "terminal.h"

namespace signorini {
namespace {

struct RunArguments {
  std::vector<std::string> experiments, plugins;
  SessionOptions options;
  ShardRequest shard;
  std::string shard_text = "1/1";
};

/// Options that go with a plan, and those that the plan holds.
void check_plan_options(const CLI::App& command, bool planned) {
  if (planned) {
    for (const char* name : {"--size", "--out", "--resume", "--again", "--force", "--solver"}) {
      if (command.count(name) > 0)
        throw_usage("{}: does not go with --plan, the plan says it; leave it out", name);
    }
    return;
  }
  for (const char* name : {"--shard", "--recordings", "--beside"}) {
    if (command.count(name) > 0) throw_usage("{}: goes with --plan DIR only", name);
  }
}

std::string failed_text(std::size_t rows) {
  if (rows == 0) return {};
  return fmt::format(", {} row{} failed", rows, rows == 1 ? "" : "s");
}

/// One shard of a campaign.
int run_planned(const Program& program, const RunArguments& a) {
  if (!a.experiments.empty())
    throw_usage("run --plan {}: the plan names the experiments; leave '{}' out", a.shard.folder,
                a.experiments.front());
  for (const std::string& file : a.plugins) load_solver_plugin(file);
  ShardRequest request = a.shard;
  request.shard = parse_shard(a.shard_text);
  const ShardOutcome out = run_shard(program, request);
  if (program.json)
    print_json({{"shard", request.shard.shard + 1},
                {"shards", request.shard.shards},
                {"made", out.made},
                {"done_before", out.elsewhere},
                {"rows", out.rows},
                {"failed", out.failed},
                {"part", out.part.empty() ? Json() : Json(out.part)},
                {"seconds", out.seconds}});
  const char* what = request.recordings ? "recordings" : "groups of runs";
  say(fmt::format("shard {}: {} {} made{}{} in {}", a.shard_text, out.made, what,
                  out.elsewhere > 0 ? fmt::format(", {} were done before", out.elsewhere) : "",
                  failed_text(out.failed), duration_text(out.seconds)));
  return out.failed > 0 ? kRunFailed : kSuccess;
}

int run(const Program& program, const RunArguments& a) {
  for (const std::string& file : a.plugins) load_solver_plugin(file);
  std::vector<std::filesystem::path> configs;
  for (const std::string& name : a.experiments)
    configs.push_back(find_config(program, ConfigKind::experiments, name));
  std::size_t failed = 0;
  Json experiments = Json::array();
  const auto after = [&](const ExperimentRequest& request, const ExperimentResult& result) {
    failed += result.failed;
    const std::vector<RunSummaryLine> summary = summarise_runs(result.folder / "runs.csv");
    if (program.json)
      experiments.push_back(to_json(request.experiment.id, result, summary));
    else
      print_run_summary(summary);
    say(fmt::format("{}: {} rows ({} kept from before){} in {}", (result.folder / "runs.csv").string(),
                    result.rows, result.resumed, failed_text(result.failed), duration_text(result.seconds)));
  };
  run_session(
      program, make_requests(program, configs, a.options), [](const ExperimentRequest&) {}, after);
  if (program.json) print_json({{"experiments", experiments}});
  return failed > 0 ? kRunFailed : kSuccess;
}

}  // namespace

void add_run(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Run experiments: record missing scenes, solve, write runs.csv\n"
      "\n"
      "An experiment is one figure or table: a TOML file that names scenes, solvers, region modes, numbers "
      "of "
      "threads and tolerances. Results go to OUT/<id>/: runs.csv (one row per run), trace.h5 (convergence "
      "curves), env.json (program and machine), run.toml; recordings go to OUT/recordings. No figures are "
      "drawn; 'signorini reproduce' draws them.");
  command->footer(
      "Examples:\n"
      "  signorini run signorini_all\n"
      "  signorini run my/experiment.toml --size medium --out results/out\n"
      "  signorini run signorini_all --resume       keep finished rows, make only the missing ones\n"
      "  signorini run --plan campaign --shard 3/8  one of eight parts of a campaign\n"
      "\n"
      "Existing results are refused without --resume (make only the missing runs) or --force (make all runs "
      "again; the old results stay until the new ones are complete). An interruption loses at most the runs "
      "of one solver on one snapshot.\n"
      "With --json: {\"experiments\": [...]}, each with id, folder, rows, resumed, failed, seconds "
      "and the summary table.\n"
      "Exit codes: 0 all runs ended (converged or not); 1 a run failed; 2 wrong command line or "
      "experiment; 3 a file cannot be read or written; 5 out of memory; 130 interrupted.");
  auto a = std::make_shared<RunArguments>();
  command->add_option("EXPERIMENT", a->experiments,
                      "Experiment files, or names (see 'signorini list experiments')");
  add_list(*command, "--solver", a->options.solvers,
           "Only these of each experiment's solvers: names, patterns such as cr-*, and exceptions such as "
           "-reference, as in 'signorini solve --help'. A later --resume without it makes the others",
           "NAME[,NAME]");
  add_plugin_option(*command, a->plugins);
  command
      ->add_option("--plan", a->shard.folder,
                   "Make runs of the campaign that 'signorini plan' wrote here, instead of named experiments")
      ->type_name("DIR");
  command
      ->add_option("--shard", a->shard_text,
                   "With --plan: the I-th of N parts, balanced by cost (default: 1/1). Any part may be made "
                   "anywhere and again; what is done already is not done twice")
      ->type_name("I/N");
  command->add_flag("--recordings", a->shard.recordings, "With --plan: make recordings instead of runs");
  command->add_flag(
      "--beside", a->shard.beside,
      "With --plan: do not wait for another shard on this machine, and pin no cores. Times are then "
      "those of a busy machine");
  add_result_options(*command, a->options);
  command->callback([&program, a, command] {
    check_plan_options(*command, !a->shard.folder.empty());
    program.command = [&program, a] {
      if (!a->shard.folder.empty()) return run_planned(program, *a);
      if (a->experiments.empty())
        throw_usage("run: name an experiment (see 'signorini list experiments'), or --plan DIR");
      return run(program, *a);
    };
  });
}

}  // namespace signorini
