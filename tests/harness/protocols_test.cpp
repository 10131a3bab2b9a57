#include "harness/protocols.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <span>
#include <thread>

#include "base/available_cpus.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/heap_bytes.h"
#include "base/text.h"
#include "contact/coupled_regions.h"
#include "contact/planted_problem.h"
#include "solvers/registry.h"

namespace signorini::protocols_test {
namespace {

void sleep_milliseconds(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

/// One call of SleepSolver::solve.
struct Call {
  char name = ' ';
  int iterations = 0;
  bool fixed = false, observed = false;
};

/// What one or several SleepSolvers were asked to do, in order.
struct Journal {
  int set_ups = 0;
  std::vector<Call> solves;
};

struct SleepPlan {
  double setup_ms = 0.0, iteration_ms = 0.0;
  int converged_after = 3;     ///< from this iteration on r is the planted answer
  Journal* journal = nullptr;  ///< filled where given, under `name`
  char name = 'a';
  std::size_t numbers = 0;  ///< allocated by the set-up
};

/// Takes a known time for everything and walks to a known answer: what the timers report can be checked.
class SleepSolver : public Solver {
 public:
  SleepSolver(SleepPlan plan, Vector answer) : plan_(plan), answer_(std::move(answer)) {}
  std::string_view name() const override { return "sleep"; }
  std::string options() const override { return "law=cone"; }
  const CommonOptions& common() const override { return common_; }
  const SolverTraits& traits() const override { return traits_; }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<SleepSolver>(plan_, answer_); }
  std::string unsupported_reason(const ContactProblem&) const override { return {}; }
  void prepare(const ContactProblem&) override {
    if (plan_.journal != nullptr) ++plan_.journal->set_ups;
    held_.assign(plan_.numbers, 1.0);
    sleep_milliseconds(plan_.setup_ms);
  }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    SolveReport report;
    if (observer != nullptr) observer->on_iteration(0, r, "");
    for (int k = 1; k <= stop.max_iterations; ++k) {
      sleep_milliseconds(plan_.iteration_ms);
      const double share = k >= plan_.converged_after ? 1.0 : 0.5;
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = share * answer_[i];
      if (observer != nullptr) {
        IterationProgress progress;
        progress.plain = 1.0 / k;
        progress.counters.mass_products = 2LL * k;
        progress.counters.restarts = k / 2;
        progress.counters.contact_sweeps = 3LL * k;
        observer->on_progress(k, progress);
        observer->on_iteration(k, r, "");
      }
      report.counters.mass_products = 2LL * k;
      report.iterations = k;
      report.status = SolveStatus::iteration_limit;
      if (!stop.fixed_iterations && k >= plan_.converged_after) {
        report.status = SolveStatus::converged;
        break;
      }
    }
    if (plan_.journal != nullptr)
      plan_.journal->solves.push_back(
          {plan_.name, report.iterations, stop.fixed_iterations, observer != nullptr});
    return report;
  }

 private:
  SleepPlan plan_;
  std::vector<double> held_;
  Vector answer_;
  SolverTraits traits_{.needs = SolverNeeds::either};
  CommonOptions common_;
};

class ProtocolTest : public testing::Test {
 protected:
  ProtocolTest() : planted_(make_planted_problem({})), referee_(planted_.problem) {
    target_ = make_target(planted_.problem, referee_, "trial", "planted", "0");
  }
  PreparedRun sleeper(SleepPlan plan) const {
    RunRecord record = target_.facts;
    record.region_mode = "none";
    return prepare_run(
        target_, std::make_unique<UncutProblem>(std::make_unique<SleepSolver>(plan, planted_.r)), record);
  }

