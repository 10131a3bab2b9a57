#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

/// The subcommands of `signorini`. Each `add_…` declares its options and says what to do when it was chosen.
///
/// Exit codes: 0 success, 1 a run failed, 2 usage, 3 bad input file, 4 not converged under
/// --require-converged, 5 out of memory, 130 interrupted (what was finished is kept).
namespace signorini {

struct Program {
  std::vector<std::string> command_line;
  std::string configs;           ///< --configs
  bool json = false;             ///< --json
  std::function<int()> command;  ///< set by the chosen subcommand
};

enum ExitCode : int {
  kSuccess = 0,
  kRunFailed = 1,
  kUsage = 2,
  kBadInput = 3,
  kNotConverged = 4,
  kOutOfMemory = 5,
  kInterrupted = 130
};

void add_list(CLI::App& app, Program& program);
void add_record(CLI::App& app, Program& program);
void add_info(CLI::App& app, Program& program);
void add_solve(CLI::App& app, Program& program);
void add_compare(CLI::App& app, Program& program);
void add_run(CLI::App& app, Program& program);
void add_export(CLI::App& app, Program& program);
void add_replay(CLI::App& app, Program& program);
void add_reproduce(CLI::App& app, Program& program);
void add_plan(CLI::App& app, Program& program);
void add_merge(CLI::App& app, Program& program);
void add_status(CLI::App& app, Program& program);
void add_completion(CLI::App& app, Program& program);
void add_man(CLI::App& app, Program& program);

}  // namespace signorini
