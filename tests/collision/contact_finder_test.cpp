#include "collision/contact_finder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/check.h"
#include "collision/continuous.h"
#include "collision/surface_scene.h"

namespace signorini::contact_finder_test {
namespace {

using test::SurfaceScene;

constexpr double kTolerance = 0.01;  // δ, m

/// Bit by bit; the numbers themselves, since structs have padding.
bool same_bits(const std::vector<SurfaceContact>& a, const std::vector<SurfaceContact>& b) {
  const auto numbers = [](const SurfaceContact& c) {
    return std::array{c.weight[0],   c.weight[1],   c.weight[2],   c.weight[3],  c.normal[0],
                      c.normal[1],   c.normal[2],   c.tangent[0],  c.tangent[1], c.tangent[2],
                      c.position[0], c.position[1], c.position[2], c.gap,        c.impact_time};
  };
  return std::ranges::equal(a, b, [&](const SurfaceContact& c, const SurfaceContact& d) {
    const auto of_c = numbers(c), of_d = numbers(d);
    return c.key == d.key && c.body == d.body && std::memcmp(&of_c, &of_d, sizeof(of_c)) == 0;
  });
}

/// The invariants of every contact, at the positions it was found with.
void expect_sound(const SurfaceContact& c, const std::vector<Vector3>& x) {
  // Sums and products of numbers of size 1: some units in the last place.
  constexpr double rounding = 1e-13;
  EXPECT_NEAR(c.normal.norm(), 1.0, rounding);
  EXPECT_NEAR(c.tangent.norm(), 1.0, rounding);
  EXPECT_NEAR(c.normal.dot(c.tangent), 0.0, rounding);
  EXPECT_NEAR(c.weight[0] + c.weight[1] + c.weight[2] + c.weight[3], 0.0, rounding);
  const auto p = test::corners(c.key, x);
  const bool face = c.key.kind == PairKind::vertex_face;
  Vector3 a = c.weight[0] * p[0], b = -c.weight[2] * p[2] - c.weight[3] * p[3];
  (face ? b : a) += (face ? -c.weight[1] : c.weight[1]) * p[1];
  EXPECT_NEAR((c.position - b).norm(), 0.0, rounding);
  EXPECT_NEAR(c.gap, c.normal.dot(a - b), rounding);
}

ContactFinder finder(const SurfaceScene& scene, BroadPhase phase = BroadPhase::bvh,
                     double tolerance = kTolerance) {
  return ContactFinder(scene.model, {.tolerance = tolerance, .broad_phase = phase});
}

std::vector<Vector3> still(const SurfaceScene& scene) {
  return std::vector<Vector3>(scene.x.size(), Vector3::Zero());
}

std::vector<SurfaceContact> proximity(const SurfaceScene& scene, BroadPhase phase = BroadPhase::bvh,
                                      double tolerance = kTolerance) {
  TaskArena arena(2);
  ContactFinder f = finder(scene, phase, tolerance);
  f.update_candidates(arena, scene.x, still(scene), 0.01);
  std::vector<SurfaceContact> contacts;
  f.proximity(arena, scene.x, contacts);
  return contacts;
}

std::vector<SurfaceContact> of_kind(const std::vector<SurfaceContact>& contacts, PairKind kind) {
  std::vector<SurfaceContact> result;
  for (const SurfaceContact& c : contacts) {
    if (c.key.kind == kind) result.push_back(c);
  }
  return result;
}

/// Open surfaces in general position: no side but that of feature a, no common points of faces in one plane.
SurfaceScene open_scene(std::uint64_t seed) {
  Rng rng(seed);
  SurfaceScene scene;
  const auto add = [&](Index cells, bool movable, bool deformable) {
    TriangleMesh mesh = test::sheet(cells, 0.8);
    const Matrix3 turn = Eigen::AngleAxisd(rng.uniform(0.0, 3.0), test::random_point(rng, 1.0).normalized())
                             .toRotationMatrix();
    for (Vector3& v : mesh.vertices) v = turn * v;
    scene.add(test::moved(mesh, test::random_point(rng, 0.1)), movable, deformable);
  };
  for (int i = 0; i < 4; ++i) add(6, true, true);
  add(4, true, false);
  add(3, false, false);
  test::shake(scene.x, rng, 0.02);
  return scene;
}

class Finder : public testing::TestWithParam<BroadPhase> {};

TEST_P(Finder, ProximityIsThatOfTheDoubleLoop) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SurfaceScene scene = open_scene(seed);
    std::vector<PairKey> expected;
    test::for_all_pairs(scene.model, [&](const PairKey& key, Index, Index) {
      const auto p = test::corners(key, scene.x);
      const auto near = key.kind == PairKind::vertex_face ? vertex_face_proximity(p) : edge_edge_proximity(p);
      if (near && near->gap < kTolerance) expected.push_back(key);
    });
    std::sort(expected.begin(), expected.end());
    const auto contacts = proximity(scene, GetParam());
    ASSERT_GT(expected.size(), 20U);
    EXPECT_EQ(test::keys(contacts), expected);
    for (const SurfaceContact& c : contacts) {
      expect_sound(c, scene.x);
      EXPECT_GE(c.gap, 0.0);
      EXPECT_LT(c.gap, kTolerance);
      EXPECT_EQ(c.impact_time, -1.0);
    }
  }
}

