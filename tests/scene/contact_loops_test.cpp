// What the loop of re-linearisations asks of contacts.

#include "scene/contact_loops.h"

#include <gtest/gtest.h>

#include <string>

#include "scene/implicit_world.h"
#include "scene/step_surfaces.h"

namespace signorini::contact_loops_test {
namespace {

using namespace testing_tools;

/// A box above a floor, or below its surface, that does not move in this step.
struct RestingBox {
  explicit RestingBox(double height) {
    bodies.add_kinematic("floor", ground(2.0), Motion{});
    bodies.add_rigid("box", centred_box(Vector3(0.2, 0.2, 0.1)), 1000.0,
                     {.translation = Vector3(0.5, -0.3, 0.05 + height)});
    bodies.finish();
    state = bodies.start();
    settings.loop = ContactLoop::relinearise;
    settings.dt = 1e-3;
    settings.safety_distance = settings.gap_tolerance = 5e-6;
    settings = resolved(settings, 1e-3);
    surfaces.emplace(bodies, ContactFinder(bodies.surface(), {}));
    surfaces->begin(sub, std::vector<Vector3>(bodies.blocks(), Vector3::Zero()));
  }

  BodySystem bodies;
  SystemState state;
  ImplicitSettings settings;
  TaskArena arena{1};
  WarmStart warm;
  SolveSink sink;
  StepReport report;
  std::string failure;
  SubStep sub{.arena = arena,
              .state = state,
              .warm = warm,
              .warm_dt = 1e-3,
              .dt = 1e-3,
              .sink = sink,
              .report = report,
              .failure = failure};
  std::optional<StepSurfaces> surfaces;
};

/// A contact that was taken away and came back is linearised once, before others change. One that ends below zero all the
/// same keeps more distance, until it does not.
TEST(ContactLoops, AContactThatStaysIsOpenAtTheEnd) {
  RestingBox above(1e-6), below(-1e-7);
  const std::vector<Vector3> still(above.bodies.blocks(), Vector3::Zero());
  const FaceNeighbours neighbours(above.bodies.surface());
  above.surfaces->find_touching(above.sub);
  LoopContacts contacts;
  start_contacts(above.sub, above.settings, *above.surfaces, contacts);
  ASSERT_EQ(count(contacts.all()), 4) << "the corners of the box";
  for (LoopContact& c : contacts.all()) c.stays = true;
  const double target = contacts.all()[0].target;

  above.surfaces->find_crossings(above.sub, still);
  ASSERT_TRUE(above.surfaces->found().empty());
  EXPECT_FALSE(relinearise_all(above.sub, above.settings, *above.surfaces, neighbours, contacts));
  EXPECT_EQ(contacts.all()[0].target, target) << "open: it stays as it is";

  below.surfaces->find_crossings(below.sub, still);
  ASSERT_TRUE(below.surfaces->found().empty()) << "below at both ends: nothing crosses";
  EXPECT_TRUE(relinearise_all(below.sub, below.settings, *below.surfaces, neighbours, contacts));
  for (const LoopContact& c : contacts.all()) {
    EXPECT_DOUBLE_EQ(c.target, target + below.settings.gap_tolerance);
    EXPECT_TRUE(c.stays);
  }
}

}  // namespace
}  // namespace signorini::contact_loops_test
