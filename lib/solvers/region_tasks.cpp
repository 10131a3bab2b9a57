#include "solvers/region_tasks.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/reason.h"
#include "contact/delassus_operator.h"
#include "contact/velocity_scale.h"
#include "regions/contact_graph.h"
#include "regions/region_extractor.h"
#include "solvers/region_schedule.h"
#include "solvers/region_systems.h"
#include "solvers/region_trace.h"

namespace signorini {

namespace {

/// Waking other threads takes about as long, s: 20 µs on a processor of its own, 100 µs on a virtual one. Problems of
/// few blocks give one thread this much of a head start, from their smallest regions on: what is left then is worth
/// sharing.
constexpr double kHeadStart = 100e-6;
constexpr double kSmallProblem = 2000.0;

/// A region of at least this many blocks, and of half of the blocks of all, gets the threads for itself where its
/// solver has use for them: the other regions cannot occupy them.
constexpr double kLargeRegion = 20e3;

/// Contacts that are worth a part of their own in region mode auto: for a solver of W and q, and for one of M and H, whose
/// set-up is longer (docs/notes/measurements.md).
constexpr Index kWorthSweeping = 32, kWorthPreparing = 128;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// From the best outcome to the worst.
int badness(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged:
      return 0;
    case SolveStatus::iteration_limit:
      return 1;
    case SolveStatus::time_limit:
      return 2;
    case SolveStatus::stalled:
      return 3;
    case SolveStatus::diverged:
      return 4;
    case SolveStatus::unsupported:
      return 5;
    case SolveStatus::failed:
      return 6;
  }
  return 6;
}

/// Counters of all regions as those of the whole problem: products, solves and evaluations in units of the whole (a
/// region weighs what it costs), events as they are, sweeps of the region with most.
class WholeWork {
 public:
  void add(const SolveCounters& part, double cost) {
    const long long amounts[] = {part.mass_products, part.direction_products, part.triangular_solves,
                                 part.evaluations};
    for (std::size_t i = 0; i < 4; ++i) weighted_[i] += cost * static_cast<double>(amounts[i]);
    const long long sweeps = std::max(sum_.contact_sweeps, part.contact_sweeps);
    sum_ += part;
    sum_.contact_sweeps = sweeps;
  }
  SolveCounters counters(double cost) const {
    SolveCounters whole = sum_;
    if (!(cost > 0.0)) return whole;
    whole.mass_products = std::llround(weighted_[0] / cost);
    whole.direction_products = std::llround(weighted_[1] / cost);
    whole.triangular_solves = std::llround(weighted_[2] / cost);
    whole.evaluations = std::llround(weighted_[3] / cost);
    return whole;
  }

 private:
  SolveCounters sum_;
  double weighted_[4] = {};
};

std::string region_text(Index region, std::size_t contacts) {
  return fmt::format("region {} ({} contact{})", region, contacts, contacts == 1 ? "" : "s");
}

/// The same kind of error with the region in front.
[[noreturn]] void rethrow_named(const std::exception_ptr& error, const std::string& where) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& e) {
    throw UsageError(where + ": " + e.what());
  } catch (const InputError& e) {
    throw InputError(where + ": " + e.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const InternalError& e) {
    throw InternalError(where + ": " + e.what());
  } catch (const std::exception& e) {
    throw std::runtime_error(where + ": " + reason_of(e));
  }
}

}  // namespace

struct RegionTasks::Impl {
  RegionOptions options;
  std::unique_ptr<Solver> prototype;
  std::optional<TaskArena> arena;  // from the first use of more than one thread on

  RegionPartition partition;
  RegionSchedule schedule;
  std::vector<ContactProblem> problems;  // only of solvers that need more than W and q
  std::vector<std::unique_ptr<Solver>> solvers;
  std::vector<std::string> refusals;  // per region: why its solver cannot take it; mostly empty
  std::vector<double> costs;
  std::vector<double> largest_q;  // m/s
  double velocity_scale = 1.0;
  bool small = false;  // one thread may be done with all regions before the others are awake

