// signorini solve: every combination of file × step × solver × regions × threads × repetition, judged by the
// referee.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "arguments.h"
#include "base/check.h"
#include "base/output_file.h"
#include "base/text.h"
#include "commands.h"
#include "harness/environment.h"
#include "harness/protocols.h"
#include "harness/run_table.h"
#include "interrupt.h"
#include "json_output.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "solvers/registry.h"
#include "terminal.h"

namespace signorini {
namespace {

struct SolveArguments {
  std::vector<std::string> files, solvers, settings, regions{"none"}, threads{"1"}, steps;
  double tolerance = 1e-6;
  int max_iterations = 10000;
  double time_limit = 0.0;  ///< 0 = none
  int repetitions = 1;
  std::string csv, solution, trace;
  std::string matrix = "symmetric";
  bool require_converged = false, verbose = false, force = false;
};

/// What is asked for, checked before any file is read.
struct SolvePlan {
  std::vector<SolverVariant> variants;
  std::vector<RegionMode> modes;
  std::vector<int> threads;
  RunLimits limits;
  MatrixReading matrix = MatrixReading::symmetric;
};

/// "a,b" and repeated options mean the same.
std::vector<std::string> pieces_of(const std::vector<std::string>& given, std::string_view option) {
  std::vector<std::string> pieces;
  for (const std::string& text : given) {
    for (const std::string& piece : split(text, ',')) {
      if (trim(piece).empty()) throw_usage("{} {}: has an empty entry", option, text);
      pieces.emplace_back(trim(piece));
    }
  }
  return pieces;
}

void apply_settings(const std::vector<std::string>& settings, std::vector<SolverVariant>& variants) {
  std::vector<std::string> names;
  for (const SolverVariant& variant : variants) names.push_back(variant.name);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::size_t dot = setting.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals || dot == 0) {
      throw_usage("--set {}: must look like SOLVER.option=value, e.g. --set pgs.law=pyramid", setting);
    }
    const std::string name = setting.substr(0, dot);
    const auto variant = std::find_if(variants.begin(), variants.end(),
                                      [&name](const SolverVariant& v) { return v.name == name; });
    if (variant == variants.end()) {
      throw_usage("--set {}: solver '{}' is not among those asked for{}", setting, name,
                  suggestion(name, names));
    }
    const std::string value = setting.substr(equals + 1);
    const auto [given, fresh] = variant->options.emplace(setting.substr(dot + 1, equals - dot - 1), value);
    if (!fresh) {
      throw_usage("--set: {} is given twice ({}, {}); give it once", setting.substr(0, equals), given->second,
                  value);
    }
  }
}

SolvePlan make_plan(const SolveArguments& a) {
  SolvePlan plan;
  for (const std::string& name : pieces_of(a.solvers, "--solver")) plan.variants.push_back({name, name, {}});
  apply_settings(a.settings, plan.variants);
  for (const SolverVariant& variant : plan.variants) make_solver(variant.name, variant.options);
  for (const std::string& mode : pieces_of(a.regions, "--regions"))
    plan.modes.push_back(parse_enum<RegionMode>(mode, "--regions"));
  for (const std::string& text : pieces_of(a.threads, "--threads"))
    plan.threads.push_back(static_cast<int>(
        parse_integer_option("--threads", text, {.least = 1, .most = 1024, .example = "2"})));
  plan.matrix = parse_enum<MatrixReading>(a.matrix, "--matrix");
  plan.limits = {a.tolerance, a.max_iterations,
                 a.time_limit > 0.0 ? a.time_limit : std::numeric_limits<double>::infinity(),
                 interrupt_flag()};
  if (!a.solution.empty() && (plan.variants.size() > 1 || a.files.size() > 1)) {
    throw_usage("--solution {}: holds one answer; ask for one file and one solver", a.solution);
  }
  return plan;
}