TEST_P(Finder, WithoutEdgesThePairsOfPointsAndFacesAreTheSame) {
  const SurfaceScene scene = open_scene(3);
  const std::vector<SurfaceContact> all = proximity(scene, GetParam());
  const std::vector<SurfaceContact> faces = of_kind(all, PairKind::vertex_face);
  ASSERT_GT(faces.size(), 0U);
  ASSERT_GT(all.size(), faces.size());
  TaskArena arena(2);
  ContactFinder f(scene.model, {.tolerance = kTolerance, .broad_phase = GetParam(), .edges = false});
  f.update_candidates(arena, scene.x, still(scene), 0.01);
  std::vector<SurfaceContact> contacts;
  f.proximity(arena, scene.x, contacts);
  EXPECT_TRUE(same_bits(contacts, faces));
}

TEST_P(Finder, ProximityDoesNotDependOnTheCandidates) {
  const SurfaceScene scene = open_scene(3);
  const auto expected = proximity(scene, GetParam());
  ASSERT_FALSE(expected.empty());
  TaskArena arena(2);
  std::vector<SurfaceContact> contacts;
  ContactFinder without = finder(scene, GetParam());
  without.proximity(arena, scene.x, contacts);
  EXPECT_TRUE(same_bits(contacts, expected));
  // Candidates of quite other positions, a few vertices away and all away.
  for (const std::size_t every : {50U, 1U}) {
    auto elsewhere = scene.x;
    for (std::size_t v = 0; v < elsewhere.size(); v += every) elsewhere[v] += Vector3(3, 1, 0);
    ContactFinder astray = finder(scene, GetParam());
    astray.update_candidates(arena, elsewhere, still(scene), 0.01);
    astray.proximity(arena, scene.x, contacts);
    EXPECT_TRUE(same_bits(contacts, expected)) << every;
  }
}

/// Paths of all vertices: bodies rush through each other, vertices jump, some rest.
std::vector<Vector3> tentative(const SurfaceScene& scene, std::uint64_t seed, double jump) {
  Rng rng(seed, 1);
  std::vector<Vector3> x1 = scene.x;
  std::vector<Vector3> rush(scene.model.bodies.size());
  for (Vector3& r : rush) r = test::random_point(rng, jump);
  for (std::size_t v = 0; v < x1.size(); ++v) {
    const std::size_t body = scene.model.vertex_body[v];
    if (!scene.model.bodies[body].movable) continue;
    x1[v] += rush[body];
    if (rng.below(4) == 0) x1[v] += test::random_point(rng, 0.1 * jump);
  }
  return x1;
}