  PlantedProblem planted_;
  Referee referee_;
  RunTarget target_;
};

// A sleep never ends early, so lower bounds of times are exact. No test bounds a time from above, which a busy
// machine would break: what was counted in is read from the journal of calls.

/// Rows tell the memory that a solver holds; counting a heap of many free pieces takes milliseconds, the solve nothing.
TEST_F(ProtocolTest, CountingMemoryIsNoPartOfTheSolve) {
  std::vector<std::unique_ptr<double[]>> pieces;
  for (int i = 0; i < 400'000; ++i) pieces.push_back(std::make_unique<double[]>(32 + i % 64));
  for (std::size_t i = 0; i < pieces.size(); i += 2) pieces[i].reset();
  const Stopwatch watch;
  if (heap_bytes() < 0) GTEST_SKIP() << "the allocator does not tell what it holds";
  const double counting = watch.seconds();
  if (counting < 1e-3) GTEST_SKIP() << "this heap is counted in " << counting << " s";
  PreparedRun run = sleeper({.iteration_ms = 0.0});
  const SolveOutcome outcome = solve_self_stopped(target_, run, {});
  EXPECT_EQ(outcome.record.status, SolveStatus::converged);
  EXPECT_LT(outcome.record.solve_seconds, 0.5 * counting);
  PreparedRun traced = sleeper({.iteration_ms = 0.0});
  const TracedRun curve = trace_run(target_, traced, {});
  ASSERT_FALSE(curve.trace.seconds.empty());
  EXPECT_LT(curve.trace.seconds.front(), 0.5 * counting);
}

/// An island is judged as the problem that it is alone.
TEST(MakeReferee, IslandResidualIsThatOfTheWorstIslandAlone) {
  for (const double stiffness : {0.0, 1.0}) {
    PlantedProblem planted = make_planted_problem({.regions = 5, .stiffness = stiffness});
    Vector r = 0.9 * planted.r;
    const LawSpec law{FrictionLaw::cone, PyramidFrame::fixed};
    const RegionPartition islands = partition_regions(planted.problem, RegionMode::islands);
    ASSERT_GT(islands.regions(), 1);
    double worst = 0.0;
    for (Index i = 0; i < islands.regions(); ++i) {
      std::vector<double> own;
      for (const Index k : islands.region(i)) own.insert(own.end(), r.data() + 3 * k, r.data() + 3 * k + 3);
      const ContactProblem alone = extract_region(planted.problem, islands, i);
      worst = std::max(worst, Referee(alone).measure(own, law).residual);
    }
    const Residuals found = make_referee(planted.problem).measure(span_of(r), law);
    EXPECT_GE(found.island_residual, found.residual);
    // the same sums over other rows of M: some roundings of numbers of order one
    EXPECT_NEAR(found.island_residual, worst, 1e-12);
  }
}

TEST_F(ProtocolTest, SetupIsTimedApartFromSolve) {
  const Stopwatch watch;
  PreparedRun run = sleeper({.setup_ms = 40.0, .iteration_ms = 1.0});
  const SolveOutcome outcome = solve_self_stopped(target_, run, {});
  const double elapsed = watch.seconds();
  EXPECT_GE(outcome.record.setup_seconds, 0.040);
  EXPECT_GE(outcome.record.solve_seconds, 0.003);
  EXPECT_LE(outcome.record.setup_seconds + outcome.record.solve_seconds, elapsed)
      << "a part of the set-up was counted twice";
  EXPECT_EQ(outcome.record.status, SolveStatus::converged);
  EXPECT_EQ(outcome.record.iterations, 3);
  EXPECT_LE(outcome.record.errors.residual, 1e-12);
  EXPECT_EQ(outcome.record.protocol, "self-stopped");
}

TEST_F(ProtocolTest, MemoryIsWhatTheSetUpHolds) {
  if (heap_bytes() <= 0) GTEST_SKIP() << "this allocator does not tell";
  constexpr long long kNumbers = 1'000'000, kSlack = 200'000;
  const long long nothing = sleeper({}).record.solver_bytes;
  const long long much = sleeper({.numbers = kNumbers}).record.solver_bytes;
  EXPECT_LE(std::abs(nothing), kSlack);
  EXPECT_NEAR(static_cast<double>(much), 8.0 * kNumbers, kSlack);
}

/// Problems on which W, its factors and those of M are far larger than what heap_bytes.h cannot see.
class SolverMemory : public testing::Test {
 protected:
  static constexpr int kContacts = 200;
  static constexpr double kSlack = 200'000;
  SolverMemory()
      : planted_(make_planted_problem({.contacts = kContacts, .stiffness = 1.0})),
        referee_(planted_.problem) {
    target_ = make_target(planted_.problem, referee_, "trial", "planted", "0");
  }
  PreparedRun prepared(const char* name) const {
    return prepare_run(target_, {name, name, {}}, RegionMode::none, 1);
  }
  static double given_back(PreparedRun& run) {
    const long long held = heap_bytes();
    run.solver.reset();
    return static_cast<double>(held - heap_bytes());
  }

  PlantedProblem planted_;
  Referee referee_;
  RunTarget target_;
  RunLimits limits_{.tolerance = 1e-10, .max_iterations = 40};
};

TEST_F(SolverMemory, IsWhatTheSolverGivesBackInTheEnd) {
  if (heap_bytes() <= 0) GTEST_SKIP() << "this allocator does not tell";
  for (const char* name :
       {"pgs", "nsgs",    "nncg",        "anderson",      "pcg",         "ca",  "apgd",        "spg",
        "fbf", "admm",    "admm-global", "newton",        "prox-newton", "ipm", "body-newton", "sap",
        "ica", "cr-full", "minres",      "sp-active-set", "auto"}) {
    PreparedRun run = prepared(name);
    const RunRecord alone = solve_self_stopped(target_, run, limits_).record;
    EXPECT_NEAR(static_cast<double>(alone.solver_bytes), given_back(run), kSlack) << name;
    run = prepared(name);
    const TracedRun traced = trace_run(target_, run, limits_);
    EXPECT_NEAR(static_cast<double>(traced.record.solver_bytes), given_back(run), kSlack)
        << name << ", traced";
  }
}

/// A connected body couples all contacts: W has all its blocks, and the matrices of Newton steps all their entries.
TEST_F(SolverMemory, HoldsWAndTheFactorsThatTheIterationMakes) {
  if (heap_bytes() <= 0) GTEST_SKIP() << "this allocator does not tell";
  constexpr double kW = 72.0 * kContacts * kContacts;
  for (const char* name : {"pgs", "nsgs", "nncg", "anderson", "apgd", "spg", "fbf"}) {
    PreparedRun run = prepared(name);
    EXPECT_GE(static_cast<double>(run.record.solver_bytes), kW) << name;
  }
  Index closed = 0;
  for (Index k = 0; k < kContacts; ++k) closed += planted_.r[3 * k] > 0.0 ? 1 : 0;
  const double factor = 72.0 * closed * closed;
  ASSERT_GT(factor, 5.0 * kSlack);
  for (const char* name : {"newton", "prox-newton", "ipm"}) {
    PreparedRun run = prepared(name);
    const double before = static_cast<double>(run.record.solver_bytes);
    EXPECT_GE(before, kW) << name;
    const RunRecord solved = solve_self_stopped(target_, run, limits_).record;
    EXPECT_EQ(solved.status, SolveStatus::converged) << name;
    EXPECT_GE(static_cast<double>(solved.solver_bytes) - before, factor) << name;
  }
  // W + t S and its triangle, all 3×3 blocks, beside W
  PreparedRun run = prepared("admm");
  EXPECT_GE(static_cast<double>(run.record.solver_bytes), 2.0 * kW);
}

TEST_F(ProtocolTest, TracedRunFindsTheFirstIterationThatIsAccurate) {
  PreparedRun run = sleeper({.iteration_ms = 0.5, .converged_after = 7});
  const TracedRun traced = trace_run(target_, run, {.tolerance = 1e-9, .max_iterations = 30});
  ASSERT_TRUE(traced.first_iteration);
  EXPECT_EQ(*traced.first_iteration, 7);
  EXPECT_EQ(traced.record.status, SolveStatus::converged);
  ASSERT_GE(traced.trace.iteration.size(), 8U);
  EXPECT_EQ(traced.trace.iteration.front(), 0);
  for (std::size_t i = 1; i < traced.trace.seconds.size(); ++i) {
    EXPECT_GE(traced.trace.seconds[i] - traced.trace.seconds[i - 1], 0.0005);
  }
  EXPECT_GT(traced.trace.residual[6], 1e-9);
  EXPECT_LE(traced.trace.residual[7], 1e-9);
}

TEST_F(ProtocolTest, TracedRunKeepsWhatTheSolverSaysAndCountsUpToTheFirstAccurateIteration) {
  PreparedRun run = sleeper({0.0, 0.0, 7});
  const TracedRun traced = trace_run(target_, run, {.tolerance = 1e-9, .max_iterations = 30});
  const ConvergenceTrace& trace = traced.trace;
  ASSERT_EQ(trace.plain.size(), trace.iteration.size());
  ASSERT_EQ(trace.constraint.size(), trace.iteration.size());
  EXPECT_TRUE(std::isnan(trace.plain[0])) << "nothing was said about the start";
  EXPECT_EQ(trace.plain[4], 0.25);
  EXPECT_TRUE(std::isnan(trace.constraint[4])) << "this solver has no such norm";
  EXPECT_EQ(trace.restarts[0], 0);
  EXPECT_EQ(trace.restarts[5], 2);
  EXPECT_EQ(trace.contact_sweeps[5], 15);
  EXPECT_EQ(traced.record.counters.mass_products, 14)
      << "work of the 7 iterations that were needed, not of 30";
  EXPECT_EQ(traced.record.counters.restarts, 3);

  PreparedRun lost = sleeper({0.0, 0.0, 1000});
  EXPECT_EQ(trace_run(target_, lost, {.tolerance = 1e-9, .max_iterations = 30}).record.counters.mass_products,
            60);
}

/// Every registered solver: what the observer is told last is what the report says, and it never shrinks.
TEST(Protocols, CountersOfTheObserverAndOfTheReportAgree) {
  class Listener : public IterationObserver {
   public:
    void on_iteration(int, std::span<const double>, std::string_view) override {}
    void on_progress(int, const IterationProgress& progress) override {
      const auto grew = [](long long now, long long before) { EXPECT_GE(now, before); };
      const SolveCounters &now = progress.counters, &before = last.counters;
      grew(now.mass_products, before.mass_products);
      grew(now.contact_sweeps, before.contact_sweeps);
      grew(now.restarts, before.restarts);
      grew(now.state_changes, before.state_changes);
      last = progress;
      told = true;
    }
    IterationProgress last;
    bool told = false;
  };
  const ContactProblem problem = make_planted_problem({.stiffness = 1.0}).problem;
  for (const char* name : {"pgs", "pcg", "pcg-pgs", "ca", "reference"}) {
    const std::unique_ptr<Solver> solver = make_solver(name);
    solver->prepare(problem);
    std::vector<double> r(3 * problem.contacts(), 0.0);
    Listener listener;
    const SolveReport report = solver->solve(r, {.residual = 1e-6}, &listener);
    EXPECT_EQ(report.status, SolveStatus::converged) << name;
    EXPECT_TRUE(listener.told) << name;
    EXPECT_EQ(listener.last.counters.contact_sweeps, report.counters.contact_sweeps) << name;
    EXPECT_EQ(listener.last.counters.state_changes, report.counters.state_changes) << name;
    if (std::string_view(name) != "pcg" && std::string_view(name) != "reference") {
      EXPECT_EQ(report.counters.contact_sweeps,
                report.iterations - (solver->traits().phases[0] == "cg" ? report.phase_iterations[0] : 0))
          << name;
    }
    if (std::string_view(name) == "pcg") {
      EXPECT_EQ(report.counters.evaluations, report.iterations);
      EXPECT_GT(report.counters.state_changes, 0);
    }
  }
}

/// Regions: events add up, sweeps are those of the region with most.
TEST(Protocols, CountersOfRegionsBecomeThoseOfTheWhole) {
  const ContactProblem problem = make_planted_problem({.contacts = 24, .regions = 4}).problem;
  std::vector<double> r(72, 0.0);
  const auto solver = make_region_solver("pgs", {}, {RegionMode::points, 1});
  solver->prepare(problem);
  const SolveReport report = solver->solve(r, {.residual = 1e-8}, nullptr);
  EXPECT_EQ(report.counters.contact_sweeps, report.iterations);
  std::fill(r.begin(), r.end(), 0.0);
  const auto cg = make_region_solver("pcg", {}, {RegionMode::points, 1});
  cg->prepare(problem);
  const SolveReport whole = cg->solve(r, {.residual = 1e-8}, nullptr);
  long long changes = 0;
  for (const SolveReport& part : cg->region_reports()) changes += part.counters.state_changes;
  EXPECT_EQ(whole.counters.state_changes, changes);
  EXPECT_GT(changes, 0);
  EXPECT_LE(whole.counters.evaluations, whole.iterations);

  // the assembled run says at its end what the regions have said at theirs
  class Listener : public IterationObserver {
   public:
    void on_iteration(int, std::span<const double>, std::string_view) override {}
    void on_progress(int iteration, const IterationProgress& progress) override {
      EXPECT_GE(progress.counters.state_changes, last.counters.state_changes);
      last = progress;
      last_iteration = iteration;
    }
    IterationProgress last;
    int last_iteration = 0;
  } listener;
  std::fill(r.begin(), r.end(), 0.0);
  const SolveReport traced = cg->solve(r, {.residual = 1e-8}, &listener);
  EXPECT_EQ(listener.last_iteration, traced.iterations);
  EXPECT_EQ(listener.last.counters.state_changes, changes);
  EXPECT_GE(listener.last.plain, 0.0) << "a norm that some region told";
}

TEST_F(ProtocolTest, TimeIsThatOfExactlyTheIterationsNeeded) {
  Journal journal;
  PreparedRun run =
      sleeper({.setup_ms = 5.0, .iteration_ms = 4.0, .converged_after = 5, .journal = &journal});
  const RunLimits limits{.tolerance = 1e-9, .max_iterations = 20};
  const TracedRun traced = trace_run(target_, run, limits);
  journal = {};
  const TimedRun timed{&run, &traced};
  const std::vector<RunRecord> rows =
      time_runs(target_, std::span(&timed, 1), limits, {.repetitions = 5, .minimum_time = 1e-3});
  ASSERT_EQ(rows.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    const RunRecord& row = rows[i];
    EXPECT_EQ(row.repetition, i);
    EXPECT_EQ(row.iterations, 5);
    EXPECT_EQ(row.status, SolveStatus::converged);
    EXPECT_GE(row.solve_seconds, 0.020);
  }
  EXPECT_EQ(journal.set_ups, 0) << "a timed run is not set up again";
  EXPECT_GE(journal.solves.size(), 6U) << "one to warm up and one per repetition";
  for (const Call& call : journal.solves) {
    EXPECT_EQ(call.iterations, 5);
    EXPECT_TRUE(call.fixed) << "the solver's own stopping is off";
    EXPECT_FALSE(call.observed) << "no observer inside a timed run";
  }
  for (const RunRecord& row : rows) {
    EXPECT_LT(row.cpu_share, 0.5) << "the solver sleeps";
    EXPECT_GE(row.involuntary_switches, 0);
  }
  EXPECT_TRUE(std::isnan(traced.record.cpu_share)) << "a traced run is not timed";
}

TEST_F(ProtocolTest, RunsOfAGroupAreTimedInterleaved) {
  Journal journal;
  PreparedRun slow = sleeper({.iteration_ms = 4.0, .journal = &journal, .name = 's'});
  PreparedRun fast = sleeper({.iteration_ms = 1.0, .journal = &journal, .name = 'f'});
  const RunLimits limits{.tolerance = 1e-9, .max_iterations = 5};
  const TracedRun slow_trace = trace_run(target_, slow, limits),
                  fast_trace = trace_run(target_, fast, limits);
  const std::vector<TimedRun> group{{&slow, &slow_trace}, {&fast, &fast_trace}};
  journal = {};
  constexpr std::size_t kRepetitions = 12;
  const std::vector<RunRecord> rows = time_runs(
      target_, group, limits, {.repetitions = static_cast<int>(kRepetitions), .minimum_time = 1e-3});
  ASSERT_EQ(rows.size(), 2 * kRepetitions);
  // each row has the time of its own run: three iterations of at least 4 or 1 ms
  for (std::size_t i = 0; i < kRepetitions; ++i) {
    EXPECT_GE(rows[i].solve_seconds, 0.012);
    EXPECT_GE(rows[kRepetitions + i].solve_seconds, 0.003);
  }
  // one call of each to warm up, then the repetitions in random order
  ASSERT_EQ(journal.solves.size(), 2 + 2 * kRepetitions);
  const std::span<const Call> timed = std::span(journal.solves).subspan(2);
  EXPECT_EQ(std::ranges::count(timed, 's', &Call::name), static_cast<std::ptrdiff_t>(kRepetitions));
  std::size_t changes = 0;
  for (std::size_t i = 1; i < timed.size(); ++i) changes += timed[i].name != timed[i - 1].name ? 1U : 0U;
  // One run after the other changes once. Of the 2.7 million orders of twelve and twelve, two do so.
  EXPECT_GE(changes, 2U);
}

TEST_F(ProtocolTest, RunThatNeverGetsThereIsACensoredRow) {
  PreparedRun run = sleeper({.converged_after = 1000});
  const RunLimits limits{.tolerance = 1e-9, .max_iterations = 10};
  const TracedRun traced = trace_run(target_, run, limits);
  EXPECT_FALSE(traced.first_iteration);
  EXPECT_EQ(traced.record.status, SolveStatus::iteration_limit);
  const TimedRun timed{&run, &traced};
  const std::vector<RunRecord> rows = time_runs(target_, std::span(&timed, 1), limits, {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].status, SolveStatus::iteration_limit);
  EXPECT_EQ(rows[0].iterations, 10);
  EXPECT_FALSE(rows[0].message.empty());
  EXPECT_GT(rows[0].errors.residual, 1e-9);
}

class ThrowingSolver : public SleepSolver {
 public:
  using SleepSolver::SleepSolver;
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<ThrowingSolver>(*this); }
  SolveReport solve(std::span<double>, const StopRule&, IterationObserver*) override {
    throw std::runtime_error("two\nlines");
  }
};

/// Columns of the row that hold a measure of the referee: those that change with a field of `Residuals`.
std::vector<std::string> error_cells(const RunRecord& record) {
  const auto cells = [](const RunRecord& r) {
    std::vector<std::string> all;
    for (const std::string_view cell : split(run_record_row(r), ',')) all.emplace_back(cell);
    return all;
  };
  using Fields = std::array<double, sizeof(Residuals) / sizeof(double)>;
  RunRecord bare = record;
  bare.message = bare.options = "";  // no commas in quotes
  RunRecord marked = bare;
  Fields fields;
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = 1000.5 + static_cast<double>(i);
  marked.errors = std::bit_cast<Residuals>(fields);
  const std::vector<std::string> now = cells(bare), then = cells(marked);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] != then[i]) found.push_back(now[i]);
  }
  EXPECT_EQ(found.size(), fields.size()) << "a field of Residuals has no column";
  return found;
}

