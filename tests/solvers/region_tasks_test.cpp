#include "solvers/region_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "regions/region_extractor.h"
#include "solvers/allocation_counter.h"
#include "solvers/region_schedule.h"
#include "solvers/registry.h"

namespace signorini::region_tasks_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;

struct Iterate {
  int iteration = 0;
  std::vector<double> r;
  std::string phase;
};

class Recorder : public IterationObserver {
 public:
  void on_iteration(int iteration, std::span<const double> r, std::string_view phase) override {
    iterates.push_back({iteration, {r.begin(), r.end()}, std::string(phase)});
  }
  std::vector<Iterate> iterates;
};

std::vector<double> zeros(const ContactProblem& problem) {
  return std::vector<double>(3 * problem.contacts(), 0.0);
}

double largest(std::span<const double> x) {
  double most = 0.0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

PlantedProblem regions_problem(int regions, int contacts, std::uint64_t seed = 3) {
  PlantedOptions options;
  options.regions = regions;
  options.contacts = regions * contacts;
  options.seed = seed;
  return make_planted_problem(options);
}

/// A solver whose every step is known: iterate k of contact j is k + the contact's μ, for as many steps as `steps` says.
/// It throws or refuses where the problem's w asks for it.
class Counting : public Solver {
 public:
  explicit Counting(bool show_start = true) : show_start_(show_start) {}
  std::string_view name() const override { return "counting"; }
  std::string options() const override { return "x=1"; }
  const CommonOptions& common() const override { return common_; }
  const SolverTraits& traits() const override { return traits_; }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<Counting>(show_start_); }
  std::string unsupported_reason(const ContactProblem& problem) const override {
    return problem.w.size() > 0 && problem.w[0] == 200.0 ? "too large for counting" : "";
  }
  void prepare(const ContactProblem& problem) override {
    if (problem.w.size() > 0 && problem.w[0] == 100.0) throw_input("M is not positive definite at row 0");
    mu_ = problem.mu;
  }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    SolveReport report;
    const int own = static_cast<int>(mu_.size());  // a region of K contacts converges after K steps
    const int steps = std::min(own, stop.max_iterations);
    scale = stop.velocity_scale;
    if (observer != nullptr && show_start_) observer->on_iteration(0, r, "");
    for (int k = 1; k <= steps; ++k) {
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = k + mu_[i / 3];
      if (observer != nullptr) observer->on_iteration(k, r, k == 1 ? "first" : "more");
    }
    for (double& x : r) x = -x;  // the final values differ from the last iterate, as with best-so-far
    report.iterations = steps;
    report.products = 2 * steps;
    report.own_residual = 0.125;
    report.status = steps == own ? SolveStatus::converged : SolveStatus::iteration_limit;
    return report;
  }
  static inline std::atomic<double> scale = 0.0;

 private:
  CommonOptions common_;
  SolverTraits traits_{.needs = SolverNeeds::either};
  Vector mu_;
  bool show_start_;
};

/// `sizes[i]` contacts on node i alone; μ numbers the contacts.
ContactProblem groups(const std::vector<int>& sizes) {
  ContactProblem problem;
  const Index n = 3 * count(sizes);
  Index m = 0;
  for (const int size : sizes) m += size;
  problem.M.resize(n, n);
  problem.M.setIdentity();
  problem.f = Vector::Zero(n);
  problem.H.resize(n, 3 * m);
  std::vector<Eigen::Triplet<double, Index>> entries;
  Index k = 0;
  for (Index i = 0; i < count(sizes); ++i) {
    for (int j = 0; j < sizes[i]; ++j, ++k) {
      for (Index c = 0; c < 3; ++c) entries.emplace_back(3 * i + c, 3 * k + c, 1.0);
    }
  }
  problem.H.setFromTriplets(entries.begin(), entries.end());
  problem.w = Vector::Constant(3 * m, -1.0);
  problem.mu = Vector::LinSpaced(m, 0.0, (m - 1) / 128.0);
  return problem;
}

RegionTasks counting_tasks(int threads = 1, double trace_megabytes = 256.0) {
  return RegionTasks(std::make_unique<Counting>(), {RegionMode::points, threads, trace_megabytes});
}

