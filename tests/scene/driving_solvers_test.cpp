// Any registered solver drives implicit steps, and the motion does not depend on which.

#include <gtest/gtest.h>

#include "geometry/block.h"
#include "geometry/bucket.h"
#include "scene/implicit_stepper.h"
#include "solvers/registry.h"

namespace signorini::driving_solvers_test {
namespace {

constexpr double kStep = 2e-3;  // s

struct Landing {
  std::vector<Vector3> velocity;  ///< after 40 steps, m/s
  bool halved = false;            ///< a solve failed and was repeated with half the step
  /// What the solves left, as the solvers say themselves, summed over the steps: of about 1 m/s. A solve that
  /// ran out of iterations above the tolerance is used as long as its residual is acceptable.
  double residuals = 0.0;
};

/// A soft block that lands on the ground with some tangential speed.
Landing land(const std::string& solver, ContactLoop loop) {
  BodySystem system;
  ElasticMaterial rubber;
  rubber.young_modulus = 2e5;
  rubber.damping = 0.0;
  TetMesh mesh = kuhn_block({2, 2, 1}, {0.2, 0.2, 0.1});
  for (Vector3& x : mesh.vertices) x -= Vector3(0.1, 0.1, 0.05);
  Placement placement;
  placement.translation = Vector3(0, 0, 0.055);
  placement.velocity = Vector3(0.3, 0.1, -0.5);
  system.add_solid("block", mesh, rubber, placement);
  system.add_kinematic("ground", ground(2.0), {});
  system.finish();
  ImplicitSettings settings;
  settings.dt = kStep;
  settings.friction = 0.4;
  settings.loop = loop;
  settings.stop.residual = 1e-7;
  settings.stop.max_iterations = 20000;
  FinderSettings finder;
  finder.tolerance = 1e-3;
  OptionMap options;
  // States frozen until each linear system is solved, the default of `minres`, cycle on redundant contacts
  // (docs/notes/prototype.md, `interval = converged`): it cannot drive this block.
  if (solver == "minres") options["switching"] = "on-the-way";
  ImplicitStepper stepper(system, ContactFinder(system.surface(), finder), make_solver(solver, options),
                          settings);
  TaskArena arena(2);
  int in_contact = 0;
  Landing landing;
  for (int s = 0; s < 40; ++s) {
    const StepReport report = stepper.advance(arena, nullptr);
    in_contact += report.contacts > 0;
    EXPECT_FALSE(report.unresolved);
    landing.halved = landing.halved || report.halvings > 0;
    landing.residuals += std::max(report.residual, settings.stop.residual);
  }
  EXPECT_GT(in_contact, 20);
  landing.velocity = stepper.state().velocity;
  return landing;
}

class DrivingSolver : public ::testing::TestWithParam<ContactLoop> {};

TEST_P(DrivingSolver, DoesNotChangeTheMotion) {
  const Landing expected = land("reference", GetParam());
  ASSERT_FALSE(expected.halved);
  for (const SolverEntry& entry : solver_registry()) {
    SCOPED_TRACE(entry.name);
    const Landing landing = land(std::string(entry.name), GetParam());
    ASSERT_EQ(landing.velocity.size(), expected.velocity.size());
    double apart = 0.0;
    for (std::size_t i = 0; i < landing.velocity.size(); ++i)
      apart = std::max(apart, (landing.velocity[i] - expected.velocity[i]).norm());
    // Redundant contacts with friction have several solutions, and which one is found is up to the solver:
    // with tolerances from 1e-6 to 1e-9 the same 1e-5 to 7e-4 m/s remain. The bound is 10 times that, g dt/3.
    // A step that was halved is integrated otherwise: by gravity in a step, g dt.
    EXPECT_LT(apart, 9.81 * kStep / (landing.halved ? 1 : 3)) << "m/s";
    EXPECT_LT(landing.residuals, 40 * 1e-5) << "the motion proves little then";
  }
}

INSTANTIATE_TEST_SUITE_P(Loops, DrivingSolver,
                         ::testing::Values(ContactLoop::refine, ContactLoop::relinearise),
                         [](const auto& test) { return std::string(enum_name(test.param)); });

}  // namespace
}  // namespace signorini::driving_solvers_test