  std::vector<double> work;  // impulses of region 0, 1, … one after another
  std::vector<int> limits;   // of iterations, by region; empty: that of the stop rule
  std::vector<SolveReport> reports;
  std::vector<double> seconds;
  std::vector<std::exception_ptr> errors;

  Impl(std::unique_ptr<Solver> solver, RegionOptions region_options)
      : options(region_options), prototype(std::move(solver)) {
    if (options.threads < 1) throw_usage("threads: {} is not at least 1", options.threads);
  }

  std::size_t regions() const { return solvers.size(); }

  RegionPartition split(const ContactProblem& problem) const {
    if (options.mode != RegionMode::automatic) return partition_regions(problem, options.mode);
    const Index least = prototype->works_on_impulses(problem) ? kWorthSweeping : kWorthPreparing;
    if (problem.contacts() < 2 * least) return partition_regions(problem, RegionMode::none);
    return join_small_regions(partition_regions(problem, options.mode), least);
  }

  /// Null for one thread.
  TaskArena* threads() {
    if (options.threads == 1) return nullptr;
    if (!arena) arena.emplace(options.threads);
    return &*arena;
  }

  std::span<double> part(std::size_t region, std::vector<double>& values) const {
    const std::size_t begin = 3 * partition.region_begin[region];
    const std::size_t end = 3 * partition.region_begin[region + 1];
    return std::span<double>(values).subspan(begin, end - begin);
  }

  /// body(region) for every region, by the schedule; the error of the lowest region is thrown with its name.
  template <class Body>
  void for_each_region(Body&& body) {
    std::fill(errors.begin(), errors.end(), nullptr);
    const auto run_task = [&](std::size_t task) {
      for (const Index index : schedule.task(task)) {
        const std::size_t region = index;
        try {
          body(region);
        } catch (...) {
          errors[region] = std::current_exception();
        }
      }
    };
    std::size_t left = schedule.tasks();
    const Stopwatch watch;
    while (left > 0 && (options.threads == 1 || (small && watch.seconds() < kHeadStart))) run_task(--left);
    if (left == 1) {
      run_task(0);
    } else if (left > 1) {
      threads()->for_each_task(left, run_task);
    }
    for (Index i = 0; i < count(errors); ++i) {
      if (errors[i]) rethrow_named(errors[i], region_text(i, partition.region(i).size()));
    }
  }

  void resize(std::size_t count, std::size_t contacts) {
    small = false;
    limits.clear();
    problems.clear();
    solvers.clear();
    solvers.resize(count);
    largest_q.assign(count, 0.0);
    refusals.assign(count, "");
    costs.assign(count, 0.0);
    reports.assign(count, SolveReport{});
    seconds.assign(count, 0.0);
    errors.assign(count, nullptr);
    work.assign(3 * contacts, 0.0);
  }

  StopRule rule_for(std::size_t region, const StopRule& stop, double elapsed) const {
    StopRule own = stop;
    own.velocity_scale = stop.velocity_scale > 0.0 ? stop.velocity_scale : velocity_scale;
    if (!limits.empty()) own.max_iterations = limits[region];
    own.time_limit = std::max(0.0, stop.time_limit - elapsed);
    return own;
  }

  SolveReport solve_region(std::size_t region, const StopRule& stop, std::span<double> r,
                           IterationObserver* observer) {
    if (!refusals[region].empty()) {
      SolveReport report;
      report.status = SolveStatus::unsupported;
      report.message = refusals[region];
      return report;
    }
    return solvers[region]->solve(r, stop, observer);
  }