TEST(RegionTasks, SweepForSweepTheSplitProblemHasTheIteratesOfTheWholeOne) {
  const auto planted = regions_problem(6, 15);
  StopRule stop;
  stop.fixed_iterations = true;
  for (const int sweeps : {1, 3, 12}) {
    stop.max_iterations = sweeps;
    auto whole = zeros(planted.problem);
    auto split = whole;
    auto solver = make_solver("pgs");
    solver->prepare(planted.problem);
    solver->solve(whole, stop, nullptr);
    auto tasks = make_region_solver("pgs", {}, {RegionMode::points, 2});
    tasks->prepare(planted.problem);
    tasks->solve(split, stop, nullptr);
    ASSERT_GT(largest(whole), 0.0);
    // A row of W has at most 24·4 blocks here; each sweep may round every product differently.
    const double tolerance = sweeps * 300 * kEps * largest(whole);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(split[i], whole[i], tolerance);
  }
}

TEST(RegionTasks, TheAssembledImpulsesMeetTheAskedResidual) {
  for (const double stiffness : {0.0, 1.0}) {
    PlantedOptions options;
    options.regions = 7;
    options.contacts = 60;
    options.stiffness = stiffness;
    const auto planted = make_planted_problem(options);
    const Referee referee(planted.problem);
    for (const SolverEntry& entry : solver_registry()) {
      auto tasks =
          make_region_solver(entry.name, {}, {stiffness > 0.0 ? RegionMode::islands : RegionMode::points, 2});
      ASSERT_EQ(tasks->unsupported_reason(planted.problem), "") << entry.name;
      tasks->prepare(planted.problem);
      auto r = zeros(planted.problem);
      StopRule stop;
      stop.residual = 1e-5;
      const SolveReport report = tasks->solve(r, stop, nullptr);
      EXPECT_EQ(report.status, SolveStatus::converged) << entry.name;
      EXPECT_LE(referee.measure(r, tasks->common().spec()).residual, stop.residual) << entry.name;
    }
  }
}

// Regions measure against the U of the whole problem: a region that hardly moves is done before it starts.
TEST(RegionTasks, ANearlyRestingRegionStopsByTheGlobalScale) {
  auto planted = regions_problem(2, 10);
  auto& problem = planted.problem;
  const auto partition = partition_regions(problem, RegionMode::points);
  ASSERT_EQ(partition.regions(), 2);
  const double tiny = 1e-9;
  for (const Index k : partition.region(1)) problem.w.segment<3>(3 * k) *= tiny;
  const RegionPartition& parts = partition;
  for (Index i = 0; i < problem.dofs(); ++i) {
    for (const Index k : parts.region(1)) {
      for (Index c = 0; c < 3; ++c) {
        if (problem.H.coeff(i, 3 * k + c) != 0.0) {
          problem.f[i] = 0.0;
        }
      }
    }
  }
  RegionTasks tasks(make_solver("pgs"), {RegionMode::points, 1});
  tasks.prepare(problem);
  auto r = zeros(problem);
  StopRule stop;
  stop.residual = 1e-6;
  EXPECT_EQ(tasks.solve(r, stop, nullptr).status, SolveStatus::converged);
  EXPECT_GT(tasks.region_reports()[0].iterations, 0);
  EXPECT_EQ(tasks.region_reports()[1].iterations, 0);
  EXPECT_LE(Referee(problem).measure(r, {}).residual, stop.residual);
}

/// Everything slow, and one region at rest: without forces and free velocities.
ContactProblem one_region_at_rest(double stiffness) {
  PlantedOptions options;
  options.regions = 3;
  options.contacts = 18;
  options.stiffness = stiffness;
  ContactProblem problem = make_planted_problem(options).problem;
  problem.f *= 1e-4;
  problem.w *= 1e-4;
  const RegionPartition parts = partition_regions(problem, RegionMode::islands);
  const RegionExtractor extractor(problem, parts);
  for (const Index k : parts.region(1)) problem.w.segment<3>(3 * k).setZero();
  for (const Index node : extractor.nodes(1))
    problem.f.segment(node * problem.node_size(), problem.node_size()).setZero();
  return problem;
}

// Where max|q| of a region vanishes, its solver works with U = 1 m/s when it is alone; that must not become U of the whole.
TEST(RegionTasks, ARegionAtRestDoesNotSetTheScale) {
  for (const double stiffness : {0.0, 1.0}) {
    const ContactProblem problem = one_region_at_rest(stiffness);
    ASSERT_LT(assemble_q(problem).lpNorm<Eigen::Infinity>(), 1e-2);
    for (const SolverEntry& entry : solver_registry()) {
      SCOPED_TRACE(entry.name);
      auto tasks = make_region_solver(entry.name, {}, {RegionMode::islands, 1});
      tasks->prepare(problem);
      auto r = zeros(problem);
      StopRule stop;
      stop.residual = 1e-5;
      EXPECT_EQ(tasks->solve(r, stop, nullptr).status, SolveStatus::converged);
      EXPECT_LE(Referee(problem).measure(r, tasks->common().spec()).residual, stop.residual);
    }
  }
}

