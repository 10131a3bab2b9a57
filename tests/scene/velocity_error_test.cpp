// The column velocity_error: what the residual of a step is in m/s, by the referee.

#include <gtest/gtest.h>

#include <algorithm>

#include "contact/residuals.h"
#include "scene/explicit_stepper.h"
#include "scene/implicit_world.h"

namespace signorini::velocity_error_test {
namespace {

using namespace testing_tools;

constexpr double kResidual = 1e-3;  // far above rounding: solver and referee agree to many digits

/// The largest error of the accepted solves, m/s, by the referee.
struct Judge {
  double error = 0.0;
  void operator()(const SolveEvent& event) {
    if (!event.accepted) return;
    const Referee referee(event.problem);
    error = std::max(error, referee.measure(event.impulses, {}).residual * referee.velocity_scale());
  }
};

/// Their difference is that of two ways to compute u: 1e-10 of U from the linear solves without contact,
/// 1e-7 of the error.
void expect_equal(double reported, double judged, int step) {
  EXPECT_NEAR(reported, judged, 1e-6 * judged + 1e-12) << step;
}

TEST(VelocityError, OfAnExplicitStepIsTheResidualTimesTheLargestFreeVelocity) {
  BodySystem bodies;
  bodies.add_solid("ball", tet_ball(2, 0.1), elastic(2e5),
                   {.translation = Vector3(0, 0, 0.1), .velocity = Vector3(0.5, 0, -1)});
  bodies.add_kinematic("floor", ground(2.0), {});
  bodies.finish();
  ExplicitSettings settings;
  settings.stop.residual = kResidual;
  ExplicitStepper stepper(bodies, {1e-3, 5e-3, 0.01, 0.05, false}, make_solver("pgs"), settings);
  TaskArena arena(1);
  int in_contact = 0;
  for (int s = 0; s < 100; ++s) {
    Judge judge;
    const StepReport report = stepper.advance(arena, std::ref(judge));
    if (report.contacts == 0) {
      EXPECT_EQ(report.velocity_error, 0.0) << s;
      continue;
    }
    expect_equal(report.velocity_error, judge.error, s);
    in_contact += report.velocity_error > 0.0;
  }
  EXPECT_GT(in_contact, 10);
}

TEST(VelocityError, OfAnImplicitStepIsTheWorstOfItsSolves) {
  ImplicitWorld world;
  world.settings.stop.residual = kResidual;
  world.bodies.add_solid("ball", tet_ball(1, 0.1), elastic(2e5),
                         {.translation = Vector3(0, 0, 0.11), .velocity = Vector3(0.5, 0, -1)});
  world.floor();
  world.start();
  int in_contact = 0;
  for (int s = 0; s < 60; ++s) {
    const StepReport report = world.advance();
    if (report.velocity_solves > 0) continue;  // these the test does not see
    double error = 0.0;
    for (std::size_t i = 0; i < world.problems.size(); ++i) {
      const Referee referee(world.problems[i]);
      if (world.problems[i].contacts() > 0 && world.accepted[i])
        error = std::max(error, referee.measure(world.impulses[i], {}).residual * referee.velocity_scale());
    }
    expect_equal(report.velocity_error, error, s);
    in_contact += report.velocity_error > 0.0;
  }
  EXPECT_GT(in_contact, 10);
}

}  // namespace
}  // namespace signorini::velocity_error_test
