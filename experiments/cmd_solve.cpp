// signorini solve: every combination of file × step × solver × regions × threads × repetition, judged by the
// referee.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "harness/environment.h"
#include "harness/protocols.h"
#include "harness/run_table.h"
#include "interrupt.h"
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
  bool require_converged = false, verbose = false;
};

/// What is asked for, checked before any file is read.
struct SolvePlan {
  std::vector<SolverVariant> variants;
  std::vector<RegionMode> modes;
  std::vector<int> threads;
  RunLimits limits;
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
    variant->options[setting.substr(dot + 1, equals - dot - 1)] = setting.substr(equals + 1);
  }
}

SolvePlan make_plan(const SolveArguments& a) {
  SolvePlan plan;
  for (const std::string& name : pieces_of(a.solvers, "--solver")) plan.variants.push_back({name, name, {}});
  apply_settings(a.settings, plan.variants);
  for (const SolverVariant& variant : plan.variants) make_solver(variant.name, variant.options);
  for (const std::string& mode : pieces_of(a.regions, "--regions"))
    plan.modes.push_back(parse_enum<RegionMode>(mode, "--regions"));
  for (const std::string& text : pieces_of(a.threads, "--threads")) {
    const long long threads = parse_integer(text, "--threads");
    if (threads < 1 || threads > 1024) throw_usage("--threads {}: must be between 1 and 1024", threads);
    plan.threads.push_back(static_cast<int>(threads));
  }
  if (!(a.tolerance > 0.0) || a.tolerance == std::numeric_limits<double>::infinity()) {
    throw_usage("--tolerance {}: must be a positive number", a.tolerance);
  }
  if (a.max_iterations < 1) throw_usage("--max-iterations {}: must be at least 1", a.max_iterations);
  if (a.repetitions < 1) throw_usage("--repetitions {}: must be at least 1", a.repetitions);
  if (!(a.time_limit >= 0.0))
    throw_usage("--time-limit {}: must be a positive number of seconds", a.time_limit);
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
      throw_usage("{}: has no step '{}'; it holds {} from {} to {}", file.path().string(), step,
                  file.steps().size(), file.steps().empty() ? "–" : file.steps().front(),
                  file.steps().empty() ? "–" : file.steps().back());
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
                                                       {c.evaluations, "evaluations of states"},
                                                       {c.state_changes, "changes of state"},
                                                       {c.restarts, "restarts"},
                                                       {c.guards, "guards"},
                                                       {c.relinearisations, "re-linearisations"}};
  for (const auto& [count, what] : counted) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "    " : ", ", count, what);
  }
  return text.empty() ? "    nothing counted" : text;
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
    // the solver's sum and the referee's differ in the last bits: 1 % is far above that and far below what
    // matters
    all_reached =
        all_reached && r.status == SolveStatus::converged && r.errors.residual <= 1.01 * r.tolerance;
  }
  std::string text() const {
    std::string out = fmt::format("{} {}: {} converged", runs, runs == 1 ? "run" : "runs", converged);
    if (other > 0) out += fmt::format(", {} did not", other);
    if (unsupported > 0) out += fmt::format(", {} unsupported", unsupported);
    if (failed > 0) out += fmt::format(", {} failed", failed);
    return out;
  }
};

void write_solution(const std::string& path, const ProblemFile& file, const ContactProblem& problem,
                    const Referee& referee, const Vector& r, const RunRecord& last) {
  FclibFile out;
  out.problem = problem;
  out.info.title = file.title();
  out.info.description =
      fmt::format("step {} of {} with the answer of {} ({}), residual {:.3e}", last.step,
                  file.path().filename().string(), last.solver, enum_name(last.status), last.errors.residual);
  out.info.math_info = "normal component first; impulses in N s, velocities in m/s";
  const std::span<const double> values(r.data(), static_cast<std::size_t>(r.size()));
  out.solution = FclibSolution{r, referee.relative_velocity(values), referee.velocity(values)};
  write_fclib(path, out);
}

class SolveCommand {
 public:
  SolveCommand(const Program& program, const SolveArguments& a)
      : a_(a), plan_(make_plan(a)), screen_(a, plan_), provenance_(program.command_line) {
    if (!a.csv.empty()) table_.emplace(a.csv, OpenTable::fresh);
  }

