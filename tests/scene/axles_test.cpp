// Rigid bodies on axles in implicit scenes: contacts turn them, and scene files say how they are driven.

#include <gtest/gtest.h>

#include "geometry/lathe.h"
#include "scene/implicit_world.h"
#include "scene/scene_builder.h"
#include "scene/scene_file.h"

namespace signorini::axles_test {
namespace {

using namespace testing_tools;

constexpr double kRadius = 0.05;

/// A soft ball falls onto a roller along y, beside the top.
Index add_ball_on_roller(ImplicitWorld& world, const Axle& axle, double spin) {
  Placement placement;
  placement.rotation = Eigen::AngleAxisd(0.5 * 3.14159265358979, Vector3::UnitX()).toRotationMatrix();
  placement.angular_velocity = Vector3(0.0, spin, 0.0);
  const Index roller =
      world.bodies.add_rigid("roller", cylinder_surface(kRadius, 0.3, 48), 1000.0, placement);
  world.bodies.mount(roller, axle);
  Placement above;
  above.translation = Vector3(0.01, 0.0, kRadius + 0.0405);
  world.bodies.add_solid("ball", tet_ball(2, 0.04), elastic(2e5), above);
  world.settings.dt = 1e-3;
  world.settings.friction = 0.5;
  world.settings.loop = ContactLoop::relinearise;
  world.settings.stop.residual = 1e-10;
  world.detection.tolerance = 5e-4;
  return roller;
}

/// Moment of the impulses of the last solve about the axle, by the rows of the block of the roller's rotation; N·m·s.
double moment(const ImplicitWorld& world, Index block) {
  const ContactProblem& problem = world.problems.back();
  const std::vector<double>& r = world.impulses.back();
  const Vector pushed = problem.H * Eigen::Map<const Vector>(r.data(), count(r));
  for (std::size_t i = 0; i < problem.node_numbers.size(); ++i)
    if (problem.node_numbers[i] == block) return pushed[3 * i + 1];
  return 0.0;
}

TEST(Axles, ContactsAndTheDriveTurnARollerByItsMomentOfInertia) {
  const Axle axle{.axis = Vector3(0, 1, 0), .torque = 0.02, .speed = 3.0, .slope = 0.05};
  ImplicitWorld world;
  const Index roller = add_ball_on_roller(world, axle, 6.0);
  world.start();
  std::vector<Matrix3> mass(world.bodies.blocks());
  world.bodies.mass_blocks(world.bodies.start(), mass);
  const std::size_t block = world.bodies.body_blocks(roller)[0] + 1;
  const double inertia = mass[block](0, 0);
  int touched = 0;
  double turned = 0.0;
  for (int s = 0; s < 60; ++s) {
    const double before = world.stepper->state().velocity[block][1];
    const StepReport report = world.advance();
    const double after = world.stepper->state().velocity[block][1];
    // The end velocity without the push of pairs that are too close has impulses of its own, which nobody sees.
    if (report.contacts == 0 || report.velocity_solves > 0 || report.halvings > 0) continue;
    ++touched;
    const double by_contacts = moment(world, static_cast<Index>(block));
    turned = std::max(turned, std::abs(by_contacts));
    const double expected = world.settings.dt * axle.torque_at(after) + by_contacts;
    // The linear solves are done to 1e-10 of the whole system's momentum, about 0.1 N·s.
    EXPECT_NEAR(inertia * (after - before), expected, 1e-10) << s;
  }
  EXPECT_GT(touched, 10);
  EXPECT_GT(turned, 1e-5) << "friction never turned the roller: the test shows nothing";
  EXPECT_NEAR(world.stepper->state().rigid[0].centre.norm(), 0.0, 1e-15);
}

TEST(Axles, WithoutADriveTheEnergyNeverRises) {
  ImplicitWorld world;
  add_ball_on_roller(world, {.axis = Vector3(0, 1, 0)}, 6.0);
  world.start();
  double least = std::numeric_limits<double>::infinity(), first = 0.0;
  int touched = 0;
  for (int s = 0; s < 60; ++s) {
    const StepReport report = world.advance();
    const double energy = report.kinetic_energy + report.elastic_energy + report.potential_energy;
    if (s == 0) first = energy;
    touched += report.contacts > 0;
    // Gravity alone gains nothing in backward Euler; the solver's residual of 1e-10 leaves 1e-10 of the energy.
    EXPECT_LT(energy, least + 1e-9 * std::abs(first)) << s;
    least = std::min(least, energy);
  }
  EXPECT_GT(touched, 10);
}

constexpr const char* kDrum = R"([time]
integrator = "implicit"
[materials.steel]
model = "rigid"
[materials.soft]
model = "corotational"
[bodies.ball]
material = "soft"
position_m = [1.0, 0.0, 0.0]
[bodies.drum]
shape = "cylinder"
material = "steel"
angular_velocity_rad_s = [0.0, 0.0, 2.0]
)";

TEST(Axles, AreTablesOfTheSceneFile) {
  const std::string drive =
      "[axles.motor]\nbody = \"drum\"\nspeed_rad_s = 2.0\nslope_n_m_s = 0.5\ntorque_n_m = 0.1\n";
  const SceneFile file(drive, "", kDrum);
  const SceneConfig config = read_scene(file.request());
  const Axle axle = config.axles.at("motor").axle();
  EXPECT_EQ(axle.torque_at(1.0), 0.1 + 0.5);
  EXPECT_FALSE(axle.slides);
  EXPECT_TRUE(build_bodies(config).is_prescribed(build_bodies(config).body_blocks(1)[0]));
  // The effective scene is read as the same scene; scenes without axles do not mention them.
  const std::string text = scene_text(config, SceneSize::quick);
  EXPECT_NE(text.find("[axles.motor]\nbody = \"drum\""), std::string::npos) << text;
  const SceneFile again("", "", text);
  EXPECT_EQ(read_scene(again.request()).axles.at("motor").slope_n_m_s, 0.5);
  const SceneFile plain("", "", kDrum);
  EXPECT_EQ(scene_text(read_scene(plain.request()), SceneSize::quick).find("axles"), std::string::npos);
}

TEST(Axles, MistakesInTheFileAreOneClearLine) {
  const auto says = [](const std::string& keys, const char* part) {
    const SceneFile file(keys, "", kDrum);
    EXPECT_MESSAGE(file.request(), part);
  };
  says("[axles.motor]\nslides = true\n", "'axles.motor.body' is missing");
  says("[axles.motor]\nbody = \"drums\"\n", "no table [bodies.drums]");
  says("[axles.motor]\nbody = \"ball\"\n", "only rigid ones turn on axles");
  says("[axles.a]\nbody = \"drum\"\n[axles.b]\nbody = \"drum\"\n", "on the axles [axles.a] already");
  says("[axles.motor]\nbody = \"drum\"\naxis = [0.0, 0.0, 0.0]\n", "has no length");
  says("[axles.motor]\nbody = \"drum\"\nslope_n_m_s = -1.0\n", "slope_n_m_s");
  const SceneFile file("[axles.motor]\nbody = \"drum\"\n", "integrator", kDrum);
  EXPECT_MESSAGE(file.request(), "explicit steps have no axles");
}

}  // namespace
}  // namespace signorini::axles_test
