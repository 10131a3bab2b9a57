#include "harness/protocols.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/available_cpus.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/heap_bytes.h"
#include "base/reason.h"
#include "contact/matrix_note.h"
#include "harness/chosen_method.h"

namespace signorini {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string joined(const std::string& first, const std::string& then) {
  return first.empty() || then.empty() ? first + then : first + "; " + then;
}

/// What the row says of its matrices, and then what happened.
void set_message(RunRecord& record, const RunTarget& target, std::string text) {
  record.message = joined(target.note, one_line(std::move(text)));
}

void fail(RunRecord& record, const RunTarget& target, SolveStatus status, std::string message) {
  record.status = status;
  set_message(record, target, std::move(message));
  record.errors = Residuals{};
}

/// "cg=12 gs=30"; empty for a solver of one kind of iterations.
std::string phases_text(const SolverTraits& traits, const SolveReport& report) {
  std::string text;
  for (std::size_t p = 0; p < traits.phases.size(); ++p) {
    if (traits.phases[p].empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", traits.phases[p], report.phase_iterations[p]);
  }
  return text;
}

/// Returns what `chosen_method` says.
std::string fill_report(RunRecord& record, const RunTarget& target, const RegionSolver& solver,
                        const SolveReport& report) {
  record.status = report.status;
  record.iterations = report.iterations;
  record.phases = phases_text(solver.traits(), report);
  record.products = report.products;
  record.counters = report.counters;
  std::string used = chosen_method(*target.problem, solver, report);
  set_message(record, target, used.empty() ? report.message : used);
  return used;
}

/// Above the tolerance by the referee, with regions that W couples.
bool misses_by_coupling(const Residuals& errors, double tolerance, const RunTarget& target,
                        const RegionSolver& solver) {
  return !meets(errors.residual, tolerance) && !is_exact(*target.problem, solver.partition().mode);
}

/// Regions that W couples meet the tolerance one by one and not together: only the referee can tell.
void judge_coupled_regions(RunRecord& record, const RunTarget& target, const RegionSolver& solver) {
  if (!solver.solves_apart() || record.status != SolveStatus::converged) return;
  if (!misses_by_coupling(record.errors, record.tolerance, target, solver)) return;
  record.status = SolveStatus::stalled;
  set_message(
      record, target,
      fmt::format("every region converged, but the regions are coupled: residual {:.3g} by the referee",
                  record.errors.residual));
}

struct ContactCounts {
  int active = 0, sliding = 0;
};

void fill_use(RunRecord& record, const CpuUse& use) {
  record.cpu_share = use.cpu_share();
  record.waited_share = use.waited_share();
  record.involuntary_switches = use.involuntary;
}

/// On the friction bound: within a relative 1e-9, a few hundred roundings above an exact projection.
ContactCounts count_contacts(const ContactProblem& problem, std::span<const double> r, FrictionLaw law) {
  ContactCounts counts;
  for (Index k = 0; k < problem.contacts(); ++k) {
    const std::size_t row = 3 * k;
    if (!(r[row] > 0.0)) continue;
    ++counts.active;
    const double tangent = with_law(law, [&](auto type) {
      return decltype(type)::tangent_size({r[row + 1], r[row + 2]});
    });
    if (tangent >= problem.mu[k] * r[row] * (1.0 - 1e-9)) ++counts.sliding;
  }
  return counts;
}

/// Asks the referee after every iteration until the curve is told: well below the tolerance, or twice as far
/// as k*.
class RefereeObserver : public IterationObserver {
 public:
  RefereeObserver(const RunTarget& target, LawSpec law, const RegionPartition* partition, double tolerance,
                  TracedRun& out)
      : target_(target), law_(law), partition_(partition), tolerance_(tolerance), out_(out) {
    if (partition_ != nullptr) {
      errors_.resize(target.problem->contacts());
      first_.assign(partition_->regions(), -1);
    }
  }

  void on_progress(int, const IterationProgress& progress) override { progress_ = progress; }

  void on_iteration(int iteration, std::span<const double> r, std::string_view) override {
    const double stamp = watch_.seconds() - paused_;
    if (told_) return;
    keep_progress();
    const Residuals errors = target_.referee->measure(r, law_);
    const ContactCounts counts = count_contacts(*target_.problem, r, law_.law);
    ConvergenceTrace& trace = out_.trace;
    trace.iteration.push_back(iteration);
    trace.seconds.push_back(stamp);
    trace.residual.push_back(errors.residual);
    trace.natural_map.push_back(errors.natural_map);
    trace.active.push_back(counts.active);
    trace.sliding.push_back(counts.sliding);
    if (!out_.first_iteration && errors.residual <= tolerance_) {
      out_.first_iteration = iteration;
      errors_there_ = errors;
      if (progress_) reached_ = progress_->counters;
    }
    if (partition_ != nullptr) watch_regions(iteration, r);
    told_ = out_.first_iteration && regions_left_ == 0 &&
            (errors.residual <= 1e-3 * tolerance_ || iteration >= 2 * *out_.first_iteration + 10);
    paused_ += watch_.seconds() - paused_ - stamp;
  }

  Stopwatch& watch() { return watch_; }
  double referee_seconds() const { return paused_; }
  const std::vector<int>& first_iterations() const { return first_; }
  /// Work up to k*; nothing where the solver does not tell, or k* was not reached.
  const std::optional<SolveCounters>& reached() const { return reached_; }
  /// Of the iterate k*.
  const Residuals& errors_there() const { return errors_there_; }
  bool all_regions_converged() const { return regions_left_ == 0; }
  void expect_regions() { regions_left_ = static_cast<int>(first_.size()); }

 private:
  /// Columns of a solver that tells nothing stay empty; iterates before it first tells (the start) have no
  /// norms.
  void keep_progress() {
    if (!progress_) return;
    ConvergenceTrace& trace = out_.trace;
    const auto add = [&trace](auto& column, auto value, auto none) {
      column.resize(trace.iteration.size(), none);
      column.push_back(value);
    };
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const auto count = [](long long n) { return static_cast<int>(std::min<long long>(n, 1 << 30)); };
    add(trace.plain, progress_->plain, kNone);
    add(trace.preconditioned, progress_->preconditioned, kNone);
    add(trace.constraint, progress_->constraint, kNone);
    add(trace.state_changes, count(progress_->counters.state_changes), 0);
    add(trace.restarts, count(progress_->counters.restarts), 0);
    add(trace.relinearisations, count(progress_->counters.relinearisations), 0);
    add(trace.guards, count(progress_->counters.guards), 0);
    add(trace.contact_sweeps, count(progress_->counters.contact_sweeps), 0);
  }

  void watch_regions(int iteration, std::span<const double> r) {
    if (regions_left_ == 0) return;
    target_.referee->contact_errors(r, law_, errors_);
    for (Index region = 0; region < partition_->regions(); ++region) {
      int& first = first_[region];
      if (first >= 0) continue;
      double worst = 0.0;
      for (const Index k : partition_->region(region)) {
        const double error = errors_[k];
        worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
      }
      if (worst > tolerance_) continue;
      first = iteration;
      --regions_left_;
    }
  }

  const RunTarget& target_;
  LawSpec law_;
  const RegionPartition* partition_;
  double tolerance_;
  TracedRun& out_;
  std::vector<double> errors_;
  std::vector<int> first_;
  int regions_left_ = 0;
  bool told_ = false;
  std::optional<IterationProgress> progress_;
  std::optional<SolveCounters> reached_;
  Residuals errors_there_;
  Stopwatch watch_;
  double paused_ = 0.0;
};

/// Regions are replayed after they were solved, so the stamps of a replay mean nothing. On one thread the
/// assembled iterate k costs Σ_R t_R min(1, k / n_R), t_R the seconds and n_R the iterations of region R.
void stamp_by_regions(const RegionSolver& tasks, ConvergenceTrace& trace) {
  const auto reports = tasks.region_reports();
  const auto seconds = tasks.region_seconds();
  for (std::size_t i = 0; i < trace.iteration.size(); ++i) {
    double sum = 0.0;
    for (std::size_t region = 0; region < seconds.size(); ++region) {
      const int n = std::max(1, reports[region].iterations);
      sum += seconds[region] * std::min(1.0, static_cast<double>(trace.iteration[i]) / n);
    }
    trace.seconds[i] = sum;
  }
}

void describe_trace(const RunRecord& record, double tolerance, ConvergenceTrace& trace) {
  trace.file = record.file;
  trace.step = record.step;
  trace.solver = record.solver;
  trace.options = record.options;
  trace.law = record.law;
  trace.region_mode = record.region_mode;
  trace.threads = record.threads;
  trace.tolerance = tolerance;
}

/// Memory of the curves that a traced run fills.
long long bytes_of(const ConvergenceTrace& trace) {
  const auto held = [](const auto&... columns) {
    return (static_cast<long long>(columns.capacity() * sizeof(columns[0])) + ...);
  };
  return held(trace.iteration, trace.seconds, trace.residual, trace.natural_map, trace.active, trace.sliding,
              trace.plain, trace.preconditioned, trace.constraint, trace.state_changes, trace.restarts,
              trace.relinearisations, trace.guards, trace.contact_sweeps);
}

struct WeighedSolve {
  SolveReport report;
  double seconds = 0.0;  ///< of the solve alone: to count the heap may take longer than a small solve
  CpuUse use;
};

/// A solve, with what the solver has kept of it added to the memory that it holds: factors of matrices that the
/// iteration makes, W formed on the way. What the observer adds to `trace` is not the solver's; its watch `stamps` begins with
/// the solve.
WeighedSolve solve_weighed(PreparedRun& run, std::span<double> r, const StopRule& stop,
                           IterationObserver* observer, const ConvergenceTrace* trace = nullptr,
                           Stopwatch* stamps = nullptr) {
  const long long before = heap_bytes(), curves = trace != nullptr ? bytes_of(*trace) : 0;
  WeighedSolve solve;
  const CpuUse used = cpu_use();
  const Stopwatch watch;
  if (stamps != nullptr) stamps->restart();
  solve.report = run.solver->solve(r, stop, observer);
  solve.seconds = watch.seconds();
  solve.use = cpu_use() - used;
  if (run.record.solver_bytes < 0) return solve;
  const long long more = trace != nullptr ? bytes_of(*trace) - curves : 0;
  run.record.solver_bytes += heap_bytes() - before - more;
  return solve;
}

/// What was traced without reaching the tolerance; of a run that could not be prepared, why.
RunRecord censored_row(const TimedRun& member, double tolerance) {
  RunRecord record = member.run->solver ? member.traced->record : member.run->record;
  record.protocol = "time";
  record.tolerance = tolerance;
  record.threads = member.run->record.threads;
  record.setup_seconds = member.run->record.setup_seconds;
  return record;
}

/// A solve of k* iterations that is timed again and again.
struct TimedJob {
  RunRecord record;
  RegionSolver* solver;
  StopRule stop;
  Vector start, r;
  std::optional<std::string> failure;  ///< what a solve threw; the traced one did not

  TimedJob(const RunTarget& target, const TimedRun& member, const RunLimits& limits)
      : record(member.run->record),
        solver(member.run->solver.get()),
        start(start_values(*solver, *target.problem)),
        r(start) {
    record.protocol = "time";
    record.tolerance = limits.tolerance;
    stop.residual = limits.tolerance;
    stop.fixed_iterations = true;
    stop.max_iterations = member.traced->record.iterations;
    stop.time_limit = limits.time_limit;
    stop.cancelled = limits.cancelled;
    solver->limit_iterations(member.traced->region_iterations);
  }

  /// One solve to warm up, to judge the answer and to know how long it takes: s.
  double warm_up(const RunTarget& target, PreparedRun& run) {
    WeighedSolve solve;
    try {
      solve = solve_weighed(run, span_of(r), stop, nullptr);
    } catch (const std::exception& error) {
      failure = error.what();
      return 0.0;  // nothing is timed then
    }
    record.solver_bytes = run.record.solver_bytes;
    if (is_cancelled(stop.cancelled)) return solve.seconds;
    const std::string used = fill_report(record, target, *solver, solve.report);
    record.errors = target.referee->measure(span_of(std::as_const(r)), solver->common().spec());
    judge(target, used);
    return solve.seconds;
  }

  void judge(const RunTarget& target, const std::string& used) {
    // a region's k* was found from the assembled iterate: roundings of the last bits may lift it just above
    if (record.errors.residual <= record.tolerance * (1.0 + 1e-6)) {
      record.status = SolveStatus::converged;
      set_message(record, target, used);
      return;
    }
    record.status = SolveStatus::iteration_limit;
    const std::string left =
        fmt::format("k* = {} iterations left residual {:.2e}", stop.max_iterations, record.errors.residual);
    set_message(record, target, joined(used, left));
  }

  void solve_again() {
    try {
      static_cast<void>(solver->solve(span_of(r), stop, nullptr));
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }

  RunRecord failed_row(const RunTarget& target) const {
    RunRecord row = record;
    fail(row, target, SolveStatus::failed, *failure);
    return row;
  }

  /// A row for every repetition, or one that says how it failed.
  void append_rows(const RunTarget& target, const std::vector<TimedRepetition>& times,
                   std::vector<RunRecord>& rows) const {
    if (failure) return rows.push_back(failed_row(target));
    for (std::size_t repetition = 0; repetition < times.size(); ++repetition) {
      rows.push_back(record);
      rows.back().repetition = static_cast<int>(repetition);
      rows.back().solve_seconds = times[repetition].seconds;
      fill_use(rows.back(), times[repetition].use);
    }
  }
};

}  // namespace

bool meets(double residual, double tolerance) { return residual <= 1.01 * tolerance; }

Referee make_referee(const ContactProblem& problem) {
  return Referee(problem, partition_regions(problem, RegionMode::islands).label);
}

RunTarget make_target(const ContactProblem& problem, const Referee& referee, std::string experiment,
                      std::string file, std::string step) {
  RunTarget target;
  target.problem = &problem;
  target.referee = &referee;
  target.facts.experiment = std::move(experiment);
  target.facts.file = std::move(file);
  target.facts.step = std::move(step);
  target.facts.contacts = problem.contacts();
  target.facts.dofs = problem.own_dofs();
  target.note = target.facts.message = matrix_note(problem);
  return target;
}

PreparedRun prepare_run(const RunTarget& target, const SolverVariant& variant, RegionMode mode, int threads) {
  RunRecord record = target.facts;
  record.solver = variant.name;
  record.label = variant.label;
  record.region_mode = enum_name(mode);
  record.threads = threads;
  return prepare_run(target, make_region_solver(variant.name, variant.options, {mode, threads}),
                     std::move(record));
}

PreparedRun prepare_run(const RunTarget& target, std::unique_ptr<RegionSolver> solver, RunRecord record) {
  PreparedRun run{std::move(solver), std::move(record)};
  run.record.solver = run.solver->name();
  run.record.options = run.solver->options();
  run.record.law = enum_name(run.solver->common().law);
  run.record.regions = target.problem->contacts() > 0 ? 1 : 0;
  run.record.largest_region = target.problem->contacts();
  try {
    std::string reason = thread_refusal(run.record.threads);
    if (reason.empty()) reason = run.solver->unsupported_reason(*target.problem);
    if (!reason.empty()) {
      fail(run.record, target, SolveStatus::unsupported, reason);
    } else {
      const long long held = heap_bytes();
      const Stopwatch watch;
      run.solver->prepare(*target.problem);
      run.record.setup_seconds = watch.seconds();
      if (held >= 0) run.record.solver_bytes = heap_bytes() - held;
      run.record.regions = run.solver->partition().regions();
      run.record.largest_region = run.solver->partition().largest();
      run.record.speedup_8 = run.solver->work_and_span(8).speedup();
      run.record.speedup_64 = run.solver->work_and_span(64).speedup();
      run.record.speedup_256 = run.solver->work_and_span(256).speedup();
      return run;
    }
  } catch (const UsageError& error) {
    fail(run.record, target, SolveStatus::unsupported, error.what());
  } catch (const std::exception& error) {
    fail(run.record, target, SolveStatus::failed, reason_of(error));
  }
  run.solver.reset();
  return run;
}

int repetitions_of(double seconds, int repetitions) {
  if (!(seconds * repetitions > kRepeatedFor)) return repetitions;
  const int most = static_cast<int>(kRepeatedFor / seconds);
  return std::max(1, most % 2 == 0 ? most - 1 : most);
}

void repeat_setup(PreparedRun& run, int repetitions, const std::function<double()>& again) {
  if (!run.solver) return;
  std::vector<double> seconds{run.record.setup_seconds};
  repetitions = repetitions_of(seconds[0], repetitions);
  while (std::ssize(seconds) < repetitions) seconds.push_back(again());
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  run.record.setup_seconds = *middle;
}

void repeat_in_turns(std::span<const RepeatedRun> runs, int repetitions) {
  struct Made {
    std::vector<RunRecord> rows;
    int wanted = 1;
  };
  const auto seconds = [](const RunRecord& run) { return run.setup_seconds + run.solve_seconds; };
  std::vector<Made> made(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& first = *runs[i].row;
    made[i].rows.push_back(first);
    const bool ran = first.status != SolveStatus::unsupported && first.status != SolveStatus::failed;
    if (ran) made[i].wanted = repetitions_of(seconds(first), repetitions);
  }
  for (int round = 1; round < repetitions; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (round >= made[i].wanted) continue;
      if (seconds(made[i].rows.front()) < kWarmBelow) runs[i].again();
      made[i].rows.push_back(runs[i].again());
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<RunRecord>& rows = made[i].rows;
    const auto middle = rows.begin() + std::ssize(rows) / 2;
    std::nth_element(rows.begin(), middle, rows.end(), [&](const RunRecord& one, const RunRecord& other) {
      return seconds(one) < seconds(other);
    });
    *runs[i].row = std::move(*middle);
  }
}

Vector start_values(const Solver& solver, const ContactProblem& problem) {
  const Index size = 3 * problem.contacts();
  if (solver.common().warm_start && problem.warm_start.size() == size) return problem.warm_start;
  return Vector::Zero(size);
}

bool is_answer(const SolveOutcome& outcome) {
  const SolveStatus status = outcome.record.status;
  return status != SolveStatus::unsupported && status != SolveStatus::failed && outcome.r.allFinite();
}

SolveOutcome solve_self_stopped(const RunTarget& target, PreparedRun& run, const RunLimits& limits,
                                IterationObserver* observer) {
  SolveOutcome out{run.record, Vector::Zero(3 * target.problem->contacts())};
  out.record.protocol = "self-stopped";
  out.record.tolerance = limits.tolerance;
  if (!run.solver) return out;
  StopRule stop;
  stop.residual = limits.tolerance;
  stop.max_iterations = limits.max_iterations;
  stop.time_limit = limits.time_limit;
  stop.cancelled = limits.cancelled;
  run.solver->limit_iterations({});
  out.r = start_values(*run.solver, *target.problem);
  try {
    const WeighedSolve solve = solve_weighed(run, span_of(out.r), stop, observer);
    out.record.solve_seconds = solve.seconds;
    out.record.solver_bytes = run.record.solver_bytes;
    fill_use(out.record, solve.use);
    fill_report(out.record, target, *run.solver, solve.report);
    out.record.errors = target.referee->measure(span_of(std::as_const(out.r)), run.solver->common().spec());
    judge_coupled_regions(out.record, target, *run.solver);
  } catch (const std::exception& error) {
    fail(out.record, target, SolveStatus::failed, reason_of(error));
  }
  if (is_cancelled(limits.cancelled)) throw Cancelled();
  return out;
}

TracedRun trace_run(const RunTarget& target, PreparedRun& run, const RunLimits& limits) {
  TracedRun out;
  out.record = run.record;
  out.record.protocol = "converge";
  out.record.tolerance = limits.tolerance;
  describe_trace(out.record, limits.tolerance, out.trace);
  if (!run.solver) return out;

  StopRule stop;
  stop.residual = limits.tolerance;  // what inner loops aim at
  stop.fixed_iterations = true;
  stop.max_iterations = limits.max_iterations;
  stop.time_limit = limits.time_limit;
  stop.cancelled = limits.cancelled;
  const LawSpec law = run.solver->common().spec();
  const bool apart = run.solver->solves_apart();
  run.solver->limit_iterations({});
  RefereeObserver observer(target, law, apart ? &run.solver->partition() : nullptr, limits.tolerance, out);
  observer.expect_regions();
  Vector r = start_values(*run.solver, *target.problem);
  std::string used;
  try {
    const WeighedSolve solve = solve_weighed(run, span_of(r), stop, &observer, &out.trace, &observer.watch());
    out.record.solver_bytes = run.record.solver_bytes;
    out.record.solve_seconds = std::max(0.0, solve.seconds - observer.referee_seconds());
    used = fill_report(out.record, target, *run.solver, solve.report);
    out.record.errors = target.referee->measure(span_of(std::as_const(r)), law);
  } catch (const std::exception& error) {
    fail(out.record, target, SolveStatus::failed, reason_of(error));
    return out;
  }
  if (is_cancelled(limits.cancelled)) throw Cancelled();
  if (apart) {
    stamp_by_regions(*run.solver, out.trace);
    if (!observer.all_regions_converged()) out.first_iteration.reset();
    // coupled regions may pass below the tolerance on their way to what each of them takes for its answer
    if (misses_by_coupling(out.record.errors, limits.tolerance, target, *run.solver))
      out.first_iteration.reset();
    if (out.first_iteration) out.region_iterations = observer.first_iterations();
  }
  if (out.first_iteration) {
    out.record.status = SolveStatus::converged;
    out.record.iterations = *out.first_iteration;
    out.record.errors = observer.errors_there();
    if (observer.reached() && !apart) out.record.counters = *observer.reached();
    if (!out.region_iterations.empty()) {
      out.record.iterations = *std::max_element(out.region_iterations.begin(), out.region_iterations.end());
    }
  } else if (!std::isfinite(out.record.errors.residual)) {
    out.record.status = SolveStatus::diverged;
  } else if (out.record.status == SolveStatus::converged) {
    out.record.status = SolveStatus::iteration_limit;
  }
  if (!out.first_iteration && out.record.message == joined(target.note, used)) {
    const std::string missed = fmt::format("residual {:.1e} not reached within {} iterations",
                                           limits.tolerance, limits.max_iterations);
    set_message(out.record, target, joined(used, missed));
  }
  return out;
}

std::vector<RunRecord> time_runs(const RunTarget& target, std::span<const TimedRun> group,
                                 const RunLimits& limits, const TimerOptions& options) {
  std::vector<RunRecord> rows;
  std::vector<std::unique_ptr<TimedJob>> jobs;
  std::vector<TimedTask> tasks;
  for (const TimedRun& member : group) {
    if (!member.run->solver || !member.traced->first_iteration) {
      rows.push_back(censored_row(member, limits.tolerance));
      continue;
    }
    auto job = std::make_unique<TimedJob>(target, member, limits);
    const double seconds = job->warm_up(target, *member.run);
    if (is_cancelled(limits.cancelled)) throw Cancelled();
    if (job->failure) {
      rows.push_back(job->failed_row(target));
      continue;
    }
    TimedJob* j = job.get();
    tasks.push_back({j->record.region_mode, [j] { j->r = j->start; }, [j] { j->solve_again(); }, seconds});
    jobs.push_back(std::move(job));
  }
  const std::vector<std::vector<TimedRepetition>> times = time_interleaved(tasks, options);
  if (is_cancelled(limits.cancelled)) throw Cancelled();
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i]->append_rows(target, times[i], rows);
  return rows;
}

}  // namespace signorini
