#include "collision/contact_detection.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>

#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/bucket.h"

namespace signorini::contact_detection_test {

void PrintTo(const PointTriangleKey& key, std::ostream* os) { *os << key.point << ":" << key.triangle; }

namespace {

/// Surfaces of balls (no inner nodes) at the given centres.
struct Balls {
  std::vector<Vector3> position, velocity;
  std::vector<Index> body_of;
  std::vector<Triangle> surface;

  void add(int level, double radius, const Vector3& centre, const Vector3& speed = Vector3::Zero()) {
    const TriangleMesh ball = icosphere(level);
    const Index shift = count(position);
    const Index body = body_of.empty() ? 0 : body_of.back() + 1;
    for (const Vector3& x : ball.vertices) {
      position.push_back(centre + radius * x);
      velocity.push_back(speed);
      body_of.push_back(body);
    }
    for (const Triangle& t : ball.triangles) surface.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  }
  CollisionModel model(const TriangleMesh& obstacle = {}) const {
    return make_collision_model(surface, body_of, obstacle);
  }
  NodeMotion motion(double dt) const { return {position, velocity, velocity, dt}; }
};

Balls random_pile(std::uint64_t seed, int balls) {
  Rng rng(seed);
  Balls pile;
  for (int b = 0; b < balls; ++b) {
    const double x = rng.uniform(-0.2, 0.2);
    const double y = rng.uniform(-0.2, 0.2);
    pile.add(1 + b % 2, 0.1, {x, y, rng.uniform(0.09, 0.4)},
             Vector3(rng.normal(), rng.normal(), rng.normal()));
  }
  return pile;
}

/// Every point against every triangle of every other surface, without any culling.
std::vector<PointTriangleKey> brute_force(const CollisionModel& model, const DetectionSettings& settings,
                                          const NodeMotion& motion) {
  std::vector<PointTriangleKey> keys;
  const Index movable = count(model.triangles);
  const auto test = [&](Index point, const Vector3& p, const Vector3& before, Index other) {
    std::vector<NearTriangle> near;
    NearTriangle candidate;
    const Index triangles = other < 0 ? count(model.obstacle.triangles) : movable;
    for (Index t = 0; t < triangles; ++t) {
      if (other >= 0 && model.triangle_body[t] != other) continue;
      const Triangle& k = other < 0 ? model.obstacle.triangles[t] : model.triangles[t];
      const auto x = [&](std::size_t i) {
        return other < 0 ? model.obstacle.vertices[k[i]] : Vector3(motion.position[k[i]]);
      };
      const Index key = other < 0 ? movable + t : t;
      if (near_triangle(p, key, x(0), x(1), x(2), candidate)) near.push_back(candidate);
    }
    select_contacts(near, settings.tolerance, settings.depth);
    for (const NearTriangle& n : near) {
      Vector3 relative = before;
      if (other >= 0) {
        for (std::size_t c = 0; c < 3; ++c) {
          relative -= n.on.barycentric[c] * motion.velocity[model.triangles[n.triangle][c]];
        }
      }
      const double speed = n.normal.dot(relative);
      if (speed <= settings.rest_speed && (n.gap <= settings.tolerance || n.gap + motion.dt * speed <= 0.0)) {
        keys.push_back({point, n.triangle});
      }
    }
  };
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const Index point = model.points[i];
    test(point, motion.position[point], motion.velocity[point], -1);
    for (Index b = 0; b < model.bodies; ++b) {
      if (b != model.point_body[i]) {
        test(point, motion.position[point], motion.velocity[point], b);
      }
    }
  }
  for (const Index v : model.obstacle_points) {
    for (Index b = 0; b < model.bodies; ++b) {
      test(model.nodes + v, model.obstacle.vertices[v], Vector3::Zero(), b);
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(ContactDetection, FindsExactlyTheContactsOfTheDoubleLoopInRandomPiles) {
  std::size_t total = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Balls pile = random_pile(seed, 6);
    const DetectionSettings settings{5e-3, 0.02, 4e-3, 0.03};
    ContactDetector detector(pile.model(bucket({0.2, 0.25, 0.3, 12})), settings);
    TaskArena arena(1);
    const auto& contacts = detector.detect(arena, pile.motion(1e-3));
    std::vector<PointTriangleKey> keys;
    for (const PointTriangleContact& c : contacts) keys.push_back(c.key);
    EXPECT_EQ(keys, brute_force(detector.model(), settings, pile.motion(1e-3)));
    total += keys.size();
  }
  EXPECT_GT(total, 200U) << "the piles must touch for this test to mean anything";
}

TEST(ContactDetection, HasTheSameBytesForAnyNumberOfThreads) {
  const Balls pile = random_pile(42, 8);
  std::vector<PointTriangleContact> reference;
  for (const int threads : {1, 2, 4}) {
    TaskArena arena(threads);
    ContactDetector detector(pile.model(bucket({0.2, 0.25, 0.3, 12})), {5e-3, 0.02, 4e-3, 0.03});
    const auto& contacts = detector.detect(arena, pile.motion(1e-3));
    if (threads == 1) reference = contacts;
    ASSERT_EQ(contacts.size(), reference.size());
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      EXPECT_EQ(contacts[k].key, reference[k].key);
      EXPECT_EQ(contacts[k].gap, reference[k].gap);
      EXPECT_EQ(contacts[k].normal, reference[k].normal);
      EXPECT_EQ(contacts[k].barycentric, reference[k].barycentric);
      EXPECT_EQ(contacts[k].position, reference[k].position);
    }
  }
}

TEST(ContactDetection, NormalGapAndWeightsDescribeThePairGeometrically) {
  const Balls pile = random_pile(7, 8);
  ContactDetector detector(pile.model(bucket({0.2, 0.25, 0.3, 12})), {5e-3, 0.02, 4e-3, 0.03});
  TaskArena arena(1);
  const auto& contacts = detector.detect(arena, pile.motion(1e-3));
  ASSERT_FALSE(contacts.empty());
  for (const PointTriangleContact& c : contacts) {
    EXPECT_NEAR(c.normal.norm(), 1.0, 1e-15);
    EXPECT_NEAR(c.normal.dot(c.tangent), 0.0, 1e-14);  // 50 ε
    EXPECT_NEAR(c.barycentric.sum(), 1.0, 1e-15);
    EXPECT_NE(c.point_body, c.triangle_body);
    if (c.triangle[0] < 0) continue;
    Vector3 on = Vector3::Zero();
    for (std::size_t i = 0; i < 3; ++i) {
      on += c.barycentric[i] * pile.position[c.triangle[i]];
    }
    EXPECT_LT((on - c.position).norm(), 1e-15);
    if (c.node < 0) continue;
    EXPECT_NEAR(c.normal.dot(pile.position[c.node] - on), c.gap, 1e-15);
  }
}

TEST(ContactDetection, AFastPointIsSeenOneStepBeforeItCrosses) {
  // 10 m/s × 1 ms = 10 mm per step, tolerance 1 mm, gap 6 mm.
  Balls one;
  one.add(1, 0.1, {0, 0, 0.106}, {0, 0, -10});
  TaskArena arena(1);
  ContactDetector detector(one.model(ground(1.0)), {1e-3, 5e-3, 4e-3, 0.05});
  const double lowest =
      std::min_element(one.position.begin(), one.position.end(), [](const auto& a, const auto& b) {
        return a[2] < b[2];
      })->z();
  ASSERT_GT(lowest, 2e-3);
  EXPECT_FALSE(detector.detect(arena, one.motion(1e-3)).empty());
  EXPECT_TRUE(detector.detect(arena, one.motion(1e-4)).empty()) << "not reached within 0.1 ms";
}

TEST(ContactDetection, SeparatingPairsAreNoContactsButCountAsPenetration) {
  Balls one;
  one.add(1, 0.1, {0, 0, 0.08}, {0, 0, 1});
  TaskArena arena(1);
  ContactDetector detector(one.model(ground(1.0)), {1e-3, 0.05, 4e-3, 0.05});
  EXPECT_TRUE(detector.detect(arena, one.motion(1e-4)).empty());
  EXPECT_GT(detector.deepest(), 1e-3);
  for (Vector3& v : one.velocity) v = Vector3::Zero();
  EXPECT_FALSE(detector.detect(arena, one.motion(1e-4)).empty());
}

TEST(ContactDetection, DeepestPenetrationIsThatOfThePlantedOverlap) {
  Balls two;
  two.add(2, 0.1, {0, 0, 0.5});
  // A vertex of the icosphere lies on no axis; the deepest point is found by hand over all vertices.
  const TriangleMesh floor = ground(1.0);
  for (Vector3& x : two.position) x[2] -= 0.42;
  double lowest = 1.0;
  for (const Vector3& x : two.position) lowest = std::min(lowest, x[2]);
  ASSERT_LT(lowest, 0.0);
  EXPECT_NEAR(deepest_penetration(two.model(floor), two.position, 0.05), -lowest, 1e-15);
  TaskArena arena(1);
  ContactDetector detector(two.model(floor), {1e-3, 0.05, 4e-3, 0.05});
  detector.detect(arena, two.motion(1e-4));
  EXPECT_NEAR(detector.deepest(), -lowest, 1e-15);
}

TEST(ContactDetection, SingleBodyAndNoObstacleHaveNoContacts) {
  Balls one;
  one.add(1, 0.1, {0, 0, 0});
  TaskArena arena(1);
  ContactDetector detector(one.model(), {});
  EXPECT_TRUE(detector.detect(arena, one.motion(1e-3)).empty());
  EXPECT_EQ(detector.deepest(), 0.0);
}

TEST(ContactDetection, ContactsOnFacesAreHitFromBothSidesOfAPair) {
  // Two balls face to face: points of A on triangles of B, and of B on A.
  Balls two;
  two.add(2, 0.1, {0, 0, 0});
  two.add(2, 0.1, {0.199, 0.003, 0.002});
  TaskArena arena(1);
  ContactDetector detector(two.model(), {2e-3, 0.02, 4e-3, 0.03});
  int of_first = 0;
  int of_second = 0;
  for (const PointTriangleContact& c : detector.detect(arena, two.motion(1e-4))) {
    (c.point_body == 0 ? of_first : of_second) += 1;
    EXPECT_GT(c.normal.dot(c.point_body == 0 ? Vector3(-1, 0, 0) : Vector3(1, 0, 0)), 0.8);
  }
  EXPECT_GT(of_first, 0);
  EXPECT_GT(of_second, 0);
}

}  // namespace
}  // namespace signorini::contact_detection_test