std::vector<PairKey> all_crossings(const SurfaceScene& scene, const std::vector<Vector3>& x1) {
  std::vector<PairKey> result;
  test::for_all_pairs(scene.model, [&](const PairKey& key, Index, Index) {
    const auto p = test::corners(key, scene.x), q = test::corners(key, x1);
    const std::array<Vector3, 4> d{q[0] - p[0], q[1] - p[1], q[2] - p[2], q[3] - p[3]};
    if (key.kind == PairKind::vertex_face ? vertex_face_impact(p, d).has_value()
                                          : edge_edge_impact(p, d).has_value())
      result.push_back(key);
  });
  std::sort(result.begin(), result.end());
  return result;
}

TEST_P(Finder, NoCrossingOfFastMotionsIsMissed) {
  std::size_t total = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const SurfaceScene scene = seed % 2 == 0 ? open_scene(seed) : test::mixed_scene(seed, 0.4);
    const std::vector<Vector3> x1 = tentative(scene, seed, seed % 3 == 0 ? 0.05 : 0.8);
    const std::vector<PairKey> expected = all_crossings(scene, x1);
    TaskArena arena(2);
    ContactFinder f = finder(scene, GetParam());
    f.update_candidates(arena, scene.x, still(scene), 0.01);  // boxes that nearly all vertices leave
    std::vector<SurfaceContact> contacts;
    f.crossings(arena, scene.x, x1, {}, contacts);
    ASSERT_EQ(test::keys(contacts), expected) << seed;
    total += contacts.size();
    for (const SurfaceContact& c : contacts) {
      expect_sound(c, scene.x);
      EXPECT_GE(c.impact_time, 0.0);
      EXPECT_LE(c.impact_time, 1.0);
    }
    // Only a few vertices leave.
    std::vector<Vector3> few = scene.x;
    for (std::size_t v = seed; v < few.size(); v += 30) few[v] = x1[v];
    f.update_candidates(arena, scene.x, still(scene), 0.01);
    f.crossings(arena, scene.x, few, {}, contacts);
    ASSERT_EQ(test::keys(contacts), all_crossings(scene, few)) << seed;
    // Known pairs are left out, and nothing else.
    std::vector<PairKey> known, rest;
    for (std::size_t k = 0; k < expected.size(); ++k) (k % 3 == 0 ? known : rest).push_back(expected[k]);
    known.push_back({PairKind::edge_edge, {1 << 20, 1 << 20, 1 << 20, 1 << 20}});
    f.crossings(arena, scene.x, x1, known, contacts);
    ASSERT_EQ(test::keys(contacts), rest) << seed;
  }
  EXPECT_GT(total, 1000U);
}

TEST_P(Finder, TheSameBitsForEveryNumberOfThreadsAndHistory) {
  const SurfaceScene scene = test::mixed_scene(5, 0.4);
  const auto x1 = tentative(scene, 5, 0.3);
  struct Found {
    std::vector<SurfaceContact> near, crossing;
  };
  const auto find = [&](int threads, bool history) {
    TaskArena arena(threads);
    ContactFinder f = finder(scene, GetParam(), 0.03);
    Found found;
    if (history) {
      f.update_candidates(arena, x1, still(scene), 0.01);
      f.crossings(arena, x1, scene.x, {}, found.crossing);
    }
    f.update_candidates(arena, scene.x, still(scene), 0.01);
    f.proximity(arena, scene.x, found.near);
    f.crossings(arena, scene.x, x1, {}, found.crossing);
    return found;
  };
  const Found one = find(1, false);
  ASSERT_GT(one.near.size(), 10U);
  ASSERT_GT(one.crossing.size(), 100U);
  for (const int threads : {1, 2, 4, 8}) {
    const Found other = find(threads, threads != 2);
    EXPECT_TRUE(same_bits(other.near, one.near)) << threads;
    EXPECT_TRUE(same_bits(other.crossing, one.crossing)) << threads;
  }
}