// Mode auto: the islands of few contacts are joined, and the answer is that of the whole.
TEST(RegionTasks, ModeAutoJoinsSmallIslandsAndMeetsTheResidual) {
  for (const double stiffness : {0.0, 1.0}) {
    PlantedOptions options;
    options.regions = 100;
    options.contacts = 400;
    options.stiffness = stiffness;
    const ContactProblem problem = make_planted_problem(options).problem;
    const Index islands = partition_regions(problem, RegionMode::islands).regions();
    for (const SolverEntry& entry : solver_registry()) {
      SCOPED_TRACE(entry.name);
      std::vector<double> one;
      for (const int threads : {1, 3}) {
        auto tasks = make_region_solver(
            entry.name, {}, {.mode = RegionMode::automatic, .threads = threads, .head_start = 0.0});
        ASSERT_EQ(tasks->unsupported_reason(problem), "");
        tasks->prepare(problem);
        EXPECT_GT(tasks->partition().regions(), 1);
        EXPECT_LT(tasks->partition().regions(), islands);
        auto r = zeros(problem);
        StopRule stop;
        stop.residual = 1e-5;
        EXPECT_EQ(tasks->solve(r, stop, nullptr).status, SolveStatus::converged);
        EXPECT_LE(Referee(problem).measure(r, tasks->common().spec()).residual, stop.residual);
        if (threads == 1) one = r;
        EXPECT_EQ(r, one);  // to the last bit
      }
    }
  }
}

TEST(RegionTasks, TheScaleOfTheWholeProblemReachesEveryRegionUnlessTheCallerSetsOne) {
  auto problem = groups({1, 2});
  problem.w[4] = -7.0;
  auto tasks = counting_tasks();
  tasks.prepare(problem);
  auto r = zeros(problem);
  tasks.solve(r, {}, nullptr);
  EXPECT_EQ(Counting::scale.load(), 7.0);
  StopRule stop;
  stop.velocity_scale = 3.0;
  tasks.solve(r, stop, nullptr);
  EXPECT_EQ(Counting::scale.load(), 3.0);
}

TEST(RegionTasks, ReportsAreAssembled) {
  const auto problem = groups({2, 5, 1});
  auto tasks = counting_tasks(2);
  tasks.prepare(problem);
  auto r = zeros(problem);
  const SolveReport report = tasks.solve(r, {}, nullptr);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 5);
  EXPECT_EQ(report.own_residual, 0.125);
  // W has K² blocks per region: (4·4 + 25·10 + 1·2) / 30 = 8.93
  EXPECT_EQ(report.products, 9);
  ASSERT_EQ(tasks.region_reports().size(), 3U);
  EXPECT_EQ(tasks.region_reports()[0].iterations, 2);
  EXPECT_EQ(tasks.region_reports()[1].iterations, 5);
  ASSERT_EQ(tasks.region_seconds().size(), 3U);
  for (const double seconds : tasks.region_seconds()) EXPECT_GE(seconds, 0.0);
  EXPECT_EQ(tasks.partition().regions(), 3);
  EXPECT_EQ(tasks.name(), "counting");
  EXPECT_EQ(tasks.options(), "x=1");
}

TEST(RegionTasks, EveryRegionMayHaveItsOwnIterationLimit) {
  const auto problem = groups({4, 4, 4});
  auto tasks = counting_tasks();
  tasks.prepare(problem);
  auto r = zeros(problem);
  const std::vector<int> limits{1, 4, 2};
  tasks.limit_iterations(limits);
  const SolveReport report = tasks.solve(r, {}, nullptr);
  EXPECT_EQ(report.status, SolveStatus::iteration_limit);
  EXPECT_EQ(report.iterations, 4);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tasks.region_reports()[i].iterations, limits[i]);
}

