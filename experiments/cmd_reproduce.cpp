// signorini reproduce: record (if needed), run, report; ends with the claims table.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "base/clock.h"
#include "commands.h"
#include "configs.h"
#include "experiment_json.h"
#include "experiment_session.h"
#include "report_script.h"
#include "terminal.h"

namespace signorini {
namespace {

struct ReproduceArguments {
  std::vector<std::string> experiments;
  SessionOptions options;
  bool no_report = false, no_replay = false;
};

std::vector<std::filesystem::path> asked_for(const Program& program,
                                             const std::vector<std::string>& experiments) {
  if (experiments == std::vector<std::string>{"all"}) return list_configs(program, ConfigKind::experiments);
  const std::vector<std::string> names =
      experiments.empty() ? std::vector<std::string>{"signorini_all", "signorini_implicit"} : experiments;
  std::vector<std::filesystem::path> configs;
  for (const std::string& name : names)
    configs.push_back(find_config(program, ConfigKind::experiments, name));
  return configs;
}

int reproduce(const Program& program, const ReproduceArguments& a) {
  const Stopwatch watch;
  const std::vector<ExperimentRequest> requests =
      make_requests(program, asked_for(program, a.experiments), a.options);
  std::vector<std::string> ids;
  std::size_t failed = 0;
  Json done = Json::array();
  const auto before = [&](const ExperimentRequest& request) {
    ids.push_back(request.experiment.id);
    say(fmt::format("{}: {}", painted_error(ids.back(), Colour::bold), request.experiment.artefact));
  };
  const auto after = [&](const ExperimentRequest& request, const ExperimentResult& result) {
    failed += result.failed;
    say(fmt::format("  {} rows ({} kept from before) in {}", result.rows, result.resumed,
                    duration_text(result.seconds)));
    const std::vector<RunSummaryLine> summary = summarise_runs(result.folder / "runs.csv");
    if (program.json) {
      done.push_back(to_json(request.experiment.id, result, summary));
    } else {
      print_run_summary(summary);
      print("\n");
    }
  };
  run_session(program, requests, before, after);
  const int status = a.no_report ? 0 : run_report(program, a.options.out, ids, !a.no_replay);
  if (program.json) {
    const Json claims = a.no_report || status != 0 ? Json() : read_claims(a.options.out);
    print_json({{"experiments", done}, {"claims", claims}, {"seconds", watch.seconds()}});
  }
  say(fmt::format("done in {}", duration_text(watch.seconds())));
  if (status != 0)
    throw_input("scripts/report ended with status {}; the rows in {} are complete, see the message above",
                status, a.options.out);
  return failed > 0 ? kRunFailed : kSuccess;
}

}  // namespace

void add_reproduce(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "reproduce",
      "Make the papers' figures and tables and check their claims\n"
      "\n"
      "Records the scenes that are missing, runs the experiments as 'signorini run' does, then draws figures "
      "and tables and compares every claim of the papers with what was measured: holds, differs, or not "
      "comparable. Results go to OUT/<id>/, the overview to OUT/report.html, the verdicts to "
      "OUT/claims.json. Drawing needs Python 3 with h5py, pandas and matplotlib.");
  command->footer(
      "Examples:\n"
      "  signorini reproduce                          all solvers on two small scenes; about a minute\n"
      "  signorini reproduce lazarevych2010_fig1      one figure\n"
      "  signorini reproduce --resume                 keep finished rows, make only the missing ones\n"
      "  signorini reproduce all --size medium --out results/out\n"
      "\n"
      "With --json: an object with \"experiments\" (as 'signorini run' gives them), \"claims\" (the "
      "content of claims.json, null without a report) and \"seconds\"; the report's own text goes "
      "to standard error.\n"
      "Exit codes: 0 all runs ended, whatever the verdicts; 1 a run failed; 2 wrong command line or "
      "experiment; 3 a file cannot be read or written, or the report failed; 5 out of memory; 130 "
      "interrupted.");
  auto a = std::make_shared<ReproduceArguments>();
  command->add_option(
      "EXPERIMENT", a->experiments,
      "Experiment files, or names (see 'signorini list experiments'), or all (default: signorini_all "
      "signorini_implicit)");
  add_result_options(*command, a->options);
  command->add_flag("--no-report", a->no_report, "Stop after the runs: draw no figures, check no claims");
  command->add_flag("--no-replay", a->no_replay,
                    "Make no 3D replays of the recordings, which the pages link to");
  command->callback([&program, a] { program.command = [&program, a] { return reproduce(program, *a); }; });
}

}  // namespace signorini
