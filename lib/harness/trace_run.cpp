// The protocol `converge`: harness/protocols.h.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "base/reason.h"
#include "harness/protocols.h"
#include "harness/run_outcome.h"
#include "harness/weighed_solve.h"

namespace signorini {
namespace {

struct ContactCounts {
  int active = 0, sliding = 0;
};

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

/// k* of a problem that was solved region by region, and those of the regions.
void settle_regions(const RunTarget& target, const RegionSolver& solver, const RefereeObserver& observer,
                    TracedRun& out) {
  stamp_by_regions(solver, out.trace);
  if (!observer.all_regions_converged()) out.first_iteration.reset();
  // coupled regions may pass below the tolerance on their way to what each of them takes for its answer
  if (misses_by_coupling(out.record.errors, out.record.tolerance, target, solver))
    out.first_iteration.reset();
  if (out.first_iteration) out.region_iterations = observer.first_iterations();
}

/// The row is that of iterate k*.
void take_first(const RefereeObserver& observer, bool apart, TracedRun& out) {
  out.record.status = SolveStatus::converged;
  out.record.iterations =
      out.region_iterations.empty() ? *out.first_iteration : *std::ranges::max_element(out.region_iterations);
  out.record.errors = observer.errors_there();
  if (observer.reached() && !apart) out.record.counters = *observer.reached();
}

/// There is no k*. `used` is what `fill_report` returned.
void say_missed(const RunTarget& target, const RunLimits& limits, const std::string& used,
                RunRecord& record) {
  if (!std::isfinite(record.errors.residual)) {
    record.status = SolveStatus::diverged;
  } else if (record.status == SolveStatus::converged) {
    record.status = SolveStatus::iteration_limit;
  }
  if (record.message != joined(target.note, used)) return;
  const std::string missed = fmt::format("residual {:.1e} not reached within {} iterations", limits.tolerance,
                                         limits.max_iterations);
  set_message(record, target, joined(used, missed));
}

}  // namespace

TracedRun trace_run(const RunTarget& target, PreparedRun& run, const RunLimits& limits) {
  TracedRun out;
  out.record = run.record;
  out.record.protocol = "converge";
  out.record.tolerance = limits.tolerance;
  describe_trace(out.record, limits.tolerance, out.trace);
  if (!run.solver) return out;

  StopRule stop = stop_rule(limits);  // its residual is what inner loops aim at
  stop.fixed_iterations = true;
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
    cut_to_whole_iterations(out.trace);
    return out;
  }
  if (is_cancelled(limits.cancelled)) throw Cancelled();
  if (apart) settle_regions(target, *run.solver, observer, out);
  if (out.first_iteration) {
    take_first(observer, apart, out);
    return out;
  }
  say_missed(target, limits, used, out.record);
  return out;
}

}  // namespace signorini