TEST(RegionTasks, ARegionThatStoppedEarlierShowsItsFinalValues) {
  const auto problem = groups({1, 3, 2});
  // An iterate has 144 bytes: all fit, two fit, none fits (one is kept nevertheless).
  for (const double megabytes : {256.0, 3e-4, 1e-5}) {
    auto tasks = counting_tasks(2, megabytes);
    tasks.prepare(problem);
    auto r = zeros(problem);
    Recorder seen;
    const SolveReport report = tasks.solve(r, {}, &seen);
    EXPECT_EQ(report.iterations, 3);
    ASSERT_EQ(seen.iterates.size(), 4U);
    const auto value = [&](std::size_t k, std::size_t contact) { return seen.iterates[k].r[3 * contact]; };
    const auto mu = [&](std::size_t contact) { return problem.mu[contact]; };
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(seen.iterates[k].iteration, static_cast<int>(k));
    for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(value(0, j), 0.0);
    for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(value(1, j), 1.0 + mu(j));
    EXPECT_EQ(value(2, 0), -(1.0 + mu(0)));  // region 0 ended after one step
    EXPECT_EQ(value(2, 1), 2.0 + mu(1));
    EXPECT_EQ(value(2, 5), 2.0 + mu(5));
    EXPECT_EQ(value(3, 0), -(1.0 + mu(0)));
    EXPECT_EQ(value(3, 1), 3.0 + mu(1));
    EXPECT_EQ(value(3, 5), -(2.0 + mu(5)));
    EXPECT_EQ(seen.iterates[1].phase, "first");
    EXPECT_EQ(seen.iterates[3].phase, "more");
    for (std::size_t j = 0; j < 6; ++j) {
      const double steps = j == 0 ? 1.0 : j < 4 ? 3.0 : 2.0;
      EXPECT_EQ(r[3 * j], -(steps + mu(j)));
    }
  }
}

TEST(RegionTasks, AStartThatNoSolverShowsIsNotInvented) {
  const auto problem = groups({2, 1});
  RegionTasks tasks(std::make_unique<Counting>(false), {RegionMode::points, 1});
  tasks.prepare(problem);
  auto r = zeros(problem);
  Recorder seen;
  tasks.solve(r, {}, &seen);
  ASSERT_EQ(seen.iterates.size(), 2U);
  EXPECT_EQ(seen.iterates.front().iteration, 1);
}

TEST(RegionTasks, ObservingChangesNoBit) {
  const auto planted = regions_problem(5, 8);
  for (const SolverEntry& entry : solver_registry()) {
    auto tasks = make_region_solver(entry.name, {}, {RegionMode::points, 2, 0.02});
    tasks->prepare(planted.problem);
    StopRule stop;
    stop.residual = 1e-8;
    stop.max_iterations = 300;
    auto plain = zeros(planted.problem);
    auto traced = plain;
    const SolveReport a = tasks->solve(plain, stop, nullptr);
    Recorder seen;
    const SolveReport b = tasks->solve(traced, stop, &seen);
    EXPECT_EQ(plain, traced) << entry.name;
    EXPECT_EQ(a.iterations, b.iterations) << entry.name;
    EXPECT_EQ(a.status, b.status) << entry.name;
    ASSERT_FALSE(seen.iterates.empty()) << entry.name;
    for (std::size_t i = 1; i < seen.iterates.size(); ++i) {
      EXPECT_EQ(seen.iterates[i].iteration, seen.iterates[i - 1].iteration + 1) << entry.name;
    }
  }
}

// oneTBB keeps pools of its own that fill during the first runs and may grow when threads meet in a new order; so with
// several threads the best of some runs counts.
TEST(RegionTasks, SolvingAllocatesNothing) {
  const auto planted = regions_problem(30, 4);
  StopRule stop;
  stop.residual = 1e-6;
  stop.max_iterations = 40;
  for (const SolverEntry& entry : solver_registry()) {
    for (const int threads : {1, 2, 4}) {
      auto tasks = make_region_solver(entry.name, {}, {RegionMode::points, threads});
      tasks->prepare(planted.problem);
      auto r = zeros(planted.problem);
      tasks->solve(r, stop, nullptr);
      long long fewest = std::numeric_limits<long long>::max();
      for (int run = 0; run < 8 && fewest > 0; ++run) {
        std::fill(r.begin(), r.end(), 0.0);
        fewest = std::min(fewest, test::allocations_during([&] { tasks->solve(r, stop, nullptr); }));
        if (threads == 1) break;
      }
      EXPECT_EQ(fewest, 0) << entry.name << ", threads " << threads;
    }
  }
}