  SolveReport assemble_report() const {
    SolveReport whole;
    whole.status = SolveStatus::converged;
    whole.own_residual = 0.0;
    double products = 0.0;
    double cost = 0.0;
    WholeWork work_done;
    for (std::size_t i = 0; i < regions(); ++i) {
      const SolveReport& report = reports[i];
      if (badness(report.status) > badness(whole.status)) {
        whole.status = report.status;
        whole.message.clear();
        if (!report.message.empty()) {
          const auto index = static_cast<Index>(i);
          whole.message = region_text(index, partition.region(index).size()) + ": " + report.message;
        }
      }
      whole.iterations = std::max(whole.iterations, report.iterations);
      for (std::size_t p = 0; p < whole.phase_iterations.size(); ++p)
        whole.phase_iterations[p] = std::max(whole.phase_iterations[p], report.phase_iterations[p]);
      // A maximum that stays NaN once a region does not judge itself.
      if (!(report.own_residual <= whole.own_residual) && !std::isnan(whole.own_residual)) {
        whole.own_residual = report.own_residual;
      }
      products += costs[i] * static_cast<double>(report.products);
      cost += costs[i];
      work_done.add(report.counters, costs[i]);
    }
    if (cost > 0.0) whole.products = std::llround(products / cost);
    whole.counters = work_done.counters(cost);
    return whole;
  }

  /// r of the region's contacts, from and to the whole r.
  void gather(std::size_t region, std::span<const double> r, std::span<double> own) const {
    const auto contacts = partition.region(static_cast<Index>(region));
    for (std::size_t j = 0; j < contacts.size(); ++j) {
      std::copy_n(r.data() + 3 * contacts[j], 3, own.data() + 3 * j);
    }
  }
  void scatter(std::size_t region, std::span<const double> own, std::span<double> r) const {
    const auto contacts = partition.region(static_cast<Index>(region));
    for (std::size_t j = 0; j < contacts.size(); ++j) {
      std::copy_n(own.data() + 3 * j, 3, r.data() + 3 * contacts[j]);
    }
  }

  /// Threads inside the solve of the one region that is larger than all others together.
  void share_threads() {
    if (options.threads == 1) return;
    for (std::size_t i = 0; i < regions(); ++i)
      if (gets_threads(i)) solvers[i]->use_arena(threads());
  }

  bool gets_threads(std::size_t region) const {
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    return prototype->traits().parallel && costs[region] >= std::max(kLargeRegion, 0.5 * all);
  }

  bool prepare_together(const ContactProblem& problem);
  void prepare_apart(const ContactProblem& problem);
  void prepare_region(std::size_t i, const ContactProblem& part, TaskArena* helpers = nullptr);
  /// The one region there is, from the problem itself.
  void prepare_whole(const ContactProblem& problem) {
    prepare_region(0, problem, too_small_for_threads(problem) ? nullptr : threads());
  }
  void trace_solve(std::span<double> r, const StopRule& stop, IterationObserver& observer);
};

RegionTasks::RegionTasks(std::unique_ptr<Solver> prototype, RegionOptions options)
    : impl_(std::make_unique<Impl>(std::move(prototype), options)) {}
RegionTasks::~RegionTasks() = default;

std::string_view RegionTasks::name() const { return impl_->prototype->name(); }
std::string RegionTasks::options() const { return impl_->prototype->options(); }
const CommonOptions& RegionTasks::common() const { return impl_->prototype->common(); }
const SolverTraits& RegionTasks::traits() const { return impl_->prototype->traits(); }
std::unique_ptr<Solver> RegionTasks::fresh() const {
  return std::make_unique<RegionTasks>(impl_->prototype->fresh(), impl_->options);
}
void RegionTasks::limit_iterations(std::span<const int> limits) {
  SIGNORINI_CHECK(limits.empty() || limits.size() == impl_->regions());
  impl_->limits.assign(limits.begin(), limits.end());
}
std::string RegionTasks::choice(const ContactProblem& problem) const {
  if (impl_->problems.empty()) return impl_->prototype->choice(problem);
  const std::size_t most = std::max_element(impl_->costs.begin(), impl_->costs.end()) - impl_->costs.begin();
  const std::string why = impl_->prototype->choice(impl_->problems[most]);
  return impl_->regions() == 1 || why.empty() ? why : "largest region: " + why;
}
const RegionPartition& RegionTasks::partition() const { return impl_->partition; }
std::span<const SolveReport> RegionTasks::region_reports() const { return impl_->reports; }
std::span<const double> RegionTasks::region_seconds() const { return impl_->seconds; }
int RegionTasks::threads_used() const { return impl_->arena ? impl_->arena->busiest() : 1; }