TEST_P(Finder, KeptCandidatesGiveTheBitsOfFreshOnes) {
  // Bodies drift apart, rest, and rush through each other; every step is compared with a new finder.
  const double dt = 0.01;
  SurfaceScene scene = test::mixed_scene(8, 0.4);
  Rng rng(8);
  std::vector<Vector3> drift(scene.model.bodies.size());
  for (Vector3& d : drift) d = test::random_point(rng, 0.2);
  TaskArena arena(2);
  ContactFinder kept(scene.model, {.tolerance = kTolerance, .broad_phase = GetParam()});
  std::vector<SurfaceContact> contacts, expected;
  std::set<long long> counts;
  std::size_t total = 0;
  for (int step = 0; step < 40; ++step) {
    const double speed = step < 15 ? 0.1 : step < 25 ? 1.0 : 10.0;
    std::vector<Vector3> v(scene.x.size(), Vector3::Zero()), x1 = scene.x;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const std::size_t body = scene.model.vertex_body[i];
      if (!scene.model.bodies[body].movable || (body + step / 5) % 3 == 0) continue;
      v[i] = speed * (drift[body] + test::random_point(rng, 0.02));
      x1[i] += dt * v[i] + test::random_point(rng, 1e-3 * speed);
    }
    ContactFinder fresh(scene.model,
                        {.tolerance = kTolerance, .broad_phase = GetParam(), .keep_candidates = false});
    kept.update_candidates(arena, scene.x, v, dt);
    fresh.update_candidates(arena, scene.x, v, dt);
    counts.insert(kept.candidates().edge_edge);
    kept.proximity(arena, scene.x, contacts);
    fresh.proximity(arena, scene.x, expected);
    ASSERT_TRUE(same_bits(contacts, expected)) << step;
    total += contacts.size();
    kept.crossings(arena, scene.x, x1, {}, contacts);
    fresh.crossings(arena, scene.x, x1, {}, expected);
    ASSERT_TRUE(same_bits(contacts, expected)) << step;
    total += contacts.size();
    scene.x = x1;
  }
  EXPECT_GT(total, 200U);
  EXPECT_LT(counts.size(), 39U);  // sometimes kept
  EXPECT_GT(counts.size(), 5U);   // and sometimes not
}

TEST_P(Finder, ABulletDoesNotTunnelThroughAThinSheet) {
  // C23: far from the sheet at both ends of the step, nothing within the tolerance, no velocity in the boxes.
  SurfaceScene scene;
  scene.add(test::sheet(4, 1.0));
  scene.add(test::moved(test::box({0.01, 0.01, 0.01}), {0.04, 0.02, 50.0}), true, false);
  TaskArena arena(2);
  ContactFinder f = finder(scene, GetParam(), 1e-4);
  f.update_candidates(arena, scene.x, still(scene), 0.01);
  std::vector<SurfaceContact> contacts;
  f.proximity(arena, scene.x, contacts);
  EXPECT_TRUE(contacts.empty());
  std::vector<Vector3> x1 = scene.x;
  for (std::size_t v = 25; v < x1.size(); ++v) x1[v].z() -= 100.0;
  f.crossings(arena, scene.x, x1, {}, contacts);
  ASSERT_FALSE(contacts.empty());
  for (const SurfaceContact& c : of_kind(contacts, PairKind::vertex_face)) {
    EXPECT_EQ(c.body, (std::array<Index, 2>{1, 0}));
    EXPECT_NEAR((c.normal - Vector3::UnitZ()).norm(), 0.0, 1e-12);
    EXPECT_NEAR(c.impact_time, 0.5, 1e-4);  // half the bullet's size over 100 m
    EXPECT_NEAR(c.gap, 50.0, 0.005 + 1e-12);
  }
  EXPECT_EQ(of_kind(contacts, PairKind::vertex_face).size(), 8U);
}