TEST(RegionTasks, ZeroContactsOneRegionAndMoreThreadsThanRegionsAreFine) {
  ContactProblem empty = groups({});
  empty.M.resize(3, 3);
  empty.M.setIdentity();
  empty.f = Vector::Zero(3);
  empty.H.resize(3, 0);
  auto tasks = counting_tasks(4);
  tasks.prepare(empty);
  std::vector<double> none;
  Recorder seen;
  EXPECT_EQ(tasks.solve(none, {}, nullptr).status, SolveStatus::converged);
  EXPECT_EQ(tasks.solve(none, {}, &seen).status, SolveStatus::converged);
  EXPECT_EQ(seen.iterates.size(), 1U);

  for (const auto& sizes : {std::vector<int>{3}, std::vector<int>{2, 1}}) {
    const auto problem = groups(sizes);
    tasks.prepare(problem);
    auto r = zeros(problem);
    EXPECT_EQ(tasks.solve(r, {}, nullptr).status, SolveStatus::converged);
    EXPECT_LT(largest(r) - sizes[0], 1.0);
  }
}

TEST(RegionTasks, AContactBetweenFixedBodiesDoesNotDisturbTheOthers) {
  auto planted = regions_problem(3, 6);
  ContactProblem& problem = planted.problem;
  const Index m = problem.contacts();
  ContactProblem wider = problem;
  wider.H.conservativeResize(problem.dofs(), 3 * (m + 1));
  wider.H.makeCompressed();
  wider.w.conservativeResize(3 * (m + 1));
  wider.w.tail<3>() << 0.5, 0.0, 0.0;  // separating
  wider.mu.conservativeResize(m + 1);
  wider.mu[m] = 0.5;
  wider.points = {};
  wider.weights = {};
  wider.bodies = {};
  wider.frame = {};
  wider.gap = {};
  wider.position = {};
  wider.warm_start = {};
  RegionTasks tasks(make_solver("pgs"), {RegionMode::points, 2});
  tasks.prepare(wider);
  EXPECT_EQ(tasks.partition().regions(), 4);
  auto r = zeros(wider);
  StopRule stop;
  stop.residual = 1e-7;
  EXPECT_EQ(tasks.solve(r, stop, nullptr).status, SolveStatus::converged);
  EXPECT_LE(Referee(wider).measure(r, {}).residual, stop.residual);
}

TEST(RegionTasks, AnErrorInOneRegionNamesTheRegionAndKeepsItsKind) {
  auto problem = groups({1, 3, 2});
  problem.w[3] = 100.0;  // first row of region 1
  for (const int threads : {1, 4}) {
    auto tasks = counting_tasks(threads);
    try {
      tasks.prepare(problem);
      FAIL() << "accepted";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "region 1 (3 contacts): M is not positive definite at row 0");
    }
  }
}

TEST(RegionTasks, AnIndefiniteMassIsReportedWithItsRegion) {
  auto problem = groups({1, 1, 1});
  problem.M.coeffRef(4, 4) = -1.0;
  auto tasks = make_region_solver("pgs", {}, {RegionMode::points, 2});
  try {
    tasks->prepare(problem);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("region 1 (1 contact): ", 0), 0U) << error.what();
  }
}

TEST(RegionTasks, ARegionThatItsSolverRefusesMakesTheStatusUnsupported) {
  auto problem = groups({1, 2});
  auto tasks = counting_tasks();
  EXPECT_EQ(tasks.unsupported_reason(problem), "");
  problem.w[3] = 200.0;
  tasks.prepare(problem);
  auto r = zeros(problem);
  const SolveReport report = tasks.solve(r, {}, nullptr);
  EXPECT_EQ(report.status, SolveStatus::unsupported);
  EXPECT_EQ(report.message, "region 1 (2 contacts): too large for counting");
  EXPECT_EQ(tasks.region_reports()[0].status, SolveStatus::converged);
}

TEST(RegionTasks, WhatIsTooMuchAsAWholeMayBePossibleRegionByRegion) {
  auto problem = groups({1, 2});
  problem.w[0] = 200.0;
  const auto tasks = counting_tasks();
  EXPECT_EQ(tasks.unsupported_reason(problem), "region 0 (1 contact): too large for counting");
}

TEST(RegionTasks, PointsOnACoupledMassAreUnsupportedWithTheReason) {
  PlantedOptions options;
  options.stiffness = 1.0;
  const auto planted = make_planted_problem(options);
  const auto tasks = make_region_solver("pgs", {}, {RegionMode::points, 1});
  EXPECT_NE(tasks->unsupported_reason(planted.problem).find("'islands'"), std::string::npos);
  EXPECT_THROW(tasks->prepare(planted.problem), UsageError);
}