std::string RegionTasks::unsupported_reason(const ContactProblem& problem) const {
  RegionPartition partition;
  try {
    partition = impl_->split(problem);
  } catch (const UsageError& error) {
    return error.what();
  }
  std::string reason = impl_->prototype->unsupported_reason(problem);
  if (reason.empty()) return reason;
  // What is too much for the solver as a whole may be possible region by region.
  const RegionExtractor extractor(problem, partition);
  for (Index i = 0; i < partition.regions(); ++i) {
    reason = impl_->prototype->unsupported_reason(extractor.extract(i));
    if (!reason.empty()) return region_text(i, partition.region(i).size()) + ": " + reason;
  }
  return reason;
}

/// Solvers that need W and q only get those of many regions from one assembly. False where that fails: region
/// by region the failure gets a name.
bool RegionTasks::Impl::prepare_together(const ContactProblem& problem) {
  if (!prototype->works_on_impulses(problem) || options.mode == RegionMode::points_approx) return false;
  if (regions() == 1) {
    prepare_whole(problem);
    return true;
  }
  const auto take = [&](Index region, ReducedProblem system) {
    const std::size_t i = region;
    const std::span<const Index> contacts = partition.region(region);
    costs[i] = static_cast<double>(system.W.blocks());
    largest_q[i] = system.q.lpNorm<Eigen::Infinity>();
    std::unique_ptr<Solver> solver = prototype->fresh();
    refusals[i] = solver->island_refusal(count(contacts));
    if (refusals[i].empty()) {
      Vector mu(contacts.size());
      for (std::size_t j = 0; j < contacts.size(); ++j) mu[j] = problem.mu[contacts[j]];
      solver->prepare_island(std::move(system), std::move(mu));
    }
    solvers[i] = std::move(solver);
  };
  try {
    for_each_region_system(problem, partition, too_small_for_threads(problem) ? nullptr : threads(), take);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

/// Extracts, assembles and prepares one region after the other.
void RegionTasks::Impl::prepare_apart(const ContactProblem& problem) {
  const RegionExtractor extractor(problem, partition);
  if (regions() == 1 && problem.has_primal() && count(extractor.nodes(0)) == node_count(problem)) {
    prepare_whole(problem);  // nothing is left out
    return;
  }
  problems.resize(regions());
  for (std::size_t i = 0; i < regions(); ++i)
    costs[i] = static_cast<double>(partition.region(static_cast<Index>(i)).size());
  schedule = schedule_regions(costs, options.threads);
  for_each_region([&](std::size_t i) {
    problems[i] = extractor.extract(static_cast<Index>(i));
    prepare_region(i, problems[i]);
  });
}

void RegionTasks::Impl::prepare_region(std::size_t i, const ContactProblem& part, TaskArena* helpers) {
  costs[i] = predicted_cost(part);
  solvers[i] = prototype->fresh();
  refusals[i] = solvers[i]->unsupported_reason(part);
  if (refusals[i].empty()) {
    solvers[i]->use_arena(helpers);
    solvers[i]->prepare(part);
    solvers[i]->use_arena(nullptr);
  }
  largest_q[i] = refusals[i].empty() ? solvers[i]->largest_free_velocity() : kUnknown;
  if (std::isnan(largest_q[i])) largest_q[i] = assemble_q(part).lpNorm<Eigen::Infinity>();
}

void RegionTasks::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  s.partition = s.split(problem);
  s.resize(s.partition.regions(), problem.contacts());
  if (!s.prepare_together(problem)) s.prepare_apart(problem);
  // U = max |q| over the whole problem
  s.velocity_scale = 0.0;
  for (const double q : s.largest_q) s.velocity_scale = std::max(s.velocity_scale, q);
  s.velocity_scale = velocity_scale_of(s.velocity_scale);
  s.schedule = schedule_regions(s.costs, s.options.threads);
  s.share_threads();
  s.small = std::accumulate(s.costs.begin(), s.costs.end(), 0.0) < kSmallProblem;
}

WorkAndSpan RegionTasks::work_and_span(int cores) const {
  const Impl& s = *impl_;
  const RegionSchedule schedule = schedule_regions(s.costs, cores);
  WorkAndSpan sum;
  std::vector<double> tasks;
  for (std::size_t task = 0; task < schedule.tasks(); ++task) {
    double cost = 0.0;
    for (const Index index : schedule.task(task)) {
      const std::size_t region = index;
      if (!s.gets_threads(region) || !s.refusals[region].empty()) {
        cost += s.costs[region];
        continue;
      }
      const WorkAndSpan own = s.solvers[region]->work_and_span(cores);
      const double scale = s.costs[region] / own.work;  // of its unit to blocks
      sum.work += s.costs[region];
      sum.span += scale * own.span;
      sum.time += scale * own.time;
    }
    if (cost > 0.0) tasks.push_back(cost);
  }
  add_stage(tasks, cores, 0.0, sum);
  return sum;
}

SolveReport RegionTasks::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(r.size() == s.work.size());
  if (s.arena) {
    s.arena->forget_busiest();
    s.arena->begin_alone(s.regions() == 1 ? s.options.head_start : 0.0);
  }
  if (observer != nullptr) {
    s.trace_solve(r, stop, *observer);
    return s.assemble_report();
  }
  const Stopwatch watch;
  s.for_each_region([&](std::size_t i) {
    const double start = watch.seconds();
    const std::span<double> own = s.part(i, s.work);
    s.gather(i, r, own);
    s.reports[i] = s.solve_region(i, s.rule_for(i, stop, start), own, nullptr);
    s.scatter(i, own, r);
    s.seconds[i] = watch.seconds() - start;
  });
  return s.assemble_report();
}

