#include "collision/edge_contacts.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>

#include "base/rng.h"
#include "collision/continuous.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/box_surface.h"

namespace signorini::edge_contacts_test {
namespace {

constexpr DetectionSettings kSettings{.tolerance = 1e-3, .depth = 5e-3, .rest_speed = 4e-3, .cell = 0.05};

/// Bodies with their motion. `deformable` bodies may be touched at all their edges.
struct Surfaces {
  SurfaceModel model;
  std::vector<Vector3> x, v;

  void add(const TriangleMesh& mesh, const Vector3& place, const Vector3& speed = Vector3::Zero(),
           bool movable = true, bool deformable = false) {
    append_surface(model, count(mesh.vertices), mesh.triangles, {}, movable, deformable);
    for (const Vector3& p : mesh.vertices) {
      x.push_back(place + p);
      v.push_back(speed);
    }
  }
  std::vector<SurfaceContact> detect(double dt = 1e-4, int threads = 1,
                                     const DetectionSettings& settings = kSettings) const {
    TaskArena arena(threads);
    EdgeDetector detector(model, x, settings);
    return detector.detect(arena, {x, v, v, dt});
  }
};

/// Two bars, 0.1 m wide, at right angles, the second one `gap` above the first one.
Surfaces crossed_bars(double gap, const Vector3& speed = Vector3::Zero()) {
  Surfaces bars;
  bars.add(box_surface({0.4, 0.1, 0.1}), {0, 0, -0.05});
  bars.add(box_surface({0.1, 0.4, 0.1}), {0, 0, 0.05 + gap}, speed);
  return bars;
}

TEST(EdgeDetector, CrossedBarsTouchAtTheFourCornersOfTheirOverlap) {
  for (const double gap : {0.5e-3, 0.0, -2e-3}) {
    const auto contacts = crossed_bars(gap).detect();
    ASSERT_EQ(contacts.size(), 4U) << gap;
    for (const SurfaceContact& c : contacts) {
      EXPECT_EQ(c.body, (std::array<Index, 2>{0, 1}));
      EXPECT_LT((c.normal - Vector3(0, 0, -1)).norm(), 1e-14) << "out of the upper bar, which is b";
      EXPECT_NEAR(c.gap, gap, 1e-15);
      EXPECT_NEAR(std::abs(c.position[0]), 0.05, 1e-14);
      EXPECT_NEAR(std::abs(c.position[1]), 0.05, 1e-14);
      EXPECT_NEAR(c.weight[0] + c.weight[1], 1.0, 1e-14);
      EXPECT_NEAR(c.weight[2] + c.weight[3], -1.0, 1e-14);
      EXPECT_NEAR(c.tangent.dot(c.normal), 0.0, 1e-14);
    }
  }
}

TEST(EdgeDetector, PairsBeyondTheToleranceOrTheDepthAreNoContacts) {
  EXPECT_TRUE(crossed_bars(1.1e-3).detect().empty());
  EXPECT_EQ(crossed_bars(-4.9e-3).detect().size(), 4U);
  EXPECT_TRUE(crossed_bars(-5.1e-3).detect().empty());
}

TEST(EdgeDetector, FastPairsAreContactsBeforeTheyMeetAndSeparatingOnesAreNone) {
  // 3 mm in a step of 1 ms at 4 m/s, not at 2 m/s.
  EXPECT_EQ(crossed_bars(3e-3, {0, 0, -4}).detect(1e-3).size(), 4U);
  EXPECT_TRUE(crossed_bars(3e-3, {0, 0, -2}).detect(1e-3).empty());
  EXPECT_EQ(crossed_bars(0.5e-3, {0, 0, 3e-3}).detect().size(), 4U);
  EXPECT_TRUE(crossed_bars(0.5e-3, {0, 0, 5e-3}).detect().empty()) << "faster than rest_speed";
}

TEST(EdgeDetector, APairThatCannotTouchYetIsLookedAtWhereTheStepTakesIt) {
  // The upper bar's end is 0.25 mm beside the lower bar and 0.5 mm above it; it comes 1 mm sideways and 1 mm down
  // within the step: over the lower bar's edge before it is as low.
  Surfaces bars;
  bars.add(box_surface({0.4, 0.1, 0.1}), {0, 0, -0.05});
  bars.add(box_surface({0.1, 0.4, 0.1}), {0, 0.25025, 0.0505}, {0, -1, -1});
  EXPECT_TRUE(bars.detect(1e-4).empty());
  const auto contacts = bars.detect(1e-3);
  // Its two lower edges cross the lower bar's edge there; the normal is vertical, the gap is that of the start.
  ASSERT_EQ(contacts.size(), 2U);
  for (const SurfaceContact& c : contacts) {
    EXPECT_LT((c.normal - Vector3(0, 0, -1)).norm(), 1e-14);
    EXPECT_NEAR(c.gap, 0.5e-3, 1e-15);
  }
}

TEST(EdgeDetector, ANormalMustPointOutOfBothEdges) {
  // A bar that stands with its lower edge over the middle of a large face: the face's diagonal is no edge that
  // can be touched, and for a body that deforms only straight from above.
  Surfaces inside;
  inside.add(box_surface({1, 1, 0.1}), {0, 0, -0.05}, Vector3::Zero(), true, true);
  TriangleMesh turned = box_surface({0.3, 0.05, 0.05});
  const Eigen::AngleAxisd quarter(0.25 * M_PI, Vector3::UnitX());
  for (Vector3& p : turned.vertices) p = Eigen::AngleAxisd(0.3, Vector3::UnitZ()) * (quarter * p);
  inside.add(turned, {0, 0, 0.025 * std::sqrt(2.0) + 5e-4});
  EXPECT_EQ(inside.detect().size(), 1U) << "the diagonal of a face that deforms";
  Surfaces rigid = inside;
  rigid.model.bodies[0].deformable = false;
  EXPECT_TRUE(rigid.detect().empty());
  // The same edge beside the plate, 0.5 mm from its side and crossing the border line from below: the normal
  // of the two lines leans over the top face of the plate.
  Surfaces leaning;
  leaning.add(box_surface({1, 1, 0.1}), {0, 0, -0.05});
  TriangleMesh stick = box_surface({0.3, 0.05, 0.05});
  for (Vector3& p : stick.vertices) p = Eigen::AngleAxisd(-0.5, Vector3::UnitY()) * (quarter * p);
  const auto contacts = [&](const Vector3& place) {
    Surfaces s = leaning;
    s.add(stick, place);
    return s.detect();
  };
  // Lower edge through the point (0.5, 0, 0.0005), descending towards the plate's inside: its end is in the plate.
  for (const SurfaceContact& c : contacts({0.5, 0, 0.025 * std::sqrt(2.0) / std::cos(0.5) + 5e-4})) {
    EXPECT_GE(c.normal.dot(Vector3(-1, 0, -1)), 0.0) << "out of the stick means towards the plate";
  }
}

TEST(EdgeDetector, BodiesThatNothingMovesDoNotTouchEachOtherNorABodyItself) {
  Surfaces fixed;
  fixed.add(box_surface({0.4, 0.1, 0.1}), {0, 0, -0.05}, Vector3::Zero(), false);
  fixed.add(box_surface({0.1, 0.4, 0.1}), {0, 0, 0.0505}, Vector3::Zero(), false);
  EXPECT_TRUE(fixed.detect().empty());
  fixed.model.bodies[1].movable = true;
  EXPECT_EQ(fixed.detect().size(), 4U);
  Surfaces alone;
  TriangleMesh both = box_surface({0.4, 0.1, 0.1});
  TriangleMesh upper = box_surface({0.1, 0.4, 0.1});
  for (Vector3& p : upper.vertices) p[2] += 0.1005;
  append(both, upper);
  alone.add(both, Vector3::Zero(), Vector3::Zero(), true, true);
  EXPECT_TRUE(alone.detect().empty());
}

/// Balls of radius 0.1 m on a grid of 0.195 m: neighbours overlap a little.
Surfaces random_pile(std::uint64_t seed) {
  Rng rng(seed);
  Surfaces pile;
  for (int b = 0; b < 8; ++b) {
    TriangleMesh ball = icosphere(1 + b % 2);
    for (Vector3& p : ball.vertices) p *= 0.1;
    const Vector3 place(b % 2, b / 2 % 2, b / 4);
    const Vector3 shift(rng.uniform(-0.01, 0.01), rng.uniform(-0.01, 0.01), rng.uniform(-0.01, 0.01));
    const Vector3 speed(rng.normal(), rng.normal(), rng.normal());
    pile.add(ball, 0.195 * place + shift, speed, true, b % 3 != 0);
  }
  return pile;
}
constexpr DetectionSettings kDeep{.tolerance = 5e-3, .depth = 1e-2, .rest_speed = 1e3, .cell = 0.05};

TEST(EdgeDetector, FindsTheSameBitsForAnyNumberOfThreadsAndTheSamePairsWhateverTheCells) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Surfaces pile = random_pile(seed);
    const auto contacts = pile.detect(1e-4, 1, kDeep);
    found += contacts.size();
    EXPECT_TRUE(
        std::is_sorted(contacts.begin(), contacts.end(),
                       [](const SurfaceContact& a, const SurfaceContact& b) { return a.key < b.key; }));
    for (const int threads : {2, 4}) {
      const auto again = pile.detect(1e-4, threads, kDeep);
      ASSERT_EQ(again.size(), contacts.size());
      for (std::size_t i = 0; i < again.size(); ++i) {
        EXPECT_EQ(again[i].key, contacts[i].key);
        EXPECT_EQ(again[i].gap, contacts[i].gap);
        EXPECT_EQ(again[i].normal, contacts[i].normal);
      }
    }
    DetectionSettings one_cell = kDeep;
    one_cell.cell = 10.0;
    const auto slow = pile.detect(1e-4, 1, one_cell);
    ASSERT_EQ(slow.size(), contacts.size());
    for (std::size_t i = 0; i < slow.size(); ++i) EXPECT_EQ(slow[i].key, contacts[i].key);
  }
  EXPECT_GT(found, 20U);
}

TEST(EdgeDetector, NormalAndGapMoveWithTheBodies) {
  // Turning the whole world turns the normals and keeps gaps and weights.
  const Surfaces pile = random_pile(7);
  Surfaces turned = pile;
  const Eigen::AngleAxisd turn(0.7, Vector3(1, 2, 3).normalized());
  for (Vector3& p : turned.x) p = turn * p;
  for (Vector3& u : turned.v) u = turn * u;
  const auto contacts = pile.detect(1e-4, 1, kDeep), others = turned.detect(1e-4, 1, kDeep);
  EXPECT_GT(contacts.size(), 3U);
  ASSERT_EQ(contacts.size(), others.size());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    EXPECT_EQ(contacts[i].key, others[i].key);
    // Rounding of unit vectors from edges of 0.03 m at 0.3 m: 10 ε, over a sine ≥ 1e-3 of the edges' angle.
    EXPECT_LT((turn * contacts[i].normal - others[i].normal).norm(), 1e-11);
    EXPECT_NEAR(contacts[i].gap, others[i].gap, 1e-12);
  }
}

}  // namespace
}  // namespace signorini::edge_contacts_test
