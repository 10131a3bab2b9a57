// signorini run: experiments by their configuration files.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "base/check.h"
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
};

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
    say(fmt::format("{}: {} rows ({} kept from before) in {}", (result.folder / "runs.csv").string(),
                    result.rows, result.resumed, duration_text(result.seconds)));
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
      "\n"
      "Existing results are refused without --resume (make only the missing runs) or --force (make all runs "
      "again; the old results stay until the new ones are complete). An interruption loses at most the runs "
      "of one solver on one snapshot.\n"
      "With --json: {\"experiments\": [...]}, each with id, folder, rows, resumed, failed, seconds "
      "and the summary table.\n"
      "Exit codes: 0 all runs ended (converged or not); 1 a run failed; 2 wrong command line or "
      "experiment; 3 a file cannot be read or written; 130 interrupted.");
  auto a = std::make_shared<RunArguments>();
  command
      ->add_option("EXPERIMENT", a->experiments,
                   "Experiment files, or names (see 'signorini list experiments')")
      ->required();
  add_list(*command, "--solver", a->options.solvers,
           "Only these of each experiment's solvers: names, patterns such as cr-*, and exceptions such as "
           "-reference, as in 'signorini solve --help'. A later --resume without it makes the others",
           "NAME[,NAME]");
  add_plugin_option(*command, a->plugins);
  add_result_options(*command, a->options.size, a->options.out, a->options.resume, a->options.force);
  command->callback([&program, a] { program.command = [&program, a] { return run(program, *a); }; });
}

}  // namespace signorini