/// Every region runs with its own trace, then the assembled iterates are shown in order. The iterates kept at
/// a time stay within `trace_megabytes` (one iteration at least): for a longer run the regions are solved
/// again, with the same bits, and the next window of iterations is kept.
void RegionTasks::Impl::trace_solve(std::span<double> r, const StopRule& stop, IterationObserver& observer) {
  std::vector<double> final_r;
  std::vector<double> shown(r.begin(), r.end());
  std::vector<RegionTrace> traces(regions());
  std::vector<int> limit(regions(), stop.max_iterations);
  const double bytes = static_cast<double>(std::max<std::size_t>(1, work.size()) * sizeof(double));
  const int window = static_cast<int>(std::clamp(options.trace_megabytes * 1e6 / bytes, 1.0, 1e6));

  int last = 0;
  for (int first = 0; first <= last; first += window) {
    for (RegionTrace& trace : traces) trace.open(first, window);
    const Stopwatch watch;
    for_each_region([&](std::size_t i) {
      const double begin = watch.seconds();
      StopRule own = rule_for(i, stop, begin);
      if (first > 0) {
        if (traces[i].last() < first) return;
        // The clock must not cut a repetition short of what the first run reached.
        own.time_limit = std::numeric_limits<double>::infinity();
        if (reports[i].status == SolveStatus::time_limit) own.max_iterations = limit[i];
      }
      const std::span<double> own_r = part(i, work);
      gather(i, r, own_r);
      SolveReport report = solve_region(i, own, own_r, &traces[i]);
      if (first > 0) return;
      seconds[i] = watch.seconds() - begin;
      reports[i] = std::move(report);
      limit[i] = std::max(0, traces[i].last());
    });
    if (first == 0) final_r = work;
    for (const RegionTrace& trace : traces) last = std::max(last, trace.last());
    replay_regions(partition, traces, final_r, first, std::min(last + 1, first + window), shown, observer);
  }
  for (std::size_t i = 0; i < regions(); ++i) scatter(i, part(i, final_r), r);
}

}  // namespace signorini