/// Otaduy 2009, section 3.2: the normal is the one at the time of impact. Beside the face, where the vertex starts, it
/// can point far away from the closest point there; the gap along it is then below the distance.
TEST_P(Finder, ACrossingHasTheNormalOfItsImpactNotThatOfTheClosestPointsBefore) {
  SurfaceScene scene;
  scene.add(test::sheet(3, 1.0));
  append_surface(scene.model, 1, {}, {}, true, false);
  scene.x.push_back({-1.0, 0.13, 0.3});
  std::vector<Vector3> x1 = scene.x;
  x1.back() += Vector3(1.4, 0.0, -0.6);
  TaskArena arena(2);
  ContactFinder f = finder(scene, GetParam());
  f.update_candidates(arena, scene.x, still(scene), 0.01);
  std::vector<SurfaceContact> contacts;
  f.crossings(arena, scene.x, x1, {}, contacts);
  ASSERT_EQ(contacts.size(), 1U);
  const SurfaceContact& c = contacts.front();
  const Vector3 before = scene.x.back() - Vector3(-0.5, 0.13, 0.0);  // from the closest point, on the border
  EXPECT_NEAR(c.impact_time, 0.5, 1e-12);
  EXPECT_NEAR((c.normal - Vector3::UnitZ()).norm(), 0.0, 1e-12);
  EXPECT_NEAR(c.gap, 0.3, 1e-12);
  EXPECT_LT(c.gap, before.norm());
  EXPECT_NEAR(std::acos(c.normal.dot(before.normalized())), std::atan2(0.5, 0.3), 1e-12);
}

TEST_P(Finder, ALoneVertexAndALoneBody) {
  SurfaceScene scene;
  scene.add(test::sheet(3, 1.0));
  EXPECT_TRUE(proximity(scene, GetParam()).empty());
  append_surface(scene.model, 1, {}, {}, true, false);
  scene.x.push_back({0.11, 0.13, 0.004});
  const auto contacts = proximity(scene, GetParam());
  ASSERT_EQ(contacts.size(), 1U);
  EXPECT_EQ(contacts[0].key.vertex[0], 16);
  EXPECT_NEAR(contacts[0].gap, 0.004, 1e-15);
  EXPECT_NEAR((contacts[0].position - Vector3(0.11, 0.13, 0)).norm(), 0.0, 1e-15);
  EXPECT_NEAR((contacts[0].normal - Vector3::UnitZ()).norm(), 0.0, 1e-15);
  EXPECT_TRUE(proximity(SurfaceScene{}, GetParam()).empty());
}

TEST_P(Finder, FixedAndRigidBodiesDoNotTouchThemselvesNorFixedOnesEachOther) {
  for (const bool movable : {true, false}) {
    SurfaceScene scene;
    TriangleMesh folded = test::sheet(3, 1.0);
    test::append_layer(folded, 0.004);
    scene.add(folded, movable, false);
    EXPECT_TRUE(proximity(scene, GetParam()).empty());
    scene.add(test::moved(folded, {0.1, 0.1, 0.002}), movable, false);
    EXPECT_EQ(proximity(scene, GetParam()).empty(), !movable);
  }
  SurfaceScene soft;
  TriangleMesh folded = test::sheet(3, 1.0);
  test::append_layer(folded, 0.004);
  soft.add(folded);
  EXPECT_FALSE(proximity(soft, GetParam()).empty());
}

INSTANTIATE_TEST_SUITE_P(BroadPhases, Finder, testing::Values(BroadPhase::bvh, BroadPhase::hash),
                         [](const auto& test) { return std::string(enum_name(test.param)); });

