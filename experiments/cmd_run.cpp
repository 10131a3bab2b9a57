// signorini run: experiments by their configuration files.

#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "commands.h"
#include "configs.h"
#include "experiment_run.h"
#include "terminal.h"

namespace signorini {
namespace {

struct RunArguments {
  std::vector<std::string> experiments;
  std::string size = "quick", out = "results/out";
  bool resume = false;
};

int run(const Program& program, const RunArguments& a) {
  std::vector<ExperimentRequest> requests;
  for (const std::string& name : a.experiments) {
    ExperimentRequest request;
    request.config = find_config(program, ConfigKind::experiments, name);
    request.size = parse_enum<SceneSize>(a.size, "--size");
    request.output = a.out;
    request.resume = a.resume;
    read_experiment(request.config, a.size);  // mistakes in the second file are told before the first has run
    requests.push_back(std::move(request));
  }
  std::size_t failed = 0;
  for (const ExperimentRequest& request : requests) {
    const ExperimentResult result = run_experiment(program, request);
    failed += result.failed;
    print_run_summary(result.folder / "runs.csv");
    say(fmt::format("{}: {} rows ({} were there) in {}", (result.folder / "runs.csv").string(), result.rows,
                    result.resumed, duration_text(result.seconds)));
  }
  return failed > 0 ? kRunFailed : kSuccess;
}

}  // namespace

void add_run(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("run", "Run experiments: record what is missing, solve, write runs.csv and curves");
  command->footer(
      "Writes OUT/<id>/{runs.csv, trace.h5, env.json, config.toml}, and recordings to OUT/recordings.\n"
      "Without --resume an experiment starts again; with it only missing runs are made. A kill at any\n"
      "moment loses at most the runs of one solver on one snapshot.\n"
      "\n"
      "Examples:\n"
      "  signorini run signorini_all\n"
      "  signorini run my/experiment.toml --size medium --out results/out\n"
      "  signorini run signorini_all --resume");
  auto a = std::make_shared<RunArguments>();
  command
      ->add_option("EXPERIMENT", a->experiments,
                   "Experiment files, or names (see 'signorini list experiments')")
      ->required();
  command->add_option("--size", a->size, "quick, medium or paper (default quick)")->type_name("SIZE");
  command->add_option("--out", a->out, "Folder for results (default results/out)")->type_name("DIR");
  command->add_flag("--resume", a->resume, "Keep finished rows of the same program, config and recording");
  command->callback([&program, a] { program.command = [&program, a] { return run(program, *a); }; });
}

}  // namespace signorini
