#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "contact/friction_state.h"
#include "scene/implicit_world.h"

namespace signorini::implicit_stepper_starts_test {
namespace {

using testing_tools::centred_box;
using testing_tools::ImplicitWorld;

/// A box that slides over a floor of 25 mm cells, slowly enough to come to rest.
struct SlidingBox : ImplicitWorld {
  explicit SlidingBox(ContactLoop loop, double dt = 1e-3) {
    settings.loop = loop;
    settings.dt = dt;
    settings.friction = 0.2;
    TriangleMesh cells;
    for (int j = 0; j <= 8; ++j) {
      for (int i = 0; i <= 20; ++i) cells.vertices.push_back(Vector3(0.025 * i, 0.025 * j - 0.1, 0.0));
    }
    for (int j = 0; j < 8; ++j) {
      for (int i = 0; i < 20; ++i) {
        const Index v = 21 * j + i;
        cells.triangles.push_back({v, v + 1, v + 22});
        cells.triangles.push_back({v, v + 22, v + 21});
      }
    }
    bodies.add_rigid("box", centred_box(Vector3(0.1, 0.1, 0.02)), 1000.0,
                     {.translation = Vector3(0.0713, 0.0017, 0.0105), .velocity = Vector3(0.3, 0, 0)});
    bodies.add_kinematic("floor", cells, Motion{});
    start();
  }
};

using Ends = std::map<PairKey, ContactEnd>;

Ends ends_of_solve(const ImplicitWorld& world, std::size_t solve) {
  Ends ends;
  const ContactProblem& p = world.problems[solve];
  const std::vector<double>& r = world.impulses[solve];
  for (std::size_t k = 0; k < world.contacts[solve].size(); ++k) {
    ends[world.contacts[solve][k].key] =
        contact_end(Vector3(r[3 * k], r[3 * k + 1], r[3 * k + 2]), p.mu[k], FrictionLaw::cone);
  }
  return ends;
}

class StartsOfLoops : public testing::TestWithParam<ContactLoop> {};
INSTANTIATE_TEST_SUITE_P(Loops, StartsOfLoops, testing::Values(ContactLoop::refine, ContactLoop::relinearise),
                         [](const auto& loop) { return std::string(enum_name(loop.param)); });

TEST_P(StartsOfLoops, EverySolveStartsFromTheVelocityOfTheStepAndTheEndOfTheSolveBefore) {
  SlidingBox world(GetParam());
  Ends before;
  std::map<FrictionState, int> met;
  for (int s = 0; s < 250; ++s) {
    const std::vector<Vector3> velocity = world.stepper->state().velocity;
    ASSERT_EQ(world.advance().halvings, 0);
    for (std::size_t i = 0; i < world.problems.size(); ++i) {
      const ContactProblem& p = world.problems[i];
      ASSERT_EQ(p.v_minus.size(), p.dofs());
      for (Index a = 0; a < count(p.node_numbers); ++a) {
        EXPECT_EQ(Vector3(p.v_minus.segment<3>(3 * a)), velocity[p.node_numbers[a]]);
      }
      for (std::size_t k = 0; k < world.contacts[i].size(); ++k) {
        ++met[p.start_states[k]];
        const auto known = before.find(world.contacts[i][k].key);
        if (known == before.end()) continue;
        EXPECT_EQ(p.start_states[k], known->second.state) << "step " << s << " contact " << k;
        EXPECT_EQ(p.start_bounds[k], known->second.bound) << "step " << s;
      }
      before = ends_of_solve(world, i);
    }
  }
  EXPECT_GT(met[FrictionState::sliding], 100);
  EXPECT_GT(met[FrictionState::sticking], 100) << "it came to rest";
}

/// T24: what is known of a corner goes with it to the next face.
TEST_P(StartsOfLoops, ACornerThatSlidesToTheNextFaceKeepsItsStateAndBound) {
  SlidingBox world(GetParam());
  Ends before;
  int moved = 0;
  for (int s = 0; s < 100; ++s) {
    world.advance();
    ASSERT_FALSE(world.problems.empty());
    const auto& contacts = world.contacts[0];
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      const PairKey& key = contacts[k].key;
      if (key.kind != PairKind::vertex_face || before.contains(key)) continue;
      const auto same_corner = [&](const auto& entry) {
        return entry.first.kind == PairKind::vertex_face && entry.first.vertex[0] == key.vertex[0];
      };
      const auto corner = std::find_if(before.begin(), before.end(), same_corner);
      if (std::count_if(before.begin(), before.end(), same_corner) != 1 ||
          std::count_if(contacts.begin(), contacts.end(), [&](const SurfaceContact& c) {
            return c.key.kind == PairKind::vertex_face && c.key.vertex[0] == key.vertex[0];
          }) != 1)
        continue;
      EXPECT_EQ(world.problems[0].start_states[k], corner->second.state) << "step " << s;
      EXPECT_EQ(world.problems[0].start_bounds[k], corner->second.bound) << "step " << s;
      ++moved;
    }
    before = ends_of_solve(world, world.problems.size() - 1);
  }
  EXPECT_GE(moved, 2);
}

TEST_P(StartsOfLoops, BoundsScaleWithTheStepAsImpulsesDo) {
  SlidingBox world(GetParam());
  for (int s = 0; s < 10; ++s) world.advance();
  const Ends before = ends_of_solve(world, world.problems.size() - 1);
  SlidingBox twice(GetParam(), 2e-3);
  twice.stepper->restore(world.stepper->checkpoint());
  twice.advance();
  int known = 0;
  for (std::size_t k = 0; k < twice.contacts[0].size(); ++k) {
    const auto entry = before.find(twice.contacts[0][k].key);
    if (entry == before.end()) continue;
    EXPECT_EQ(twice.problems[0].start_bounds[k], 2.0 * entry->second.bound);
    EXPECT_EQ(twice.problems[0].start_states[k], entry->second.state);
    ++known;
  }
  EXPECT_GE(known, 4);
}

/// A box that slides between the tangents of the floor: in these some contacts would seem to stick.
TEST(ImplicitStarts, TheAlignedPyramidSlidesInItsOwnTangents) {
  ImplicitWorld world;
  world.options = {{"law", "pyramid"}, {"frame", "aligned"}};
  world.settings.friction = 0.2;
  world.bodies.add_rigid("box", centred_box(Vector3(0.1, 0.1, 0.02)), 1000.0,
                         {.translation = Vector3(0, 0, 0.0105), .velocity = Vector3(0.5, 0.25, 0)});
  world.floor();
  world.start();
  for (int s = 0; s < 10; ++s) world.advance();
  const ContactProblem& p = world.problems[0];
  int inside = 0;
  for (Index k = 0; k < p.contacts(); ++k) {
    if (p.start_bounds[k] == 0.0) continue;
    EXPECT_EQ(p.start_states[k], FrictionState::sliding) << k;
    inside += p.warm_start.segment<2>(3 * k + 1).cwiseAbs().maxCoeff() < 0.97 * p.start_bounds[k];
  }
  EXPECT_GE(inside, 2);
}

TEST(ImplicitStarts, TheFirstContactsAreNew) {
  SlidingBox world(ContactLoop::relinearise);
  world.advance();
  const ContactProblem& p = world.problems[0];
  ASSERT_GE(p.contacts(), 4);
  EXPECT_EQ(p.start_states, std::vector<FrictionState>(p.contacts(), FrictionState::unknown));
  EXPECT_EQ(p.start_bounds, Vector::Zero(p.contacts()));
  EXPECT_EQ(p.warm_start, Vector::Zero(3 * p.contacts()));
}

}  // namespace
}  // namespace signorini::implicit_stepper_starts_test