TEST(FinderDuplicates, AVertexAboveACommonPointOfCoplanarFacesHasOneContact) {
  for (const Vector3& above : {Vector3(0, 0, 0.005), Vector3(0.05, 0, 0.005), Vector3(0.125, 0.125, 0.005)}) {
    SurfaceScene scene;
    scene.add(test::sheet(4, 1.0));
    append_surface(scene.model, 1, {}, {}, true, false);
    scene.x.push_back(above);  // over a corner of six faces, an edge of two, a diagonal of two
    const auto contacts = proximity(scene);
    ASSERT_EQ(contacts.size(), 1U);
    // The first face by key of those around the point.
    std::vector<PairKey> around;
    for (const Triangle& t : scene.model.triangles) {
      const std::array<Vector3, 4> p{above, scene.x[t[0]], scene.x[t[1]], scene.x[t[2]]};
      if (vertex_face_proximity(p)) around.push_back({PairKind::vertex_face, {25, t[0], t[1], t[2]}});
    }
    EXPECT_GE(around.size(), 2U);
    EXPECT_EQ(contacts[0].key, *std::min_element(around.begin(), around.end()));
  }
}

TEST(FinderDuplicates, FacesAtAnAngleAndFacesOfOtherBodiesKeepTheirContacts) {
  // A groove of two faces at an angle of 1e-4: a vertex above its bottom is inside both.
  SurfaceScene groove;
  groove.add({{{0, -1, 0}, {0, 1, 0}, {1, 0, 5e-5}, {-1, 0, 5e-5}}, {{0, 2, 1}, {0, 1, 3}}}, false, false);
  append_surface(groove.model, 1, {}, {}, true, false);
  groove.x.push_back({0, 0, 0.005});
  EXPECT_EQ(proximity(groove).size(), 2U);
  // Two sheets in one place under one vertex.
  SurfaceScene twice;
  for (int i = 0; i < 2; ++i) twice.add(test::sheet(2, 1.0), false, false);
  append_surface(twice.model, 1, {}, {}, true, false);
  twice.x.push_back({0, 0, 0.005});
  EXPECT_EQ(proximity(twice).size(), 2U);
}

TEST(FinderDuplicates, AVertexThatSlidesOverATriangulatedPlaneHasOneContactAllTheWay) {
  // T24: the key changes with the face, point and normal do not jump.
  SurfaceScene scene;
  scene.add(test::sheet(4, 1.0), false, false);
  append_surface(scene.model, 1, {}, {}, true, false);
  scene.x.push_back(Vector3::Zero());
  std::set<PairKey> seen;
  for (int step = 0; step <= 1000; ++step) {
    const double s = -0.4 + 0.8 * step / 1000;
    scene.x.back() = {s, 0.3 * s, 0.002};
    const auto contacts = proximity(scene);
    ASSERT_EQ(contacts.size(), 1U) << step;
    seen.insert(contacts[0].key);
    EXPECT_NEAR((contacts[0].position - Vector3(s, 0.3 * s, 0)).norm(), 0.0, 1e-15);
    EXPECT_NEAR((contacts[0].normal - Vector3::UnitZ()).norm(), 0.0, 1e-15);
  }
  EXPECT_GE(seen.size(), 5U);
}

TEST(FinderSides, OnlyTheNearSideOfAThinClosedBodyIsTouched) {
  // A plate half as thick as the tolerance: its lower face is within reach, behind the upper one.
  SurfaceScene scene;
  scene.add(test::box({1.0, 1.0, 0.5 * kTolerance}), false, false);
  scene.add(test::moved(test::box({0.1, 0.1, 0.1}), {0.1, 0.23, 0.05 + 0.45 * kTolerance}), true, false);
  const auto contacts = proximity(scene);
  EXPECT_EQ(of_kind(contacts, PairKind::vertex_face).size(), 4U);
  for (const SurfaceContact& c : contacts) {
    EXPECT_NEAR(std::abs(c.gap), 0.2 * kTolerance, 1e-15);
    const double up = c.body[0] == 1 ? 1.0 : -1.0;  // edges of the plate come first
    EXPECT_NEAR(c.normal.z(), up, 1e-12);
    EXPECT_GT(c.gap, 0.0);
  }
}

