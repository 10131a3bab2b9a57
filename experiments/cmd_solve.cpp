// signorini solve: every combination of file × step × solver × regions × threads × repetition, judged by the
// referee.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "arguments.h"
#include "base/check.h"
#include "base/output_file.h"
#include "commands.h"
#include "harness/comparison.h"
#include "harness/solve_files.h"
#include "interrupt.h"
#include "report_script.h"
#include "solve_options.h"
#include "solve_screen.h"
#include "terminal.h"

namespace signorini {
namespace {

struct SolveArguments {
  SolveRequest request;
  std::string report;  ///< folder; "" = none
  bool require_converged = false, verbose = false;
};

/// --report DIR names the outputs that the report reads.
SolveRequest with_report(const SolveArguments& a) {
  SolveRequest request = a.request;
  if (a.report.empty()) return request;
  for (const auto& [option, path] : {std::pair{"--csv", &request.csv}, {"--trace", &request.trace}}) {
    if (!path->empty())
      throw_usage("--report {}: writes rows and curves there; leave out {} {}", a.report, option, *path);
  }
  plan_solves(request);  // a mistake leaves no folder behind
  refuse_other_files(a.report);
  make_output_folder(a.report);
  request.csv = (std::filesystem::path(a.report) / "runs.csv").string();
  request.trace = (std::filesystem::path(a.report) / "trace.h5").string();
  return request;
}

int solve(const Program& program, const SolveArguments& a) {
  FileSolver solver(with_report(a), program.command_line);
  SolveScreen screen(a.request.files.size(), solver.plan(), program.json, a.verbose);
  try {
    solver.run(screen);
  } catch (...) {
    screen.clear();
    if (interrupted()) screen.print_rows();
    solver.keep_partial(screen);
    throw;
  }
  screen.clear();
  const SolveOutputs outputs = solver.publish();
  std::string text = solver.tally().text();
  for (const std::string& file : outputs.written) text += "; " + file;
  if (outputs.answer_missing)
    text += fmt::format("; --solution {}: not written, no run gave an answer", a.request.solution);
  say(text);
  screen.print_rows();
  if (!a.report.empty()) report_runs(program, {std::filesystem::path(a.report) / "runs.csv"}, a.report, true);
  if (solver.tally().failed > 0 || outputs.answer_missing) return kRunFailed;
  return a.require_converged && !solver.tally().all_reached ? kNotConverged : kSuccess;
}

void declare_options(CLI::App& command, SolveArguments& arguments) {
  SolveRequest& a = arguments.request;
  add_solve_options(command, a,
                    {.solvers = "auto, which chooses a method by the problem",
                     .time_limit = "no limit",
                     .repetitions = "Solve everything R times; the screen shows median times"});
  add_list(command, "--step", a.steps,
           "Snapshots to solve, e.g. 120 or 120.2 for the second solve of step 120 (default: all)", "K[,K]");
  add_matrix_option(command, a.matrix);
  command
      .add_option("--csv", a.csv,
                  "Write one row per run, with the columns of runs.csv (docs/experiments.md; 'signorini list "
                  "columns')")
      ->type_name("OUT.csv");
  command
      .add_option(
          "--solution", a.solution,
          "Write the answer (impulses r in N s, velocities u and v in m/s) beside a copy of its problem, "
          "as an FCLib file, or as an npz problem where the name ends in .npz; needs one file, one step "
          "and one solver")
      ->type_name("OUT.hdf5");
  command
      .add_option("--trace", a.trace,
                  "Write convergence curves; they come from separate runs, so timings are not affected")
      ->type_name("OUT.h5");
  command
      .add_option(
          "--report", arguments.report,
          "Write rows and curves into DIR as runs.csv and trace.h5, and tables, figures and a page of "
          "them, DIR/index.html")
      ->type_name("DIR");
  command.add_flag("--force", a.replace, "Replace existing output files");
  command.add_flag(
      "-v,--verbose", arguments.verbose,
      "Show a second line for every run: products, sweeps and other work that the solver counted");
  command.add_flag("--require-converged", arguments.require_converged,
                   "Exit with code 4 unless every run reached the tolerance");
}

}  // namespace

void add_solve(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "solve",
      "Solve recorded contact problems with any solvers\n"
      "\n"
      "Every combination of file, step, solver, region mode, number of threads and repetition is one run and "
      "one line of the table. Failed and unsupported runs are lines too. The column 'residual' is measured "
      "from the answer by the same code for all solvers, not reported by the solver; times are split into "
      "setup (factors, matrices) and solve.");
  command->footer(
      "Examples:\n"
      "  signorini solve bucket.h5\n"
      "  signorini solve bucket.h5 --step 120 --solver pgs,pcg-pgs --regions none,points --threads 1,2\n"
      "  signorini solve problem.hdf5 --solver pgs --set pgs.law=pyramid --tolerance 1e-8\n"
      "  signorini solve *.hdf5 --solver pgs,ca --repetitions 5 --csv runs.csv\n"
      "  signorini solve problem.hdf5 --solver pgs --solution answer.hdf5 --require-converged\n"
      "  signorini solve problem.hdf5 --plugin libmine.so --solver pgs,mine\n"
      "  signorini solve bucket.h5 --step 120 --solver all,-reference --time-limit 5 --report impact/\n"
      "\n"
      "Output files get their names when they are complete; OUT.csv.partial holds the rows so far, also "
      "after an interruption.\n"
      "With --json: a list with one object per run; its keys are the columns of runs.csv.\n"
      "Exit codes: 0 all runs ended (converged or not); 1 a run failed; 2 wrong command line; 3 a file "
      "cannot be read or written; 4 not converged (with --require-converged); 5 out of memory; 130 "
      "interrupted.");
  auto a = std::make_shared<SolveArguments>();
  a->request.cancelled = interrupt_flag();
  declare_options(*command, *a);
  command->callback([&program, a] { program.command = [&program, a] { return solve(program, *a); }; });
}

}  // namespace signorini