void expect_no_errors(const RunRecord& record) {
  for (const std::string& cell : error_cells(record)) EXPECT_EQ(cell, "nan") << enum_name(record.status);
}

TEST_F(ProtocolTest, SolverThatThrowsBecomesAFailedRow) {
  PreparedRun run = prepare_run(
      target_, std::make_unique<UncutProblem>(std::make_unique<ThrowingSolver>(SleepPlan{}, planted_.r)),
      target_.facts);
  const SolveOutcome outcome = solve_self_stopped(target_, run, {});
  EXPECT_EQ(outcome.record.status, SolveStatus::failed);
  EXPECT_EQ(outcome.record.message, "two lines");
  expect_no_errors(outcome.record);
}

/// Where nobody observes: a traced run works.
class ForgetfulSolver : public SleepSolver {
 public:
  using SleepSolver::SleepSolver;
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<ForgetfulSolver>(*this); }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    if (observer == nullptr) throw std::bad_alloc();
    return SleepSolver::solve(r, stop, observer);
  }
};

TEST_F(ProtocolTest, ALackOfMemoryInATimedRunIsSaidInWords) {
  PreparedRun run = prepare_run(target_,
                                std::make_unique<UncutProblem>(std::make_unique<ForgetfulSolver>(
                                    SleepPlan{.converged_after = 2}, planted_.r)),
                                target_.facts);
  const RunLimits limits{.tolerance = 1e-9, .max_iterations = 10};
  const TracedRun traced = trace_run(target_, run, limits);
  ASSERT_TRUE(traced.first_iteration) << traced.record.message;
  const TimedRun timed{&run, &traced};
  const std::vector<RunRecord> rows = time_runs(target_, std::span(&timed, 1), limits, {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].status, SolveStatus::failed);
  EXPECT_EQ(rows[0].message, "out of memory");
}

