#include "scene/contact_rows.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"

namespace signorini::contact_rows_test {
namespace {

constexpr double kEps = 2.22e-16;

Vector3 random_vector(Rng& rng) {
  const double x = rng.normal();
  const double y = rng.normal();
  return {x, y, rng.normal()};
}

TriangleMesh box_surface() {
  std::vector<Index> unused;
  return boundary_surface(kuhn_block({1, 1, 1}, Vector3(0.2, 0.2, 0.2)), unused);
}

/// A soft block, a rigid box, a soft block with a pinned vertex and a skin, and a floor that moves; rigid and
/// soft bodies alternate, so that blocks and bodies have different orders.
struct Zoo {
  BodySystem bodies;
  SystemState state;
  std::vector<Vector3> x;

  Zoo() {
    const ElasticMaterial material{.young_modulus = 1e5, .poisson_ratio = 0.3, .density = 1000.0};
    const TetMesh block = kuhn_block({1, 1, 1}, Vector3(0.2, 0.2, 0.2));
    bodies.add_solid("soft", block, material, {.translation = Vector3(0, 0, 0.01)});
    bodies.add_rigid("box", box_surface(), 500.0,
                     {.translation = Vector3(0.5, 0, 0.01), .angular_velocity = Vector3(1, 2, 3)});
    TriangleMesh skin = box_surface();
    for (Vector3& v : skin.vertices) v = Vector3(0.02, 0.02, 0.02) + 0.8 * v;
    bodies.add_solid("skinned", block, material, {.translation = Vector3(1.0, 0, 0.01)}, &skin);
    Motion motion;
    motion.velocity = Vector3(0.1, 0.2, 0.3);
    bodies.add_kinematic("floor", ground(2.0), motion);
    bodies.pin(0, 0, motion);
    bodies.finish();
    state = bodies.start();
    state.time = 0.1;  // motions start at 0
    Rng rng(4);
    for (Vector3& v : state.velocity) v = random_vector(rng);
    TaskArena arena(1);
    x.resize(bodies.surface().vertices());
    bodies.surface_positions(arena, state, x);
  }
  /// Vertex number `i` of a body.
  Index vertex(Index body, Index i) const {
    return i + (body == 0 ? 0 : bodies.surface().bodies[body - 1].vertices);
  }
  SurfaceContact contact(Index a, Index ia, Index b, Index face, Rng& rng) const {
    SurfaceContact c;
    const Index triangle = face + (b == 0 ? 0 : bodies.surface().bodies[b - 1].triangles);
    const Triangle& t = bodies.surface().triangles[triangle];
    c.feature = {vertex(a, ia), triangle};
    c.key = {PairKind::vertex_face, {vertex(a, ia), t[0], t[1], t[2]}};
    c.body = {a, b};
    c.weight = {1.0, -0.2, -0.3, -0.5};
    c.normal = random_vector(rng).normalized();
    c.tangent = c.normal.unitOrthogonal();
    c.gap = 0.01;
    return c;
  }
  /// Velocity of a vertex by a small motion of everything: central differences of its position.
  Vector3 velocity_of(Index v) const {
    const double h = 1e-6;
    TaskArena arena(1);
    std::vector<Vector3> ahead(x.size()), behind(x.size());
    SystemState moved = state;
    bodies.advance(moved, state.velocity, h);
    bodies.surface_positions(arena, moved, ahead);
    moved = state;
    bodies.advance(moved, state.velocity, -h);
    bodies.surface_positions(arena, moved, behind);
    return (ahead[v] - behind[v]) / (2.0 * h);
  }
};

TEST(ContactRows, AreTheRelativeVelocityOfTheSurfacesInTheFrameOfTheContact) {
  const Zoo zoo;
  Rng rng(1);
  std::vector<SurfaceContact> contacts;
  // soft (with its pinned corner) on rigid, rigid on skinned, skinned on the moving floor, floor on soft.
  for (Index i = 0; i < 8; ++i) {
    contacts.push_back(zoo.contact(0, i, 1, i, rng));
    contacts.push_back(zoo.contact(1, i, 2, i, rng));
    contacts.push_back(zoo.contact(2, i, 3, i % 2, rng));
    contacts.push_back(zoo.contact(3, i % 4, 0, i, rng));
  }
  const TouchedBlocks touched = touched_bodies(zoo.bodies, contacts, false);
  // The rigid body's blocks come last, the pinned node not at all.
  EXPECT_EQ(touched.body, (std::vector<Index>{0, 2, 1}));
  EXPECT_EQ(count(touched.block), zoo.bodies.blocks() - 1);
  EXPECT_TRUE(std::is_sorted(touched.block.begin(), touched.block.end()));
  std::vector<Vector3> tangents;
  for (const SurfaceContact& c : contacts)
    tangents.push_back(contact_tangent(TangentFrame::fixed, c, Vector3::Zero(), {}));

  TaskArena arena(2);
  ContactProblem p;
  contact_rows(arena, zoo.bodies, zoo.state, 1e-3, contacts, tangents, touched, p);
  const Index m = count(contacts);
  p.mu = Vector::Constant(m, 0.5);
  p.f = Vector::Zero(p.H.rows());
  p.M = Matrix::Identity(p.H.rows(), p.H.rows()).sparseView();
  EXPECT_FALSE(find_defect(p).has_value()) << *find_defect(p);
  EXPECT_EQ(p.bodies.row(0), Eigen::RowVector2i(0, 2));
  EXPECT_EQ(p.bodies.row(2), Eigen::RowVector2i(1, -1));

  Vector v(p.H.rows());
  for (Index b = 0; b < count(touched.block); ++b) v.segment<3>(3 * b) = zoo.state.velocity[touched.block[b]];
  const Vector u = p.H.transpose() * v + p.w;
  for (Index k = 0; k < m; ++k) {
    const SurfaceContact& c = contacts[k];
    Vector3 expected = Vector3::Zero();
    for (std::size_t i = 0; i < 4; ++i) expected += c.weight[i] * zoo.velocity_of(c.key.vertex[i]);
    Vector3 world = Vector3::Zero();
    for (Index d = 0; d < 3; ++d) world += u[3 * k + d] * p.frame.block<1, 3>(k, 3 * d).transpose();
    // Central differences over h = 1e-6 of positions below 3 m: ε 3 / h = 7e-10, and h² |ω|³ ρ of the
    // rotation, 1e-11.
    EXPECT_LT((world - expected).norm(), 2e-9) << k;
    EXPECT_LT((relative_velocity(zoo.bodies, zoo.state, 1e-3, c, zoo.state.velocity) - world).norm(),
              100 * kEps);
  }
}

TEST(ContactRows, HaveNoResultantBetweenMovableBodies) {
  const Zoo zoo;
  Rng rng(2);
  const std::vector<SurfaceContact> contacts{zoo.contact(0, 5, 1, 3, rng), zoo.contact(1, 2, 2, 4, rng)};
  const TouchedBlocks touched = touched_bodies(zoo.bodies, contacts, true);
  std::vector<Vector3> tangents;
  for (const SurfaceContact& c : contacts) tangents.push_back(c.tangent);
  TaskArena arena(2);
  ContactProblem p;
  contact_rows(arena, zoo.bodies, zoo.state, 1e-3, contacts, tangents, touched, p);
  // The face of the first contact is rigid, its vertex a free node; the second one's face is embedded.
  for (Index column = 0; column < 6; ++column) {
    Vector3 sum = Vector3::Zero();
    for (Index b = 0; b < count(touched.block); ++b) {
      const Index block = touched.block[b];
      if (block >= zoo.bodies.nodes() && (block - zoo.bodies.nodes()) % 2 == 1) continue;  // torques
      for (Index d = 0; d < 3; ++d) sum[d] += p.H.coeff(3 * b + d, column);
    }
    EXPECT_LT(sum.norm(), 50 * kEps) << column;
  }
}

TEST(ContactRows, OnlyTheNodesInContactAreKeptForBlockDiagonalM) {
  const Zoo zoo;
  Rng rng(3);
  const std::vector<SurfaceContact> contacts{zoo.contact(0, 5, 3, 0, rng)};
  const TouchedBlocks touched = touched_nodes(zoo.bodies, zoo.state, contacts);
  EXPECT_EQ(touched.block, std::vector<Index>{zoo.bodies.main_block(zoo.vertex(0, 5))});
  EXPECT_EQ(touched.body_begin, (std::vector<Index>{0, 1}));
  SurfaceContact scripted = contacts[0];
  scripted.key.vertex[0] = zoo.vertex(0, 0);  // pinned
  ASSERT_TRUE(zoo.bodies.is_prescribed(zoo.bodies.main_block(scripted.key.vertex[0])));
  EXPECT_FALSE(is_movable(zoo.bodies, zoo.state, scripted));
  EXPECT_TRUE(is_movable(zoo.bodies, zoo.state, contacts[0]));
}

TEST(ContactRows, RestrictedMatrixIsTheSubmatrix) {
  Zoo zoo;
  TaskArena arena(2);
  ImplicitSystem system;
  zoo.bodies.implicit_system(arena, zoo.state, 1e-2, Vector3(0, 0, -9.81), system);
  Rng rng(5);
  const std::vector<SurfaceContact> contacts{zoo.contact(1, 5, 2, 0, rng)};
  const TouchedBlocks touched = touched_bodies(zoo.bodies, contacts, false);
  SparseRows M;
  restrict_matrix(arena, system.A, touched, M);
  const SparseRows whole = to_scalar(system.A);
  ASSERT_EQ(M.rows(), 3 * count(touched.block));
  for (Index i = 0; i < M.rows(); ++i) {
    for (Index j = 0; j < M.cols(); ++j) {
      const Index row = 3 * touched.block[i / 3] + i % 3;
      const Index column = 3 * touched.block[j / 3] + j % 3;
      EXPECT_EQ(M.coeff(i, j), whole.coeff(row, column));
    }
  }
}

TEST(ContactTangent, FollowsTheSlidingVelocityAndKeepsStillInNoise) {
  SurfaceContact c;
  c.key = {PairKind::vertex_face, {7, 0, 1, 2}};
  c.body = {1, 0};
  c.normal = Vector3(0, 0, 1);
  c.tangent = Vector3(1, 0, 0);
  WarmStart warm;
  EXPECT_EQ(contact_tangent(TangentFrame::fixed, c, Vector3(0, 5, 0), warm), Vector3(1, 0, 0));
  EXPECT_EQ(contact_tangent(TangentFrame::aligned, c, Vector3(0, 5, -1), warm), Vector3(0, 1, 0));
  // C25: 1e-3 of the whole velocity is noise; without a previous frame the body-fixed one remains.
  EXPECT_EQ(contact_tangent(TangentFrame::aligned, c, Vector3(0, 0.9e-3, -1), warm), Vector3(1, 0, 0));
  warm.assign({{c.key, c.body, Vector3::Zero(), Vector3(0, -1, 0), {}}});
  EXPECT_EQ(contact_tangent(TangentFrame::aligned, c, Vector3(0, 0.9e-3, -1), warm), Vector3(0, -1, 0));
  EXPECT_EQ(contact_tangent(TangentFrame::aligned, c, Vector3(0, 1.1e-3, -1), warm), Vector3(0, 1, 0));
  // A tangent along the normal is no tangent.
  c.tangent = c.normal;
  EXPECT_NEAR(contact_tangent(TangentFrame::fixed, c, Vector3::Zero(), warm).dot(c.normal), 0.0, kEps);
}

/// Contacts with frames in random directions and their impulses.
struct Kept {
  std::vector<SurfaceContact> contacts;
  ContactProblem problem;
  std::vector<double> r;
  std::vector<ContactEnd> ends;
  WarmStart warm;

