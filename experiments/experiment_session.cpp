#include "experiment_session.h"

#include <algorithm>
#include <utility>

#include "commands.h"
#include "configs.h"
#include "experiment_check.h"
#include "harness/name_patterns.h"
#include "harness/solve_plan.h"
#include "scene_recordings.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

/// Leaves the variants whose solvers are asked for. The experiment stays the same: a later --resume makes the others.
void narrow(const std::vector<std::string>& asked, Experiment& experiment) {
  if (asked.empty() || experiment.solvers.empty()) return;
  std::vector<std::string> names;
  for (const SolverVariant& variant : experiment.solvers) {
    if (std::ranges::find(names, variant.name) == names.end()) names.push_back(variant.name);
  }
  const std::vector<std::string> chosen =
      choose_names(list_entries(asked, "--solver"), experiment.id + ": --solver", names);
  std::erase_if(experiment.solvers, [&chosen](const SolverVariant& variant) {
    return std::ranges::find(chosen, variant.name) == chosen.end();
  });
}

}  // namespace

std::vector<ExperimentRequest> make_requests(const Program& program,
                                             const std::vector<std::filesystem::path>& configs,
                                             const SessionOptions& options) {
  parse_enum<SceneSize>(options.size, "--size");
  std::vector<SolveStatus> again;
  for (const std::string& status : list_entries(options.again, "--again"))
    again.push_back(parse_enum<SolveStatus>(status, "--again"));
  if (!again.empty() && !options.resume)
    throw_usage("--again: only with --resume, which keeps all other rows; --force makes every run again");
  std::vector<ExperimentRequest> requests;
  for (const std::filesystem::path& config : configs) {
    check_experiment(program, config, options.size);
    ExperimentRequest request;
    request.experiment = read_experiment(config, options.size);
    narrow(options.solvers, request.experiment);
    request.config = config;
    request.size = options.size;
    request.output = options.out;
    request.resume = options.resume;
    request.force = options.force;
    request.again = again;
    if (!request.experiment.optional_files.empty())
      request.test_data = test_data_folder(configs_folder(program));
    request.command_line = program.command_line;
    requests.push_back(std::move(request));
  }
  return requests;
}

void run_session(const Program& program, const std::vector<ExperimentRequest>& requests,
                 const std::function<void(const ExperimentRequest&)>& before,
                 const std::function<void(const ExperimentRequest&, const ExperimentResult&)>& after) {
  TerminalMonitor monitor;
  std::vector<ResultFolder> folders = claim_results(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ExperimentRequest& request = requests[i];
    before(request);
    SceneRecordings recordings(program, monitor, request.output,
                               parse_enum<SceneSize>(request.size, "--size"), request.force);
    after(request, run_experiment(request, std::move(folders[i]), recordings, monitor));
  }
}

}  // namespace signorini