TEST(Protocols, RegionsAreTimedWithIterationsOfTheirOwnAndMeetTheTolerance) {
  const PlantedProblem planted = make_planted_problem({.contacts = 60, .regions = 6, .seed = 3});
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  const int threads = std::min(2, available_cpus().count);
  PreparedRun run = prepare_run(target, {"pgs", "pgs", {}}, RegionMode::points, threads);
  ASSERT_TRUE(run.solver) << run.record.message;
  const RunLimits limits{.tolerance = 1e-8, .max_iterations = 2000};
  const TracedRun traced = trace_run(target, run, limits);
  ASSERT_TRUE(traced.first_iteration);
  ASSERT_EQ(traced.region_iterations.size(), 6U);
  const auto [low, high] =
      std::minmax_element(traced.region_iterations.begin(), traced.region_iterations.end());
  EXPECT_LT(*low, *high) << "a planted set whose regions need the same count proves nothing: change the seed";
  EXPECT_EQ(*high, *traced.first_iteration);
  for (std::size_t i = 1; i < traced.trace.seconds.size(); ++i)
    EXPECT_GE(traced.trace.seconds[i], traced.trace.seconds[i - 1]);
  const TimedRun timed{&run, &traced};
  const std::vector<RunRecord> rows = time_runs(target, std::span(&timed, 1), limits, {.repetitions = 3});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].status, SolveStatus::converged) << rows[0].message;
  EXPECT_LE(rows[0].errors.residual, 1e-8 * (1 + 1e-6));
  EXPECT_EQ(rows[0].iterations, *high);
  EXPECT_EQ(rows[0].regions, 6);
}

