// A second solver for the problems on which the first one fails.

#include "scene/fallback_solver.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "scene/implicit_world.h"
#include "scene/scene_config.h"
#include "scene/scene_file.h"

namespace signorini::fallback_solver_test {
namespace {

using namespace testing_tools;

/// pgs, whose answer is spoilt while `fails` is set.
class Unreliable final : public Solver {
 public:
  Unreliable(const bool& fails, int& solves) : fails_(fails), solves_(solves), inner_(make_solver("pgs")) {}
  std::string_view name() const override { return "unreliable"; }
  std::string options() const override { return ""; }
  const CommonOptions& common() const override { return inner_->common(); }
  const SolverTraits& traits() const override { return inner_->traits(); }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<Unreliable>(fails_, solves_); }
  std::string unsupported_reason(const ContactProblem& p) const override {
    return inner_->unsupported_reason(p);
  }
  void prepare(const ContactProblem& problem) override { inner_->prepare(problem); }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    ++solves_;
    SolveReport report = inner_->solve(r, stop, observer);
    if (!fails_) return report;
    for (double& x : r) x += 1.0;
    report.status = SolveStatus::stalled;
    report.own_residual = 0.1;
    return report;
  }

 private:
  const bool& fails_;
  int& solves_;
  std::unique_ptr<Solver> inner_;
};

/// A ball that rolls on a floor for 30 steps; its last velocities.
std::vector<Vector3> roll(std::unique_ptr<Solver> driver, int& restarts) {
  ImplicitWorld world;
  world.floor();
  world.bodies.add_solid("ball", tet_ball(2, 0.1), elastic(2e5),
                         {.translation = Vector3(0, 0, 0.1005), .velocity = Vector3(1, 0, -0.5)});
  world.settings.stop.residual = 1e-9;
  world.start(1, std::move(driver));
  for (int s = 0; s < 30; ++s) restarts += world.advance().restarted;
  return world.stepper->state().velocity;
}

TEST(FallbackSolver, SolvesWhatTheFirstOneDoesNotAndNothingElse) {
  int solves = 0, restarts = 0;
  bool fails = true;
  const std::vector<Vector3> expected = roll(make_solver("ica"), restarts);
  const auto driver = [&] {
    return std::make_unique<FallbackSolver>(std::make_unique<Unreliable>(fails, solves), make_solver("ica"),
                                            1e-4);
  };
  EXPECT_EQ(roll(driver(), restarts), expected)
      << "as if ica alone had driven: it starts where the first one started";
  EXPECT_GT(solves, 10);
  EXPECT_EQ(restarts, 0);
  fails = false;
  EXPECT_EQ(roll(driver(), restarts), roll(make_solver("pgs"), restarts));
}

TEST(FallbackSolver, KeepsTheBetterOfTwoFailedAnswers) {
  int solves = 0;
  const bool fails = true;
  const PlantedProblem planted = make_planted_problem({});
  StopRule stop;
  stop.residual = 1e-12;
  stop.max_iterations = 1;
  FallbackSolver driver(std::make_unique<Unreliable>(fails, solves), make_solver("pgs"), 0.0);
  driver.prepare(planted.problem);
  std::vector<double> r(3 * planted.problem.contacts(), 0.0);
  const SolveReport report = driver.solve(r, stop, nullptr);
  EXPECT_NE(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 2) << "one of each";
  EXPECT_EQ(report.counters.guards, 1);
  std::vector<double> alone(r.size(), 0.0);
  const auto pgs = make_solver("pgs");
  pgs->prepare(planted.problem);
  const SolveReport second = pgs->solve(alone, stop, nullptr);
  if (second.own_residual < 0.1) {
    EXPECT_EQ(r, alone);
  } else {
    for (double& x : alone) x += 1.0;
    EXPECT_EQ(r, alone);
  }
}

TEST(FallbackSolver, IsAKeyOfTheSceneThatIsPrintedOnlyWhereItIsUsed) {
  const SceneFile plain;
  EXPECT_EQ(scene_text(read_scene(plain.request()), SceneSize::quick).find("fallback"), std::string::npos);
  const std::string keys =
      "[solver]\nname = \"pgs\"\nfallback = \"ica\"\n[solver.fallback_options]\njudge = \"own\"\n";
  const SceneFile file(keys);
  const std::string text = scene_text(read_scene(file.request()), SceneSize::quick);
  EXPECT_NE(text.find("fallback = \"ica\""), std::string::npos);
  const SceneFile again("", "", text);
  const SolverConfig config = read_scene(again.request()).solver;
  EXPECT_EQ(config.fallback, "ica");
  EXPECT_EQ(config.fallback_options.at("judge"), "own");
  const SceneConfig other_driver = read_scene(file.request({{"solver.name", "cr-full"}}));
  EXPECT_EQ(other_driver.solver.fallback, "") << "a run by another solver is driven by that one alone";
  EXPECT_TRUE(other_driver.solver.fallback_options.empty());
  const SceneFile unknown("[solver]\nfallback = \"icy\"\n");
  EXPECT_MESSAGE(unknown.request(), "icy");
  const SceneFile other("[solver]\nfallback = \"ica\"\n[solver.fallback_options]\nlaw = \"pyramid\"\n");
  EXPECT_MESSAGE(other.request(), "different friction laws");
}

}  // namespace
}  // namespace signorini::fallback_solver_test