TEST(FinderSides, RoundingDoesNotTurnARestingContactOver) {
  for (const double height : {1e-17, 0.0, -1e-17, -1e-12, -0.005 * kTolerance}) {
    SurfaceScene scene;
    scene.add(test::box({1.0, 1.0, 0.2}), false, false);
    TriangleMesh box = test::moved(test::box({0.1, 0.1, 0.1}), {0.1, 0.23, 0.15});
    for (Vector3& v : box.vertices) {
      if (v.z() < 0.11) v.z() = 0.1 + height;
    }
    scene.add(box, true, false);
    const auto contacts = proximity(scene);
    EXPECT_EQ(of_kind(contacts, PairKind::vertex_face).size(), 4U) << height;
    for (const SurfaceContact& c : contacts) {
      EXPECT_NEAR(c.normal.z(), c.body[0] == 1 ? 1.0 : -1.0, 1e-12) << height;
      EXPECT_NEAR(c.gap, height, 1e-16) << height;  // one unit in the last place of 0.1
    }
  }
}

TEST(FinderSides, CrossedEdgesOfTouchingBoxesPushApart) {
  // Two roofs, ridge on ridge at right angles, at gaps around zero.
  for (const double gap : {1e-3 * kTolerance, 0.0, -1e-3 * kTolerance}) {
    const auto tetra = [](double sign) {
      TriangleMesh mesh{{{-1, 0, 0}, {1, 0, 0}, {0, 1, -sign}, {0, -1, -sign}},
                        {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}}};
      if (sign < 0.0) {
        for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
      }
      return mesh;
    };
    SurfaceScene scene;
    TriangleMesh upper = tetra(-1.0);
    for (Vector3& v : upper.vertices) v = {v.y(), -v.x(), v.z() + gap};
    scene.add(tetra(1.0), true, false);
    scene.add(upper, true, false);
    ASSERT_TRUE(scene.model.bodies[0].closed && scene.model.bodies[1].closed);
    const auto contacts = of_kind(proximity(scene), PairKind::edge_edge);
    ASSERT_EQ(contacts.size(), 1U) << gap;
    EXPECT_EQ(contacts[0].body, (std::array<Index, 2>{0, 1}));
    EXPECT_NEAR(contacts[0].normal.z(), -1.0, 1e-15);
    EXPECT_NEAR(contacts[0].gap, gap, 1e-18);
  }
}

TEST(FinderErrors, PositionsThatAreNoNumbersAreRefused) {
  SurfaceScene scene;
  scene.add(test::sheet(2, 1.0));
  scene.add(test::box({0.1, 0.1, 0.1}));
  TaskArena arena(2);
  ContactFinder f = finder(scene);
  std::vector<SurfaceContact> contacts;
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e16}) {
    for (Index d = 0; d < 3; ++d) {
      auto x = scene.x;
      x[11][d] = bad;
      for (const std::string& text : {message([&] { f.update_candidates(arena, x, still(scene), 0.01); }),
                                      message([&] { f.update_candidates(arena, scene.x, x, 0.01); }),
                                      message([&] { f.proximity(arena, x, contacts); }),
                                      message([&] { f.crossings(arena, scene.x, x, {}, contacts); })}) {
        EXPECT_NE(text.find("surface vertex 11 (body 1)"), std::string::npos) << text;
        EXPECT_NE(text.find("smaller dt"), std::string::npos) << text;
      }
    }
  }
  EXPECT_THROW(finder(scene, BroadPhase::bvh, 0.0), UsageError);
  EXPECT_THROW(finder(scene, BroadPhase::bvh, std::nan("")), UsageError);
  EXPECT_THROW(ContactFinder(scene.model, {.look_ahead = -1.0}), UsageError);
}