TEST(Protocols, PointRegionsOnACoupledMassAreAnUnsupportedRowWithTheReason) {
  const PlantedProblem planted = make_planted_problem({.contacts = 12, .stiffness = 5.0});
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  PreparedRun run = prepare_run(target, {"pgs", "pgs", {}}, RegionMode::points, 1);
  const SolveOutcome outcome = solve_self_stopped(target, run, {});
  EXPECT_EQ(outcome.record.status, SolveStatus::unsupported);
  EXPECT_FALSE(outcome.record.message.empty());
  expect_no_errors(outcome.record);
  const TracedRun traced = trace_run(target, run, {});
  expect_no_errors(traced.record);
  EXPECT_EQ(traced.record.status, SolveStatus::unsupported);
  const TimedRun timed{&run, &traced};
  EXPECT_EQ(time_runs(target, std::span(&timed, 1), {}, {}).at(0).status, SolveStatus::unsupported);
}

TEST(Protocols, MoreThreadsThanCpusAreAnUnsupportedRowInEveryProtocol) {
  const PlantedProblem planted = make_planted_problem({.contacts = 12, .regions = 3});
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  const int too_many = available_cpus().count + 1;
  const std::string reason = thread_refusal(too_many);
  ASSERT_NE(reason, "");
  PreparedRun one = prepare_run(target, {"pgs", "pgs", {}}, RegionMode::points, 1);
  PreparedRun many = prepare_run(target, {"pgs", "pgs", {}}, RegionMode::points, too_many);
  const TracedRun traced = trace_run(target, one, {});
  ASSERT_TRUE(traced.first_iteration);
  const TimedRun group[] = {{&one, &traced}, {&many, &traced}};
  const TimerOptions options{.repetitions = 1, .minimum_time = 1e-5};
  std::vector<RunRecord> rows;
  for (RunRecord& row : time_runs(target, group, {}, options)) {
    if (row.threads == too_many) {
      rows.push_back(std::move(row));
    } else {
      EXPECT_EQ(row.status, SolveStatus::converged) << row.message;
    }
  }
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].protocol, "time");
  EXPECT_EQ(rows[0].tolerance, 1e-6);
  rows.push_back(solve_self_stopped(target, many, {}).record);
  rows.push_back(trace_run(target, many, {}).record);
  for (const RunRecord& row : rows) {
    EXPECT_EQ(row.status, SolveStatus::unsupported) << row.protocol;
    EXPECT_EQ(row.message, reason) << row.protocol;
    EXPECT_EQ(row.threads, too_many) << row.protocol;
    EXPECT_EQ(row.options, one.record.options);
    expect_no_errors(row);
  }
}

