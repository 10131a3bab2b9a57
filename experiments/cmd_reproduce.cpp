// signorini reproduce: record (if needed), run, report; ends with the claims table.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/clock.h"
#include "commands.h"
#include "configs.h"
#include "experiment_run.h"
#include "interrupt.h"
#include "terminal.h"

extern char** environ;

namespace signorini {
namespace {

struct ReproduceArguments {
  std::vector<std::string> experiments;
  std::string size = "quick", out = "results/out";
  bool resume = false, no_report = false;
};

/// Exit status of a child process, its output going where ours goes.
int run_child(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
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
  return run_child(command);
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
  for (const auto& config : configs) read_experiment(config, a.size);
  std::vector<std::string> ids;
  std::size_t failed = 0;
  for (const auto& config : configs) {
    ids.push_back(config.stem().string());
    say(fmt::format("{}: {}", painted_error(ids.back(), Colour::bold),
                    read_experiment_summary(config).artefact));
    const ExperimentResult result = run_experiment(program, {config, size, a.out, a.resume, 1});
    failed += result.failed;
    say(fmt::format("  {} rows ({} were there) in {}", result.rows, result.resumed,
                    duration_text(result.seconds)));
    print_run_summary(result.folder / "runs.csv");
    print("\n");
  }
  const int status = a.no_report ? 0 : report(program, a.out, ids);
  say(fmt::format("done in {}", duration_text(watch.seconds())));
  if (status != 0)
    throw_input("the report ended with status {}; the rows are safe, see its message above", status);
  return failed > 0 ? kRunFailed : kSuccess;
}

}  // namespace

void add_reproduce(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "reproduce", "Record, run and report: figures, tables and the verdict on every claim");
  command->footer(
      "Records scenes that are not recorded yet, runs the experiments, draws figures and tables, and ends\n"
      "with the claims table: what was claimed, what was measured, whether it holds.\n"
      "\n"
      "Examples:\n"
      "  signorini reproduce                          every solver on an explicit and an implicit scene: a minute\n"
      "  signorini reproduce --resume                 only what is missing\n"
      "  signorini reproduce all --size medium --out results/out");
  auto a = std::make_shared<ReproduceArguments>();
  command->add_option("EXPERIMENT", a->experiments, "Experiments, or all (default signorini_all signorini_implicit)");
  command->add_option("--size", a->size, "quick, medium or paper (default quick)")->type_name("SIZE");
  command->add_option("--out", a->out, "Folder for results (default results/out)")->type_name("DIR");
  command->add_flag("--resume", a->resume, "Keep finished rows of the same program, config and recording");
  command->add_flag("--no-report", a->no_report, "Stop after the runs");
  command->callback([&program, a] { program.command = [&program, a] { return reproduce(program, *a); }; });
}

}  // namespace signorini