  explicit Kept(std::vector<SurfaceContact> of) : contacts(std::move(of)) {
    const Index m = count(contacts);
    Rng rng(9);
    problem.mu = Vector::Constant(m, 0.5);
    problem.frame.resize(m, 9);
    for (Index k = 0; k < m; ++k) {
      const Vector3 n = contacts[k].normal;
      const Vector3 t = n.unitOrthogonal();
      problem.frame.row(k) << n.transpose(), t.transpose(), n.cross(t).transpose();
      for (int d = 0; d < 3; ++d) r.push_back(rng.uniform(0.1, 1.0));
    }
    for (std::size_t k = 0; k < contacts.size(); ++k)
      ends.push_back({k % 2 == 0 ? FrictionState::sliding : FrictionState::sticking, 0.5 + double(k)});
    warm.store(contacts, problem, r, ends);
  }
};

SurfaceContact pair_of(Index vertex, Triangle face, Index body) {
  SurfaceContact c;
  c.key = {PairKind::vertex_face, {vertex, face[0], face[1], face[2]}};
  c.body = {5, body};
  c.normal = Vector3(1, 2, 2) / 3.0;
  return c;
}

TEST(WarmStart, KeepsImpulsesStatesAndBoundsByPairAndLetsAVertexSlideToTheNextFaceOfTheSameBody) {
  const Kept kept({pair_of(50, {0, 1, 2}, 1), pair_of(51, {0, 1, 2}, 1), pair_of(51, {3, 4, 5}, 2)});
  const auto world = [&](std::size_t k) {
    Vector3 sum = Vector3::Zero();
    for (Index d = 0; d < 3; ++d)
      sum += kept.r[3 * k + d] * kept.problem.frame.block<1, 3>(k, 3 * d).transpose();
    return sum;
  };
  // T24: vertex 50 slid to the neighbouring face; 51 is where it was; 52 is new; on body 3 nothing is known.
  const std::vector<SurfaceContact> now{pair_of(50, {1, 2, 3}, 1), pair_of(50, {1, 2, 3}, 3),
                                        pair_of(51, {0, 1, 2}, 1), pair_of(51, {1, 2, 3}, 1),
                                        pair_of(52, {0, 1, 2}, 1)};
  const std::vector<const WarmStart::Entry*> start = kept.warm.match(now);
  ASSERT_EQ(start.size(), now.size());
  ASSERT_TRUE(start[0] && start[2]);
  EXPECT_LT((start[0]->impulse - world(0)).norm(), 4 * kEps);
  EXPECT_EQ(start[0]->end.state, FrictionState::sliding);
  EXPECT_EQ(start[0]->end.bound, 0.5);
  EXPECT_EQ(start[1], nullptr);
  EXPECT_LT((start[2]->impulse - world(1)).norm(), 4 * kEps);
  EXPECT_EQ(start[2]->end.state, FrictionState::sticking);
  EXPECT_EQ(start[2]->end.bound, 1.5);
  EXPECT_EQ(start[3], nullptr) << "an impulse is given once";
  EXPECT_EQ(start[4], nullptr);
  EXPECT_TRUE(kept.warm.knows(now[2].key));
  EXPECT_FALSE(kept.warm.knows(now[0].key));
}

TEST(WarmStart, OfTwoFacesTheStrongerOneIsHandedOn) {
  const Kept kept({pair_of(50, {0, 1, 2}, 1), pair_of(50, {0, 2, 3}, 1)});
  const auto strength = [&](std::size_t k) { return kept.warm.entries()[k].impulse.norm(); };
  const SurfaceContact next = pair_of(50, {2, 3, 4}, 1);
  ASSERT_NE(kept.warm.find(next), nullptr);
  EXPECT_EQ(kept.warm.find(next)->impulse.norm(), std::max(strength(0), strength(1)));
}

TEST(WarmStart, EntriesMustAscend) {
  Kept kept({pair_of(50, {0, 1, 2}, 1), pair_of(51, {0, 1, 2}, 1)});
  std::vector<WarmStart::Entry> entries = kept.warm.entries();
  std::swap(entries[0], entries[1]);
  EXPECT_THROW(kept.warm.assign(entries), InputError);
}

}  // namespace
}  // namespace signorini::contact_rows_test
