#include "solve_options.h"

#include <fmt/format.h>

#include "arguments.h"

namespace signorini {
namespace {

void add_choices(CLI::App& command, SolveRequest& request, const SolveDefaults& defaults) {
  const std::string solvers = fmt::format(
      "Solvers to compare, see 'signorini list solvers' (default: {})\n"
      "all: every one\n"
      "cr-*: those that fit a pattern (*, ?, [..])\n"
      "-reference, -cr-*: without these, wherever it stands; alone it means all but these\n"
      "The order is that of the list; a solver named twice runs once.",
      defaults.solvers);
  add_list(command, "--solver", request.solvers, solvers.c_str(), "NAME[,NAME]");
  add_plugin_option(command, request.plugins);
  add_setting_option(command, request.settings);
  add_list(command, "--regions", request.regions,
           "How to split a problem (default: none)\n"
           "none: the whole problem at once\n"
           "points: contacts connected through shared mass points; exact when M is diagonal by mass points\n"
           "islands: contacts connected through bodies; always exact\n"
           "auto: islands, small ones several at a time; exact\n"
           "points-approx: points where it is not exact, for studies of the error\n"
           "points-inner: points inside 'ica' only; exact",
           "MODE[,MODE]");
  add_list(command, "--threads", request.threads,
           "Number of threads that solve regions in parallel (default: 1)", "N[,N]");
}

void add_limits(CLI::App& command, SolveRequest& request, const SolveDefaults& defaults) {
  add_limit_options(command, request.tolerance, request.max_iterations, request.time_limit,
                    defaults.time_limit);
  add_integer(command, "--repetitions", request.repetitions, {.least = 1, .example = "5"}, "R",
              fmt::format("{} (default: {})", defaults.repetitions, request.repetitions));
}

}  // namespace

void add_solve_options(CLI::App& command, SolveRequest& request, const SolveDefaults& defaults) {
  command.add_option("FILE", request.files, "Recordings (.h5), FCLib files (.hdf5) or npz problems (.npz)")
      ->required();
  add_choices(command, request, defaults);
  add_limits(command, request, defaults);
}

CLI::Option* add_list(CLI::App& command, const char* names, std::vector<std::string>& values,
                      const char* help, const char* type) {
  return command.add_option(names, values, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace signorini