TEST(RegionTasks, TellsHowManyThreadsSharedTheSolve) {
  const auto used = [](int regions, int threads) {
    const PlantedProblem planted = regions_problem(regions, 60);
    const auto tasks = make_region_solver("pgs", {}, {RegionMode::islands, threads});
    tasks->prepare(planted.problem);
    auto r = zeros(planted.problem);
    StopRule stop;
    stop.max_iterations = 10;
    static_cast<void>(tasks->solve(r, stop, nullptr));
    return tasks->threads_used();
  };
  EXPECT_EQ(used(1, 2), 1) << "one region of a serial solver";
  EXPECT_EQ(used(16, 1), 1);
  EXPECT_EQ(used(16, 2), 2);
  EXPECT_EQ(used(16, 32), 16) << "threads without a region";
}

TEST(RegionTasks, ASolveOfOneRegionBeginsOnOneThread) {
  PlantedOptions net;
  net.contacts = 2000;
  net.sharing = 0.3;
  const PlantedProblem planted = make_planted_problem(net);
  std::vector<double> first;
  for (const double head_start : {0.0, 1000.0}) {
    const auto tasks =
        make_region_solver("pgs", {{"order", "coloured"}},
                           {.mode = RegionMode::islands, .threads = 2, .head_start = head_start});
    tasks->prepare(planted.problem);
    ASSERT_EQ(tasks->partition().regions(), 1);
    auto r = zeros(planted.problem);
    StopRule stop;
    stop.max_iterations = 5;
    static_cast<void>(tasks->solve(r, stop, nullptr));
    EXPECT_EQ(tasks->threads_used(), head_start > 0.0 ? 1 : 2);
    if (first.empty()) first = r;
    EXPECT_EQ(first, r);
  }
}

TEST(RegionTasks, ModeNoneIsThePlainSolver) {
  const auto plain = make_region_solver("pgs", {}, {RegionMode::none, 8});
  EXPECT_FALSE(plain->solves_apart());
  EXPECT_THROW(make_region_solver("pgs", {}, {RegionMode::islands, 0}), UsageError);
  EXPECT_THROW(make_region_solver("pgs", {}, {RegionMode::none, 0}), UsageError);
  EXPECT_THROW(make_region_solver("nosuch", {}, {RegionMode::islands, 1}), UsageError);
}

TEST(RegionSchedule, LargeRegionsComeFirstAloneAndSmallOnesAreBatched) {
  std::vector<double> costs(1000, 1.0);
  costs[500] = 4000.0;
  costs[3] = 3000.0;
  const auto schedule = schedule_regions(costs, 2);
  EXPECT_EQ(schedule.order[0], 500);
  EXPECT_EQ(schedule.order[1], 3);
  EXPECT_EQ(schedule.task(0).size(), 1U);
  EXPECT_EQ(schedule.task(1).size(), 1U);
  std::set<Index> seen(schedule.order.begin(), schedule.order.end());
  EXPECT_EQ(seen.size(), 1000U);
  // total 7998, batches of at least 7998/32 = 250 unit regions
  for (std::size_t i = 2; i + 1 < schedule.tasks(); ++i) EXPECT_EQ(schedule.task(i).size(), 250U);
  EXPECT_EQ(schedule.tasks(), 6U);
  EXPECT_EQ(schedule.task_begin.back(), 1000U);
}

TEST(RegionSchedule, SimilarRegionsAreTasksOfTheirOwn) {
  const std::vector<double> costs(24, 5.0);
  const auto schedule = schedule_regions(costs, 2);
  EXPECT_EQ(schedule.tasks(), 24U);
  EXPECT_EQ(schedule.order.front(), 0);
  EXPECT_EQ(schedule_regions({}, 2).tasks(), 0U);
}

TEST(RegionSchedule, CostCountsTheBlocksOfW) {
  EXPECT_EQ(predicted_cost(groups({5})), 25.0);
  ContactProblem dual;
  dual.W.resize(6, 6);
  dual.W.setIdentity();
  dual.q = Vector::Zero(6);
  dual.mu = Vector::Zero(2);
  EXPECT_EQ(predicted_cost(dual), 2.0);
}

}  // namespace
}  // namespace signorini::region_tasks_test
