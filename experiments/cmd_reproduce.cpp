// signorini reproduce: record (if needed), run, report; ends with the claims table.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "base/clock.h"
#include "commands.h"
#include "configs.h"
#include "experiment_check.h"
#include "experiment_json.h"
#include "experiment_run.h"
#include "interrupt.h"
#include "terminal.h"

extern char** environ;

namespace signorini {
namespace {

struct ReproduceArguments {
  std::vector<std::string> experiments;
  std::string size = "quick", out = "results/out";
  bool resume = false, force = false, no_report = false;
};

enum class ChildOutput { standard_output, standard_error };

/// Exit status of a child process.
int run_child(const std::vector<std::string>& command, ChildOutput output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == ChildOutput::standard_error)
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw_input("{}: cannot be started: {}", command[0], std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw_input("{}: cannot be waited for: {}", command[0], std::strerror(errno));
  }
  stop_when_interrupted();
  return WIFEXITED(status) ? WEXITSTATUS(status) : kRunFailed;
}

int report(const Program& program, const std::string& out, const std::vector<std::string>& ids) {
  const std::filesystem::path script = source_folder(program) / "scripts" / "report";
  std::error_code error;
  if (!std::filesystem::exists(script, error))
    throw_input("{}: the report script is missing", script.string());
  // Debian's own interpreter has h5py, pandas and matplotlib; another one first on the PATH often has not
  const bool system_python = access("/usr/bin/python3", X_OK) == 0;
  std::vector<std::string> command{system_python ? "/usr/bin/python3" : "python3", script.string(), "--out",
                                   out};
  command.insert(command.end(), ids.begin(), ids.end());
  return run_child(command, program.json ? ChildOutput::standard_error : ChildOutput::standard_output);
}

/// claims.json as the report wrote it; null without one.
Json read_claims(const std::string& out) {
  std::ifstream in(std::filesystem::path(out) / "claims.json");
  Json claims = in ? Json::parse(in, nullptr, false) : Json();
  return claims.is_discarded() ? Json() : claims;
}

int reproduce(const Program& program, const ReproduceArguments& a) {
  const Stopwatch watch;
  std::vector<std::filesystem::path> configs;
  if (a.experiments.size() == 1 && a.experiments[0] == "all") {
    configs = list_configs(program, ConfigKind::experiments);
  } else if (a.experiments.empty()) {
    for (const char* name : {"signorini_all", "signorini_implicit"})
      configs.push_back(find_config(program, ConfigKind::experiments, name));
  } else {
    for (const std::string& name : a.experiments)
      configs.push_back(find_config(program, ConfigKind::experiments, name));
  }
  const SceneSize size = parse_enum<SceneSize>(a.size, "--size");
  for (const auto& config : configs) check_experiment(program, config, a.size);
  std::vector<ExperimentRequest> requests;
  for (const auto& config : configs) requests.push_back({config, size, a.out, a.resume, a.force});
  std::vector<ResultFolder> folders = claim_results(requests);
  std::vector<std::string> ids;
  std::size_t failed = 0;
  Json done = Json::array();
  for (std::size_t i = 0; i < configs.size(); ++i) {
    ids.push_back(configs[i].stem().string());
    say(fmt::format("{}: {}", painted_error(ids.back(), Colour::bold),
                    read_experiment_summary(configs[i]).artefact));
    const ExperimentResult result = run_experiment(program, requests[i], std::move(folders[i]));
    failed += result.failed;
    say(fmt::format("  {} rows ({} kept from before) in {}", result.rows, result.resumed,
                    duration_text(result.seconds)));
    const std::vector<RunSummaryLine> summary = summarise_runs(result.folder / "runs.csv");
    if (program.json) {
      done.push_back(to_json(ids.back(), result, summary));
    } else {
      print_run_summary(summary);
      print("\n");
    }
  }
  const int status = a.no_report ? 0 : report(program, a.out, ids);
  if (program.json) {
    const Json claims = a.no_report || status != 0 ? Json() : read_claims(a.out);
    print_json({{"experiments", done}, {"claims", claims}, {"seconds", watch.seconds()}});
  }
  say(fmt::format("done in {}", duration_text(watch.seconds())));
  if (status != 0)
    throw_input("scripts/report ended with status {}; the rows in {} are complete, see the message above",
                status, a.out);
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
      "experiment; 3 a file cannot be read or written, or the report failed; 130 interrupted.");
  auto a = std::make_shared<ReproduceArguments>();
  command->add_option(
      "EXPERIMENT", a->experiments,
      "Experiment files, or names (see 'signorini list experiments'), or all (default: signorini_all "
      "signorini_implicit)");
  add_result_options(*command, a->size, a->out, a->resume, a->force);
  command->add_flag("--no-report", a->no_report, "Stop after the runs: draw no figures, check no claims");
  command->callback([&program, a] { program.command = [&program, a] { return reproduce(program, *a); }; });
}

}  // namespace signorini