TEST(FinderDegenerate, CoincidentVerticesAndFlatFacesGiveNoNumbersThatAreNone) {
  SurfaceScene scene;
  scene.add(test::sheet(3, 1.0));
  scene.add(test::moved(test::sheet(3, 1.0), {0, 0, 0.001}));
  for (std::size_t v = 4; v < 8; ++v) scene.x[v] = scene.x[5];            // faces without area
  for (std::size_t v = 16; v < 32; v += 3) scene.x[v] = scene.x[v - 16];  // on top of each other
  const auto contacts = proximity(scene);
  EXPECT_FALSE(contacts.empty());
  for (const SurfaceContact& c : contacts) expect_sound(c, scene.x);
  auto x1 = scene.x;
  for (std::size_t v = 16; v < 32; ++v) x1[v].z() -= 0.01;
  TaskArena arena(2);
  ContactFinder f = finder(scene);
  std::vector<SurfaceContact> crossing;
  f.crossings(arena, scene.x, x1, {}, crossing);
  EXPECT_EQ(test::keys(crossing), all_crossings(scene, x1));
  for (const SurfaceContact& c : crossing) expect_sound(c, scene.x);
}

TEST(PairGeometryOf, AMovedContactIsThatOfItsFeatures) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SurfaceScene scene = open_scene(seed);
    const auto contacts = proximity(scene);
    for (const SurfaceContact& c : contacts) {
      const auto geometry = pair_geometry(c, scene.x);
      ASSERT_TRUE(geometry);
      // Nothing moved: the contact itself, up to the condition of near-parallel edges (1e3).
      EXPECT_NEAR((geometry->normal - c.normal).norm(), 0.0, 1e-12);
      EXPECT_NEAR(geometry->gap, c.gap, 1e-12);
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(geometry->weight[i], c.weight[i], 1e-9);
    }
    Rng rng(seed);
    test::shake(scene.x, rng, 0.005);
    for (SurfaceContact c : contacts) {
      const auto p = test::corners(c.key, scene.x);
      const auto geometry = pair_geometry(c, scene.x);
      if (!geometry) continue;
      EXPECT_GE(geometry->normal.dot(c.normal), 0.0);
      // Closest points: what separates them is along the normal.
      Vector3 apart = Vector3::Zero();
      for (std::size_t i = 0; i < 4; ++i) apart += geometry->weight[i] * p[i];
      EXPECT_NEAR((apart - geometry->gap * geometry->normal).norm(), 0.0, 1e-10);
      update_gap(c, scene.x);
      expect_sound(c, scene.x);
    }
  }
}

TEST(PairGeometryOf, NearParallelEdgesAndFlatFacesHaveNone) {
  // T22: 90, 1, 0.06 degrees have a normal, 0.01 degrees do not.
  for (const auto& [degrees, has] : {std::pair{90.0, true}, {1.0, true}, {0.06, true}, {0.01, false}}) {
    const double angle = degrees * std::numbers::pi / 180.0;
    const std::vector<Vector3> x{{-1, 0, 0.1},
                                 {1, 0, 0.1},
                                 {-std::cos(angle), -std::sin(angle), 0},
                                 {std::cos(angle), std::sin(angle), 0}};
    SurfaceContact c;
    c.key = {PairKind::edge_edge, {0, 1, 2, 3}};
    c.normal = Vector3::UnitZ();
    const auto geometry = pair_geometry(c, x);
    ASSERT_EQ(geometry.has_value(), has) << degrees;
    if (has) {
      EXPECT_NEAR(geometry->gap, 0.1, 1e-13);
    }
    SurfaceContact flat;
    flat.key = {PairKind::vertex_face, {0, 1, 1, 3}};
    EXPECT_FALSE(pair_geometry(flat, x));
  }
}

}  // namespace
}  // namespace signorini::contact_finder_test
