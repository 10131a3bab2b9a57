// What the solver that drives a step is told of one solve after the other, and what comes of it when it
// fails.

#include "scene/driving_solver.h"

#include <gtest/gtest.h>

#include <functional>
#include <numbers>

#include "base/check.h"
#include "scene/implicit_world.h"

namespace signorini::driven_solve_test {
namespace {

using namespace testing_tools;

template <class Dense>
std::string bits_of(const Dense& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(*values.data())};
}

/// All that must stay the same while contacts change.
std::string matrix_bits(const ContactProblem& p) {
  const Eigen::Map<const Vector> numbers(p.M.valuePtr(), p.M.nonZeros());
  const Eigen::Map<const Eigen::Matrix<SparseRows::StorageIndex, Eigen::Dynamic, 1>> columns(
      p.M.innerIndexPtr(), p.M.nonZeros());
  return bits_of(numbers) + bits_of(columns) + bits_of(p.f) + std::to_string(p.dt) + "/" +
         std::to_string(p.M.rows());
}

/// Hands everything on to pgs and keeps a log of it: p(repare), u(pdate_contacts), s(olve). `fails`, asked
/// with the log so far, makes a solve end with nothing.
struct Log {
  std::string calls;
  std::vector<std::vector<double>> starts;  ///< of the solves
  std::vector<Eigen::Index> dofs;           ///< of the problems prepared
  int changed_matrices = 0;                 ///< updates with other M, f or dt than prepared
  int solves_without_arena = 0;
  std::function<bool(const std::string& calls)> fails;
};

class Logged final : public Solver {
 public:
  explicit Logged(Log& log) : log_(log), inner_(make_solver("pgs")) {}
  std::string_view name() const override { return "logged"; }
  std::string options() const override { return ""; }
  const CommonOptions& common() const override { return inner_->common(); }
  const SolverTraits& traits() const override { return inner_->traits(); }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<Logged>(log_); }
  std::string unsupported_reason(const ContactProblem&) const override { return ""; }
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  void prepare(const ContactProblem& problem) override {
    log_.calls += 'p';
    log_.dofs.push_back(problem.M.rows());
    matrix_ = matrix_bits(problem);
    inner_->prepare(problem);
  }
  void update_contacts(const ContactProblem& problem) override {
    log_.calls += 'u';
    log_.changed_matrices += matrix_bits(problem) != matrix_;
    inner_->prepare(problem);
  }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    log_.calls += 's';
    log_.starts.emplace_back(r.begin(), r.end());
    log_.solves_without_arena += arena_ == nullptr;
    if (!log_.fails || !log_.fails(log_.calls)) return inner_->solve(r, stop, observer);
    SolveReport report;
    report.status = SolveStatus::stalled;
    report.own_residual = 0.5;
    return report;
  }

 private:
  Log& log_;
  std::unique_ptr<Solver> inner_;
  TaskArena* arena_ = nullptr;
  std::string matrix_;
};

/// A slab that turns by 20° in its second step of 20 ms, with a ball on it: several linearisations a step.
void fill_turning(ImplicitWorld& world) {
  world.settings.loop = ContactLoop::relinearise;
  world.settings.dt = 2e-2;
  world.settings.friction = 0.1;
  world.detection.tolerance = 4e-3;
  Motion turning;
  turning.axis = Vector3(0, 1, 0);
  turning.spin = 20.0 / 180.0 * std::numbers::pi / 2e-2;
  turning.start = 0.02;
  turning.stop = 0.04;
  world.bodies.add_kinematic("slab", centred_box(Vector3(1.0, 1.0, 0.1)), turning);
  world.bodies.add_solid("ball", tet_ball(1, 0.1), elastic(2e5), {.translation = Vector3(-0.1, 0, 0.152)});
}

TEST(DrivenSolve, IsToldThatOnlyContactsChangeWithinAStep) {
  Log log;
  ImplicitWorld world;
  fill_turning(world);
  world.start(1, std::make_unique<Logged>(log));
  int updates = 0;
  for (int s = 0; s < 6; ++s) {
    log.calls.clear();
    const StepReport report = world.advance();
    ASSERT_EQ(report.halvings, 0) << s;
    ASSERT_FALSE(report.restarted) << s;
    std::string expected;
    for (int i = 0; i < report.solves; ++i) expected += i == 0 ? "ps" : "us";
    EXPECT_EQ(log.calls, expected) << s;
    updates += std::max(report.solves - 1, 0);
  }
  EXPECT_GE(updates, 2) << "no step was linearised anew: the test shows nothing";
  EXPECT_EQ(log.changed_matrices, 0);
  EXPECT_EQ(log.solves_without_arena, 0);
}