/// Regions that W couples converge one by one and are no answer together.
TEST(Protocols, CoupledRegionsAreConvergedByTheRefereeOnly) {
  const ContactProblem problem = zoo::coupled_regions();
  const Referee referee(problem);
  const RunTarget target = make_target(problem, referee, "trial", "planted", "0");
  ASSERT_FALSE(is_exact(problem, RegionMode::points_approx));
  const RunLimits limits{.tolerance = 1e-6, .max_iterations = 5000};
  PreparedRun split = prepare_run(target, {"pgs", "pgs", {}}, RegionMode::points_approx, 1);
  ASSERT_TRUE(split.solver) << split.record.message;
  const RunRecord row = solve_self_stopped(target, split, limits).record;
  ASSERT_GT(row.errors.residual, 100 * limits.tolerance) << "a set that is hardly coupled proves nothing";
  EXPECT_EQ(row.status, SolveStatus::stalled);
  EXPECT_EQ(row.message,
            fmt::format("every region converged, but the regions are coupled: residual {:.3g} by the "
                        "referee",
                        row.errors.residual));
  const TracedRun traced = trace_run(target, split, limits);
  EXPECT_NE(traced.record.status, SolveStatus::converged);
  EXPECT_FALSE(traced.first_iteration);
  const TimedRun timed{&split, &traced};
  EXPECT_NE(time_runs(target, std::span(&timed, 1), limits, {}).at(0).status, SolveStatus::converged);

  // where the mode cuts nothing, a solver's own word stands
  const PlantedProblem apart = make_planted_problem({.contacts = 12, .regions = 3});
  const Referee judge(apart.problem);
  const RunTarget easy = make_target(apart.problem, judge, "trial", "apart", "0");
  PreparedRun exact = prepare_run(easy, {"pgs", "pgs", {}}, RegionMode::points_approx, 1);
  EXPECT_EQ(solve_self_stopped(easy, exact, limits).record.status, SolveStatus::converged);
}

