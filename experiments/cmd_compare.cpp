// signorini compare: one's own comparison in one command: every solver on every file, a table, a page.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "commands.h"
#include "comparison_table.h"
#include "experiment_session.h"
#include "harness/comparison.h"
#include "report_script.h"
#include "solve_options.h"
#include "terminal.h"

namespace signorini {
namespace {

struct CompareArguments {
  ComparisonRequest request;
  bool no_curves = false, no_report = false, no_replay = false;
};

/// The defaults of a comparison, where they are not those of `solve`.
CompareArguments defaults() {
  CompareArguments a;
  a.request.solve.solvers = {"all", "-reference"};
  a.request.solve.time_limit = 5.0;
  a.request.solve.repetitions = 3;
  return a;
}

int exit_code(const ExperimentResult& result) {
  if (result.failed > 0) return kRunFailed;
  return result.unreadable > 0 ? kBadInput : kSuccess;
}

void show(const Program& program, const ExperimentResult& result, const Comparison& found,
          const std::filesystem::path& page) {
  if (!program.json) return print_comparison(found);
  print_json({{"folder", result.folder.string()},
              {"rows", result.rows},
              {"resumed", result.resumed},
              {"failed", result.failed},
              {"unreadable", result.unreadable},
              {"seconds", result.seconds},
              {"page", page.empty() ? Json() : Json(page.string())},
              {"comparison", to_json(found)}});
}

int compare(const Program& program, const CompareArguments& a) {
  ComparisonRequest request = a.request;
  request.command_line = program.command_line;
  request.traced = !a.no_curves;
  ExperimentResult result;
  run_session(
      program, {comparison(request)}, [](const ExperimentRequest&) {},
      [&result](const ExperimentRequest&, const ExperimentResult& one) { result = one; });
  const std::filesystem::path table = result.folder / "runs.csv";
  if (!a.no_report) report_runs(program, {table}, result.folder, !a.no_replay);
  show(program, result, compare_runs(read_run_table(table)),
       a.no_report ? std::filesystem::path() : result.folder / "index.html");
  say(fmt::format("{}: {} rows ({} kept from before) in {}", table.string(), result.rows, result.resumed,
                  duration_text(result.seconds)));
  if (!a.no_report) say(fmt::format("page: {}", (result.folder / "index.html").string()));
  if (result.unreadable > 0)
    say(fmt::format("{} unreadable files or snapshots are left out, see above", result.unreadable));
  return exit_code(result);
}

void declare_options(CLI::App& command, CompareArguments& a) {
  ComparisonRequest& request = a.request;
  add_solve_options(command, request.solve,
                    {.solvers = "all,-reference",
                     .time_limit = "5; a run that is traced takes up to ten times that",
                     .repetitions = "Time every solve R times; medians are compared"});
  add_integer(command, "--snapshots", request.snapshots, {.least = 1, .example = "20"}, "N",
              "Solve at most N snapshots of each file, evenly spread (default: 10)");
  command
      .add_option("-o,--output", request.folder,
                  "Folder for the results: a new one, or with --resume or "
                  "--force one with results")
      ->required()
      ->type_name("DIR");
  command.add_flag("--resume", request.resume, "Keep finished rows of the same program, files and solvers");
  command.add_flag("--force", request.force,
                   "Replace existing results (with --resume: those that do not fit)");
  command.add_flag("--no-curves", a.no_curves,
                   "Make no traced runs: no curves, and times of runs that stop by themselves. Many times "
                   "faster with large bodies, where measuring every iterate takes longer than solving");
  command.add_flag("--no-report", a.no_report, "Stop after the table: write no figures and no page");
  command.add_flag("--no-replay", a.no_replay, "Make no 3D replays of the recordings for the page");
}

}  // namespace

void add_compare(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "compare",
      "Compare solvers on files of your own: solve, trace, print a table, write a page\n"
      "\n"
      "Every solver runs on the same snapshots as in an experiment (see 'signorini run --help'): once "
      "traced, "
      "for the convergence curves, and several times timed. DIR gets runs.csv (one row per run), trace.h5 "
      "(curves), env.json (program and machine), run.toml (what was asked for; 'signorini run DIR/run.toml' "
      "repeats it), tables, figures and a page of all, index.html, with a replay of every recording in 3D. "
      "Failed and unsupported runs are rows too. "
      "The table counts for each solver the snapshots that it solved and those on which it was the fastest.");
  command->footer(
      "Examples:\n"
      "  signorini compare bucket.h5 -o cmp/\n"
      "  signorini compare a.h5 b.hdf5 --solver all,-reference --tolerance 1e-6 -o cmp/\n"
      "  signorini compare rings.h5 --solver pgs,ica,cr-* --regions none,islands --threads 1,2 -o cmp/\n"
      "  signorini compare rings.h5 --snapshots 100 -o cmp/ --resume      go on after an interruption\n"
      "  signorini compare problems/*.npz --no-curves --time-limit 1 -o mine/      a whole dataset\n"
      "\n"
      "Existing results are refused without --resume (make only the missing runs) or --force (make all runs "
      "again). A file or snapshot that cannot be read is left out, and the others are compared.\n"
      "With --json: an object with folder, rows, resumed, failed, unreadable, seconds, page (null without "
      "one) "
      "and the table as \"comparison\".\n"
      "Exit codes: 0 all runs ended (converged or not); 1 a run failed; 2 wrong command line; 3 a file "
      "cannot be read or written, or the report failed; 5 out of memory; 130 interrupted.");
  auto a = std::make_shared<CompareArguments>(defaults());
  declare_options(*command, *a);
  command->callback([&program, a] { program.command = [&program, a] { return compare(program, *a); }; });
}

}  // namespace signorini