  int run() {
    Progress progress("solving", static_cast<long long>(a_.files.size()));
    for (std::size_t i = 0; i < a_.files.size(); ++i) solve_file(a_.files[i], i, progress);
    progress.clear();
    if (!a_.trace.empty()) write_traces(a_.trace, traces_);
    std::string text = tally_.text();
    for (const std::string& file : {a_.csv, a_.trace, a_.solution}) {
      if (file.empty()) continue;
      write_text_file(file + ".env.json", provenance_.json());
      text += "; " + file;
    }
    say(text);
    if (tally_.failed > 0) return kRunFailed;
    return a_.require_converged && !tally_.all_reached ? kNotConverged : kSuccess;
  }

 private:
  void solve_file(const std::string& path, std::size_t number, Progress& progress) {
    const ProblemFile file(path);
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
      for (const SolverVariant& variant : plan_.variants) {
        for (const RegionMode mode : plan_.modes) {
          for (const int threads : plan_.threads) {
            progress.update(static_cast<long long>(number),
                            fmt::format("{} step {} {}", path, step, variant.label));
            solve_combination(target, variant, mode, threads, progress);
          }
        }
      }
      if (!a_.solution.empty()) write_solution(a_.solution, file, problem, referee, last_, last_record_);
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
      tally_.count(outcome.record);
      rows.push_back(outcome.record);
      last_ = std::move(outcome.r);
      last_record_ = outcome.record;
      if (!a_.trace.empty() && repetition == 0 && run.solver)
        traces_.push_back(trace_run(target, run, plan_.limits).trace);
    }
    progress.clear();
    screen_.show(rows);
  }

  const SolveArguments& a_;
  SolvePlan plan_;
  SolveScreen screen_;
  Provenance provenance_;
  std::optional<RunTable> table_;
  std::vector<ConvergenceTrace> traces_;
  Tally tally_;
  Vector last_;
  RunRecord last_record_;
};

void declare_options(CLI::App& command, SolveArguments& a) {
  const auto list = [&command](const char* names, std::vector<std::string>& values, const char* help,
                               const char* type) {
    return command.add_option(names, values, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  command.add_option("FILE", a.files, "Recordings or FCLib files (local and global)")->required();
  list("--solver", a.solvers, "Solvers, see 'signorini list solvers'", "NAME[,NAME]")->required();
  list("--step", a.steps, "Snapshots of a recording (default: all)", "K[,K]");
  list("--set", a.settings, "An option of a solver; may be repeated", "NAME.KEY=VALUE");
  list("--regions", a.regions, "none, points, islands, points-approx, points-inner (default none)",
       "MODE[,MODE]");
  list("--threads", a.threads, "Threads for the regions (default 1)", "N[,N]");
  command.add_option("--tolerance", a.tolerance, "Residual to reach (default 1e-6)")->type_name("T");
  command.add_option("--max-iterations", a.max_iterations, "Iterations at most (default 10000)")
      ->type_name("N");
  command.add_option("--time-limit", a.time_limit, "Seconds per solve at most (default none)")
      ->type_name("S");
  command
      .add_option("--repetitions", a.repetitions,
                  "Solve everything R times; the screen shows medians (default 1)")
      ->type_name("R");
  command.add_option("--csv", a.csv, "A row for every run, the columns of runs.csv")->type_name("OUT.csv");
  command
      .add_option("--solution", a.solution, "The last answer beside a copy of its problem, as an FCLib file")
      ->type_name("OUT.hdf5");
  command.add_option("--trace", a.trace, "Convergence curves, from runs of their own")->type_name("OUT.h5");
  command.add_flag("-v,--verbose", a.verbose,
                   "A second line for every run: the work that the solver counted");
  command.add_flag("--require-converged", a.require_converged,
                   "Exit with 4 unless every run reached the tolerance by the referee");
}

}  // namespace

void add_solve(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("solve", "Solve recorded problems with any solvers, whole or by regions");
  command->footer(
      "Every combination of file, step, solver, region mode, threads and repetition is one run and one row,\n"
      "failures and unsupported combinations included. Residuals are the referee's, never the solver's own.\n"
      "\n"
      "Examples:\n"
      "  signorini solve bucket.h5 --solver pgs\n"
      "  signorini solve bucket.h5 --step 120 --solver pgs,pcg-pgs --regions none,points --threads 1,2\n"
      "  signorini solve problem.hdf5 --solver pgs --set pgs.law=pyramid --tolerance 1e-8\n"
      "  signorini solve *.hdf5 --solver pgs,ca --repetitions 5 --csv runs.csv\n"
      "  signorini solve problem.hdf5 --solver pgs --solution answer.hdf5 --require-converged");
  auto a = std::make_shared<SolveArguments>();
  declare_options(*command, *a);
  command->callback(
      [&program, a] { program.command = [&program, a] { return SolveCommand(program, *a).run(); }; });
}

}  // namespace signorini