TEST(Protocols, RowsTellHowTheMatricesWereRead) {
  PlantedProblem planted = make_planted_problem({.contacts = 6, .stiffness = 1.0});
  planted.problem.M_stored = StoredTriangle::upper;
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  const std::string note = "M: upper triangle stored, read as symmetric";
  PreparedRun run = prepare_run(target, {"pgs", "pgs", {}}, RegionMode::none, 1);
  EXPECT_EQ(solve_self_stopped(target, run, {}).record.message, note);
  const TracedRun traced = trace_run(target, run, {});
  EXPECT_EQ(traced.record.message, note);
  const TimedRun timed{&run, &traced};
  const TimerOptions options{.repetitions = 1, .minimum_time = 1e-5};
  EXPECT_EQ(time_runs(target, std::span(&timed, 1), {}, options).at(0).message, note);
  EXPECT_EQ(trace_run(target, run, {.tolerance = 1e-6, .max_iterations = 1}).record.message,
            note + "; residual 1.0e-06 not reached within 1 iterations");
}

/// Solvers on velocities use M = Mᵀ; solvers on W read it row by row.
TEST(Protocols, UnsymmetricMIsSolvedByThoseWhoseMathematicsAllowsIt) {
  PlantedProblem planted = make_planted_problem({.contacts = 6, .stiffness = 1.0});
  Index far = -1;
  for (SparseRows::InnerIterator entry(planted.problem.M, 0); entry; ++entry) {
    if (entry.col() >= 3) far = entry.index();
  }
  ASSERT_GE(far, 0);
  planted.problem.M.coeffRef(0, far) *= 0.5;
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  for (const SolverEntry& entry : solver_registry()) {
    PreparedRun run =
        prepare_run(target, {std::string(entry.name), std::string(entry.name), {}}, RegionMode::none, 1);
    const RunRecord row = solve_self_stopped(target, run, {}).record;
    EXPECT_EQ(row.message.find("M: not symmetric (asymmetry "), 0U) << entry.name;
    if (entry.traits.needs != SolverNeeds::mass) {
      EXPECT_EQ(row.status, SolveStatus::converged) << entry.name << ": " << row.message;
      EXPECT_LE(row.errors.residual, 1.01e-6) << entry.name;
    } else {
      EXPECT_EQ(row.status, SolveStatus::unsupported) << entry.name;
      EXPECT_NE(row.message.find("needs a symmetric M"), std::string::npos) << row.message;
    }
  }
}

