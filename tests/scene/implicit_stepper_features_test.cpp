#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <set>

#include "base/rng.h"
#include "geometry/ring.h"
#include "scene/implicit_world.h"
#include "scene/relinearisation.h"

namespace signorini::implicit_stepper_features_test {
namespace {

using testing_tools::centred_box;
using testing_tools::elastic;
using testing_tools::ImplicitWorld;

/// Flat, 40 × 8 cells of 25 mm, two faces each.
TriangleMesh fine_floor() {
  TriangleMesh floor;
  for (int j = 0; j <= 8; ++j) {
    for (int i = 0; i <= 40; ++i) floor.vertices.push_back(Vector3(0.025 * i, 0.025 * j - 0.1, 0.0));
  }
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 40; ++i) {
      const Index v = 41 * j + i;
      floor.triangles.push_back({v, v + 1, v + 42});
      floor.triangles.push_back({v, v + 42, v + 41});
    }
  }
  return floor;
}

/// The vertices that the contact's features have in the model, in the order of its key.
PairKey key_of_features(const SurfaceModel& model, const SurfaceContact& contact) {
  const auto [a, b] = contact.feature;
  if (contact.key.kind == PairKind::vertex_face) {
    const Triangle& face = model.triangles[b];
    return {PairKind::vertex_face, {a, face[0], face[1], face[2]}};
  }
  const Edge& first = model.edges[a];
  const Edge& second = model.edges[b];
  return {PairKind::edge_edge, {first[0], first[1], second[0], second[1]}};
}

/// A contact whose vertex slid off its face goes by the number of the face that it slid to: the old face may be met
/// again while the handed contact is still there.
TEST(FaceNeighbours, TheContactTakesTheNumberOfItsNewFace) {
  SurfaceModel model;
  append_surface(model, 4, {{0, 1, 2}, {3, 2, 1}}, {}, false, false);
  append_surface(model, 1, {}, {}, true, true);
  const std::vector<Vector3> x{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.7, 0.7, 0.01}};
  SurfaceContact contact;
  contact.key = {PairKind::vertex_face, {4, 0, 1, 2}};
  contact.feature = {4, 0};
  contact.body = {1, 0};
  contact.weight = {1.0, -0.2, -0.4, -0.4};
  contact.normal = Vector3(0, 0, 1);
  const auto found = FaceNeighbours(model).find(contact, x, x);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->feature, (std::array<Index, 2>{4, 1}));
  EXPECT_EQ(found->key.vertex, key_of_features(model, *found).vertex);
}

/// Corners pass a whole cell per step, so contacts are handed from face to face between the solves of a step.
TEST(ImplicitStepper, EveryContactOfEverySolveIsNamedByWhatItTouches) {
  ImplicitWorld world;
  world.settings.loop = ContactLoop::relinearise;
  world.settings.dt = 0.02;
  world.settings.friction = 0.1;
  world.bodies.add_rigid("box", centred_box(Vector3(0.1, 0.1, 0.02)), 1000.0,
                         {.translation = Vector3(0.0713, 0.0017, 0.0105), .velocity = Vector3(1.5, 0, 0)});
  world.bodies.add_kinematic("floor", fine_floor(), Motion{});
  world.start();
  int handed_on = 0;
  for (int s = 0; s < 20; ++s) {
    world.advance();
    std::set<PairKey> before;
    for (const std::vector<SurfaceContact>& contacts : world.contacts) {
      std::set<PairKey> now;
      for (const SurfaceContact& contact : contacts) {
        now.insert(contact.key);
        EXPECT_EQ(key_of_features(world.bodies.surface(), contact).vertex, contact.key.vertex)
            << "step " << s << ": features " << contact.feature[0] << ", " << contact.feature[1];
        handed_on += !before.empty() && !before.contains(contact.key);
      }
      before = std::move(now);
    }
  }
  EXPECT_GE(handed_on, 20);
}

/// Rings that roll and slide over each other: a contact slides past the end of its edge and is taken away, the pair of the
/// next edge slides back past the same corner and is taken away, and each crosses without the other.
TEST(ImplicitStepper, NeighbouringEdgesDoNotTakeTurns) {
  constexpr int kCases = 8, kSteps = 60;
  int rounds = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Rng rng(seed);
    const auto turned = [&rng] {
      return Eigen::Quaterniond(rng.normal(), rng.normal(), rng.normal(), rng.normal())
          .normalized()
          .toRotationMatrix();
    };
    ImplicitWorld world;
    world.settings.loop = ContactLoop::relinearise;
    world.settings.safety_distance = 5e-6;
    world.settings.gap_tolerance = 5e-6;
    world.detection.tolerance = 1e-4;
    std::vector<Index> unused;
    TriangleMesh fixed = boundary_surface(ring({}), unused);
    const Matrix3 turn = turned();
    for (Vector3& x : fixed.vertices) x = turn * x;
    world.bodies.add_kinematic("fixed", fixed, Motion{});
    world.bodies.add_solid(
        "falling", ring({}), elastic(5e5),
        {.rotation = turned(), .translation = Vector3(0.03, 0.01, 0.13), .velocity = Vector3(0, 0, -2)});
    world.start();
    for (int s = 0; s < kSteps; ++s) {
      rounds = std::max(rounds, world.advance().detection_rounds);
    }
  }
  EXPECT_LT(rounds, 12) << "23 before such contacts stayed";
}

/// Boxes start within the tolerance of each other and of the floor, farther than what contacts keep: open pairs first.
TEST(ImplicitStepper, PressedAreTheContactsWithANormalImpulse) {
  ImplicitWorld world;
  world.settings.dt = 2e-3;
  world.bodies.add_rigid("low", centred_box(Vector3(0.2, 0.2, 0.1)), 1000.0,
                         {.translation = Vector3(0, 0, 0.0509)});
  world.bodies.add_rigid("high", centred_box(Vector3(0.1, 0.1, 0.1)), 1000.0,
                         {.translation = Vector3(0.013, 0.007, 0.1518)});
  world.floor();
  world.start();
  int most = 0;
  bool some_open = false;
  for (int s = 0; s < 40; ++s) {
    const StepReport report = world.advance();
    int pressed = 0;
    if (!world.impulses.empty() && report.contacts > 0) {
      const std::vector<double>& r = world.impulses.back();
      for (std::size_t k = 0; k < r.size(); k += 3) pressed += r[k] > 0.0;
    }
    EXPECT_EQ(report.pressed, pressed) << "step " << s;
    EXPECT_LE(report.pressed, report.contacts);
    some_open = some_open || report.pressed < report.contacts;
    most = std::max(most, report.pressed);
  }
  EXPECT_GE(most, 3 + 3);
  EXPECT_TRUE(some_open);
}

}  // namespace
}  // namespace signorini::implicit_stepper_features_test