/// The snapshots asked for; recordings take steps with or without leading zeros.
std::vector<std::string> chosen_steps(const ProblemFile& file, const SolveArguments& a) {
  const std::vector<std::string> wanted = pieces_of(a.steps, "--step");
  if (wanted.empty()) return file.steps();
  const auto bare = [](const std::string& step) {
    const std::size_t first = step.find_first_not_of('0');
    return first == std::string::npos || step[first] == '.'
               ? "0" + (first == std::string::npos ? "" : step.substr(first))
               : step.substr(first);
  };
  std::vector<std::string> chosen;
  for (const std::string& step : wanted) {
    const auto found = std::find_if(file.steps().begin(), file.steps().end(),
                                    [&](const std::string& s) { return bare(s) == bare(step); });
    if (found == file.steps().end()) {
      throw_usage("--step {}: {} has no step '{}'; {}", step, file.path().string(), step,
                  file.steps().empty() ? std::string("it holds no steps")
                                       : fmt::format("it holds {} from {} to {}", file.steps().size(),
                                                     file.steps().front(), file.steps().back()));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Colour status_colour(SolveStatus status) {
  if (status == SolveStatus::converged) return Colour::green;
  return status == SolveStatus::unsupported ? Colour::yellow : Colour::red;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/// What the solver counted, without what it does not do: "    12 products with M, 3 restarts".
std::string work_text(const RunRecord& r) {
  const SolveCounters& c = r.counters;
  std::string text;
  const std::pair<long long, const char*> counted[] = {{r.products, "products with the whole of W or M"},
                                                       {c.mass_products, "products with M"},
                                                       {c.direction_products, "products with H"},
                                                       {c.contact_sweeps, "sweeps over contacts"},
                                                       {c.triangular_solves, "solves with the factor of M"},
                                                       {c.evaluations, "checks of all contact states"},
                                                       {c.state_changes, "changes of a contact state"},
                                                       {c.restarts, "restarts"},
                                                       {c.guards, "safeguarded steps"},
                                                       {c.relinearisations, "re-linearisations"}};
  for (const auto& [count, what] : counted) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "    " : ", ", count, what);
  }
  return text.empty() ? "    no work counted" : text;
}

/// The screen: one line for every combination, times are medians over the repetitions.
class SolveScreen {
 public:
  SolveScreen(const SolveArguments& a, const SolvePlan& plan) : verbose_(a.verbose) {
    std::size_t file = 0, solver = 0;
    for (const std::string& path : a.files)
      file = std::max(file, text_width(std::filesystem::path(path).filename().string()));
    for (const SolverVariant& variant : plan.variants) solver = std::max(solver, variant.label.size());
    table_.emplace(std::vector<TextTable::Column>{{"file", Align::left, file},
                                                  {"step", Align::right, 6},
                                                  {"contacts", Align::right},
                                                  {"solver", Align::left, solver},
                                                  {"regions", Align::left, 13},
                                                  {"threads", Align::right},
                                                  {"status", Align::left, 15},
                                                  {"iterations", Align::right},
                                                  {"residual", Align::right, 8},
                                                  {"setup", Align::right, 7},
                                                  {"solve", Align::right, 7}});
  }

  void show(const std::vector<RunRecord>& repetitions) {
    if (!header_shown_) print(table_->header());
    header_shown_ = true;
    const RunRecord& r = repetitions.front();
    std::vector<double> setup, solve;
    for (const RunRecord& one : repetitions) {
      setup.push_back(one.setup_seconds);
      solve.push_back(one.solve_seconds);
    }
    const bool ran = r.status != SolveStatus::unsupported && r.status != SolveStatus::failed;
    const std::string mode =
        r.region_mode == "none" || !ran ? r.region_mode : fmt::format("{} ({})", r.region_mode, r.regions);
    TextTable::Row row{std::filesystem::path(r.file).filename().string(),
                       r.step,
                       fmt::format("{}", r.contacts),
                       r.label,
                       mode,
                       fmt::format("{}", r.threads),
                       {std::string(enum_name(r.status)), status_colour(r.status)}};
    if (ran) {
      row.insert(row.end(), {fmt::format("{}", r.iterations), error_text(r.errors.residual),
                             seconds_text(median(setup)), seconds_text(median(solve))});
    } else {
      row.emplace_back(r.message, Colour::dim);
    }
    print(table_->line(row));
    if (ran && r.status != SolveStatus::converged && !r.message.empty())
      print(painted("    " + r.message, Colour::dim) + "\n");
    if (verbose_ && ran) print(painted(work_text(r), Colour::dim) + "\n");
  }

 private:
  bool verbose_;
  std::optional<TextTable> table_;
  bool header_shown_ = false;
};

struct Tally {
  std::size_t runs = 0, converged = 0, unsupported = 0, failed = 0, other = 0;
  bool all_reached = true;  ///< by the referee

  void count(const RunRecord& r) {
    ++runs;
    if (r.status == SolveStatus::converged) {
      ++converged;
    } else if (r.status == SolveStatus::unsupported) {
      ++unsupported;
    } else if (r.status == SolveStatus::failed) {
      ++failed;
    } else {
      ++other;
    }
    all_reached = all_reached && r.status == SolveStatus::converged && meets(r.errors.residual, r.tolerance);
  }
  std::string text() const {
    std::string out = fmt::format("{} {}: {} converged", runs, runs == 1 ? "run" : "runs", converged);
    if (other > 0) out += fmt::format(", {} did not", other);
    if (unsupported > 0) out += fmt::format(", {} unsupported", unsupported);
    if (failed > 0) out += fmt::format(", {} failed", failed);
    return out;
  }
};

/// Runs that were not made, or broke down, leave their starting values: no answer.
bool is_answer(const RunRecord& run, const Vector& r) {
  return run.status != SolveStatus::unsupported && run.status != SolveStatus::failed && r.allFinite();
}

FclibFile solution_file(const ProblemFile& file, const ContactProblem& problem, const Referee& referee,
                        const Vector& r, const RunRecord& last) {
  FclibFile out;
  out.problem = problem;
  out.info.title = file.title();
  out.info.description =
      fmt::format("step {} of {} with the answer of {} ({}), residual {:.3e}", last.step,
                  file.path().filename().string(), last.solver, enum_name(last.status), last.errors.residual);
  out.info.math_info = "normal component first; impulses in N s, velocities in m/s";
  const std::span<const double> values(r.data(), static_cast<std::size_t>(r.size()));
  out.solution = FclibSolution{r, referee.relative_velocity(values), referee.velocity(values)};
  return out;
}

std::string env_of(const std::string& output) { return output + ".env.json"; }
/// Where rows and curves are until all runs are done.
std::string partial_of(const std::string& output) { return output + ".partial"; }

OutputPlan outputs_of(const SolveArguments& a) {
  OutputPlan plan;
  plan.inputs.assign(a.files.begin(), a.files.end());
  if (a.force) plan.existing = ExistingOutput::replace;
  if (!a.csv.empty()) plan.outputs.push_back({"--csv", a.csv, {env_of(a.csv), partial_of(a.csv)}});
  if (!a.solution.empty()) plan.outputs.push_back({"--solution", a.solution, {env_of(a.solution)}});
  if (!a.trace.empty()) plan.outputs.push_back({"--trace", a.trace, {env_of(a.trace), partial_of(a.trace)}});
  return plan;
}

class SolveCommand {
 public:
  SolveCommand(const Program& program, const SolveArguments& a)
      : a_(a),
        plan_(make_plan(a)),
        locks_(claim_outputs(outputs_of(a))),
        screen_(a, plan_),
        provenance_(program.command_line),
        json_(program.json) {}

  int run() {
    Progress progress("solving", static_cast<long long>(a_.files.size()));
    try {
      if (!a_.csv.empty()) table_.emplace(partial_of(a_.csv), OpenTable::fresh);
      for (std::size_t i = 0; i < a_.files.size(); ++i) solve_file(a_.files[i], i, progress);
    } catch (...) {
      progress.clear();
      if (json_ && interrupted()) print_json(rows_);
      keep_partial();
      throw;
    }
    progress.clear();
    write_outputs();
    if (json_) print_json(rows_);
    if (tally_.failed > 0 || (!a_.solution.empty() && !solution_)) return kRunFailed;
    return a_.require_converged && !tally_.all_reached ? kNotConverged : kSuccess;
  }

 private:
  /// Complete files under their own names.
  void write_outputs() {
    std::string text = tally_.text();
    const auto described = [&](const std::string& file) {
      write_text_file(env_of(file), provenance_.json());
      text += "; " + file;
    };
    if (table_) {
      table_.reset();
      publish_durable(partial_of(a_.csv), a_.csv);
      described(a_.csv);
    }
    if (!a_.trace.empty()) {
      write_traces(a_.trace, traces_);
      std::error_code ignored;
      std::filesystem::remove(partial_of(a_.trace), ignored);
      described(a_.trace);
    }
    if (solution_) {
      write_fclib(a_.solution, *solution_);
      described(a_.solution);
    } else if (!a_.solution.empty()) {
      text += fmt::format("; --solution {}: not written, no run gave an answer", a_.solution);
    }
    say(text);
  }

  /// The command ends early: what was made so far, under names that say so.
  void keep_partial() {
    std::error_code ignored;
    const std::size_t rows = table_ ? table_->rows() : 0;
    table_.reset();
    if (rows > 0) {
      say(fmt::format("the {} rows so far: {}", rows, partial_of(a_.csv)));
    } else if (!a_.csv.empty()) {
      std::filesystem::remove(partial_of(a_.csv), ignored);
    }
    if (a_.trace.empty() || traces_.empty()) return;
    try {
      write_traces(partial_of(a_.trace), traces_);
      say(fmt::format("the {} curves so far: {}", traces_.size(), partial_of(a_.trace)));
    } catch (const InputError& error) {
      say(fmt::format("warning: the curves so far are lost: {}", error.what()));
    }
  }

  void solve_file(const std::string& path, std::size_t number, Progress& progress) {
    const ProblemFile file(path, plan_.matrix);
    provenance_.add_input(path);
    const std::vector<std::string> steps = chosen_steps(file, a_);
    if (!a_.solution.empty() && steps.size() != 1) {
      throw_usage("--solution {}: holds one answer; pick one of the {} steps with --step", a_.solution,
                  steps.size());
    }
    for (const std::string& step : steps) {
      const ContactProblem problem = file.read(step);
      check_problem(problem, fmt::format("{}: step {}", path, step));
      const Referee referee(problem);
      const RunTarget target = make_target(problem, referee, "solve", path, step);
      if (!target.note.empty()) say(fmt::format("{}: step {}: {}", path, step, target.note));
      for (const SolverVariant& variant : plan_.variants) {
        for (const RegionMode mode : plan_.modes) {
          for (const int threads : plan_.threads) {
            progress.update(static_cast<long long>(number),
                            fmt::format("{} step {} {}", path, step, variant.label));
            solve_combination(target, variant, mode, threads, progress);
          }
        }
      }
      if (!a_.solution.empty() && last_)
        solution_ = solution_file(file, problem, referee, *last_, last_record_);
    }
  }

  void solve_combination(const RunTarget& target, const SolverVariant& variant, RegionMode mode, int threads,
                         Progress& progress) {
    std::vector<RunRecord> rows;
    for (int repetition = 0; repetition < a_.repetitions; ++repetition) {
      stop_when_interrupted();
      PreparedRun run = prepare_run(target, variant, mode, threads);
      SolveOutcome outcome = solve_self_stopped(target, run, plan_.limits);
      outcome.record.repetition = repetition;
      if (table_) table_->append(outcome.record);
      if (json_) rows_.push_back(Json::parse(run_record_json(outcome.record)));
      tally_.count(outcome.record);
      rows.push_back(outcome.record);
      if (is_answer(outcome.record, outcome.r)) {
        last_ = std::move(outcome.r);
        last_record_ = outcome.record;
      }
      if (!a_.trace.empty() && repetition == 0 && run.solver)
        traces_.push_back(trace_run(target, run, plan_.limits).trace);
    }
    progress.clear();
    if (!json_) screen_.show(rows);
  }

  const SolveArguments& a_;
  SolvePlan plan_;
  std::vector<LockFile> locks_;
  SolveScreen screen_;
  Provenance provenance_;
  std::optional<RunTable> table_;
  std::vector<ConvergenceTrace> traces_;
  Tally tally_;
  std::optional<Vector> last_;  ///< of the last run that gave an answer
  RunRecord last_record_;
  std::optional<FclibFile> solution_;
  bool json_;
  Json rows_ = Json::array();
};

void declare_options(CLI::App& command, SolveArguments& a) {
  const auto list = [&command](const char* names, std::vector<std::string>& values, const char* help,
                               const char* type) {
    return command.add_option(names, values, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  command.add_option("FILE", a.files, "Recordings (.h5) or FCLib files (.hdf5), local or global")->required();
  list("--solver", a.solvers, "Solvers to compare (see 'signorini list solvers')", "NAME[,NAME]")->required();
  list("--step", a.steps,
       "Snapshots to solve, e.g. 120 or 120.2 for the second solve of step 120 (default: all)", "K[,K]");
  list("--set", a.settings,
       "Change an option of a solver; may be repeated ('signorini list solvers' shows the options)",
       "NAME.KEY=VALUE");
  list("--regions", a.regions,
       "How to split a problem (default: none)\n"
       "none: the whole problem at once\n"
       "points: contacts connected through shared mass points; exact when M is diagonal by mass points\n"
       "islands: contacts connected through bodies; always exact\n"
       "points-approx: points where it is not exact, for studies of the error\n"
       "points-inner: points inside 'ica' only; exact",
       "MODE[,MODE]");
  list("--threads", a.threads, "Number of threads that solve regions in parallel (default: 1)", "N[,N]");
  command
      .add_option("--matrix", a.matrix,
                  "How to read an M of which the file holds one triangle: symmetric (fill up the other "
                  "triangle) or as-stored (default: symmetric)")
      ->type_name("HOW");
  add_number(command, "--tolerance", a.tolerance,
             {.least = 0.0, .example = "1e-6", .ends = NumberRule::Ends::least_excluded}, "T",
             "Stop when the residual is at most T. The residual is relative and has no unit; see "
             "'signorini list measures' (default: 1e-6)");
  add_integer(command, "--max-iterations", a.max_iterations, {.least = 1, .example = "10000"}, "N",
              "Stop after N iterations (default: 10000)");
  add_number(command, "--time-limit", a.time_limit,
             {.least = 0.0, .example = "60", .ends = NumberRule::Ends::least_excluded}, "S",
             "Stop each solve after S seconds (default: no limit)");
  add_integer(command, "--repetitions", a.repetitions, {.least = 1, .example = "5"}, "R",
              "Solve everything R times; the screen shows median times (default: 1)");
  command
      .add_option("--csv", a.csv, "Write one row per run, with the columns of runs.csv (docs/protocols.md)")
      ->type_name("OUT.csv");
  command
      .add_option(
          "--solution", a.solution,
          "Write the answer (impulses r in N s, velocities u and v in m/s) beside a copy of its problem, "
          "as an FCLib file; needs one file, one step and one solver")
      ->type_name("OUT.hdf5");
  command
      .add_option("--trace", a.trace,
                  "Write convergence curves; they come from separate runs, so timings are not affected")
      ->type_name("OUT.h5");
  command.add_flag("--force", a.force, "Replace existing output files");
  command.add_flag(
      "-v,--verbose", a.verbose,
      "Show a second line for every run: products, sweeps and other work that the solver counted");
  command.add_flag("--require-converged", a.require_converged,
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
      "  signorini solve bucket.h5 --solver pgs\n"
      "  signorini solve bucket.h5 --step 120 --solver pgs,pcg-pgs --regions none,points --threads 1,2\n"
      "  signorini solve problem.hdf5 --solver pgs --set pgs.law=pyramid --tolerance 1e-8\n"
      "  signorini solve *.hdf5 --solver pgs,ca --repetitions 5 --csv runs.csv\n"
      "  signorini solve problem.hdf5 --solver pgs --solution answer.hdf5 --require-converged\n"
      "\n"
      "Output files get their names when they are complete; OUT.csv.partial holds the rows so far, also "
      "after an interruption.\n"
      "With --json: a list with one object per run; its keys are the columns of runs.csv.\n"
      "Exit codes: 0 all runs ended (converged or not); 1 a run failed; 2 wrong command line; 3 a "
      "file cannot be read or written; 4 not converged (with --require-converged); 130 interrupted.");
  auto a = std::make_shared<SolveArguments>();
  declare_options(*command, *a);
  command->callback(
      [&program, a] { program.command = [&program, a] { return SolveCommand(program, *a).run(); }; });
}

}  // namespace signorini