TEST(Protocols, EveryRegisteredSolverKeepsItsTracedPathWhenTimed) {
  const PlantedProblem planted = make_planted_problem({.contacts = 24, .regions = 2, .seed = 5});
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  for (const SolverEntry& entry : solver_registry()) {
    PreparedRun run =
        prepare_run(target, {std::string(entry.name), std::string(entry.name), {}}, RegionMode::none, 1);
    if (!run.solver) continue;
    const RunLimits limits{.tolerance = 1e-6, .max_iterations = 3000};
    const TracedRun traced = trace_run(target, run, limits);
    if (!traced.first_iteration) continue;
    const TimedRun timed{&run, &traced};
    const std::vector<RunRecord> rows =
        time_runs(target, std::span(&timed, 1), limits, {.repetitions = 1, .minimum_time = 1e-5});
    EXPECT_EQ(rows.at(0).status, SolveStatus::converged) << entry.name << ": " << rows[0].message;
    EXPECT_EQ(rows[0].errors.residual, traced.record.errors.residual) << entry.name;
  }
}

TEST(Protocols, RowOfATracedRunHasTheErrorsOfTheFirstAccurateIterate) {
  const PlantedProblem planted = make_planted_problem({.contacts = 24, .regions = 2, .seed = 5});
  const Referee referee(planted.problem);
  const RunTarget target = make_target(planted.problem, referee, "trial", "planted", "0");
  for (const RegionMode mode : {RegionMode::none, RegionMode::points}) {
    PreparedRun run = prepare_run(target, {"pgs", "pgs", {}}, mode, 1);
    ASSERT_TRUE(run.solver) << run.record.message;
    const TracedRun traced = trace_run(target, run, {.tolerance = 1e-4, .max_iterations = 500});
    ASSERT_TRUE(traced.first_iteration);
    const double there = traced.trace.residual.at(*traced.first_iteration);
    EXPECT_EQ(traced.record.errors.residual, there);
    EXPECT_LE(there, 1e-4);
    EXPECT_LT(traced.trace.residual.back(), there)
        << "the run goes on below the tolerance: it would hide the mistake";
  }
}

TEST(BenchTimer, ExceptionOfATaskReachesTheCaller) {
  const std::vector<TimedTask> tasks{{"bad", [] {}, [] { throw std::runtime_error("broken"); }, 1e-3}};
  EXPECT_THROW(time_interleaved(tasks, {}), std::runtime_error);
  const std::vector<TimedTask> good{{"good", [] {}, [] {}, 1e-3}};
  EXPECT_EQ(time_interleaved(good, {.repetitions = 2}).at(0).size(), 2U);
  EXPECT_TRUE(time_interleaved({}, {}).empty());
}

}  // namespace
}  // namespace signorini::protocols_test