TEST(DrivenSolve, PreparesAnewWhenAnotherBodyJoins) {
  Log log;
  ImplicitWorld world;
  world.bodies.add_rigid("lying", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                         {.translation = Vector3(0, 0, 0.1005)});
  // 20 mm per step, from 10 mm above the floor: it is met by what crosses, not at the start of the step.
  world.bodies.add_rigid("falling", centred_box(Vector3(0.1, 0.1, 0.1)), 1000.0,
                         {.translation = Vector3(1, 0, 0.06), .velocity = Vector3(0, 0, -20)});
  world.floor();
  world.start(1, std::make_unique<Logged>(log));
  const StepReport report = world.advance();
  ASSERT_EQ(report.halvings, 0);
  ASSERT_GE(log.calls.size(), 4U);
  EXPECT_EQ(log.calls.substr(0, 4), "psps");
  EXPECT_EQ(log.dofs, (std::vector<Eigen::Index>{6, 12}));
  EXPECT_EQ(log.calls.find('p', 4), std::string::npos) << "later solves are of both bodies: " << log.calls;
  EXPECT_EQ(log.changed_matrices, 0);
}

TEST(DrivenSolve, PreparesAnewForEveryPartOfAHalvedStep) {
  Log log;
  log.fails = [](const std::string& calls) { return calls.size() <= 2; };
  ImplicitWorld world;
  world.bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.2)), 1000.0,
                         {.translation = Vector3(0, 0, 0.1005)});
  world.floor();
  world.start(1, std::make_unique<Logged>(log));
  const StepReport report = world.advance();
  EXPECT_EQ(report.halvings, 1);
  EXPECT_EQ(log.calls, "pspsps");
}

/// Two problems that differ in their contacts.
struct Problems {
  ContactProblem first, second;
  Problems() {
    ImplicitWorld world;
    fill_turning(world);
    world.start();
    while (world.problems.size() < 2) world.advance();
    first = world.problems[0];
    second = world.problems[1];
  }
};

TEST(DrivenSolve, AnUpdatedSolveThatFailsIsPreparedAndRepeatedFromZero) {
  const Problems problems;
  Log log;
  Logged solver(log);
  TaskArena arena(1);
  solver.use_arena(&arena);
  std::vector<double> r;
  StopRule stop;
  stop.residual = 1e-7;
  ASSERT_TRUE(drive(solver, problems.first, Preparation::whole, stop, 1e-4, 1, r).accepted);
  log.fails = [](const std::string& calls) { return calls == "psus"; };
  const DrivenSolve outcome = drive(solver, problems.second, Preparation::contacts, stop, 1e-4, 1, r);
  EXPECT_TRUE(outcome.accepted);
  EXPECT_TRUE(outcome.restarted);
  EXPECT_EQ(log.calls, "psusps");
  EXPECT_EQ(log.starts.back(), std::vector<double>(r.size(), 0.0));
}

TEST(DrivenSolve, AColdSolveThatFailsIsNotRepeated) {
  Problems problems;
  problems.first.warm_start.setZero();
  Log log;
  log.fails = [](const std::string&) { return true; };
  Logged solver(log);
  std::vector<double> r;
  const DrivenSolve outcome = drive(solver, problems.first, Preparation::whole, {}, 1e-4, 1, r);
  EXPECT_FALSE(outcome.accepted);
  EXPECT_FALSE(outcome.restarted);
  EXPECT_EQ(log.calls, "ps");
  EXPECT_EQ(outcome.failure(solver, problems.first, 1e-4),
            "solver 'logged' ends as stalled with residual 5.00e-01 on " +
                std::to_string(problems.first.contacts()) + " contacts (accepted: 1e-04)");
}

/// Solvers that keep something from one solve to the next must not carry it over steps: a run resumed from
/// its checkpoint, with a solver that knows nothing, goes the same way.
class KeepingSolver : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Solvers, KeepingSolver, testing::Values("ica", "cr-diag", "cr-full"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase(text, '-');
                           return text;
                         });

TEST_P(KeepingSolver, StepsAfterACheckpointHaveTheSameBits) {
  const auto world = [] {
    auto made = std::make_unique<ImplicitWorld>();
    fill_turning(*made);
    made->solver = GetParam();
    made->start();
    return made;
  };
  const auto whole = world();
  std::string half;
  int several = 0;
  for (int s = 0; s < 6; ++s) {
    several += whole->advance().solves > 1;
    if (s == 1) half = whole->stepper->checkpoint();
  }
  EXPECT_GE(several, 1);
  const auto resumed = world();
  resumed->stepper->restore(half);
  for (int s = 2; s < 6; ++s) resumed->advance();
  EXPECT_EQ(resumed->stepper->checkpoint(), whole->stepper->checkpoint());
}

}  // namespace
}  // namespace signorini::driven_solve_test
