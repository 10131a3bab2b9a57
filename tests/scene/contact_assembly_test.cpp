#include "scene/contact_assembly.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "base/rng.h"

namespace signorini {
namespace {

constexpr double kEps = 2.22e-16;

Vector3 random_vector(Rng& rng) {
  const double x = rng.normal();
  const double y = rng.normal();
  return {x, y, rng.normal()};
}

/// Point node 0 of body 0 above triangle (3, 4, 5) of body 1; nodes 1 and 2 belong to body 0 and stay out.
struct Planted {
  std::vector<Vector3> position, velocity, free_velocity;
  std::vector<double> mass{1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  std::vector<Index> first_node{0, 3, 6};
  PointTriangleContact contact;

  explicit Planted(std::uint64_t seed, double gap = 0.0) {
    Rng rng(seed);
    for (int i = 0; i < 6; ++i) {
      position.push_back(random_vector(rng));
      velocity.push_back(random_vector(rng));
      free_velocity.push_back(random_vector(rng));
    }
    contact.barycentric = Vector3(0.2, 0.3, 0.5);
    contact.position = 0.2 * position[3] + 0.3 * position[4] + 0.5 * position[5];
    contact.normal = (position[4] - position[3]).cross(position[5] - position[3]).normalized();
    contact.tangent = (position[4] - position[3]).normalized();
    contact.gap = gap;
    contact.key = {0, 7};
    contact.node = 0;
    contact.triangle = {3, 4, 5};
    contact.point_body = 0;
    contact.triangle_body = 1;
    position[0] = contact.position + gap * contact.normal;
  }
  StepContext context() const { return {mass, first_node, velocity, free_velocity, 1e-3, 0.5}; }
  AssembledProblem assemble(const ContactLawSettings& law = {}, const WarmStartCache& cache = {}) const {
    return assemble_contact_problem(std::span(&contact, 1), context(), law, cache);
  }
};

TEST(NormalOffset, FollowsTheThreeCases) {
  const ContactLawSettings law{0.4, 0.5, 4e-3, 0.2, 0.1};
  const double dt = 1e-3;
  // Impact at 2 m/s from 1 mm: touched within the step, leaves with κ = ½ of the speed.
  EXPECT_EQ(normal_offset(law, 1e-3, -2.0, -2.0, dt), -1.0);
  // The same point from 3 mm is not reached: it may come closer, not more.
  EXPECT_EQ(normal_offset(law, 3e-3, -2.0, -2.0, dt), 3.0);
  // Slower than v_rest: no rebound.
  EXPECT_EQ(normal_offset(law, 0.0, -3e-3, -3e-3, dt), 0.0);
  // Separating before the step: κ has nothing to reflect.
  EXPECT_EQ(normal_offset(law, 0.0, 2.0, -1.0, dt), 0.0);
  // Penetrating: a fifth per step, at most 0.1 m/s.
  EXPECT_NEAR(normal_offset(law, -1e-4, 0.0, 0.0, dt), -0.02, kEps);
  EXPECT_EQ(normal_offset(law, -1.0, 0.0, 0.0, dt), -0.1);
}

TEST(ContactAssembly, RowsAreTheRelativeVelocityInTheFrameOfTheContact) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Planted planted(seed);
    const AssembledProblem assembled = planted.assemble();
    const ContactProblem& p = assembled.problem;
    ASSERT_EQ(assembled.nodes, (std::vector<Index>{0, 3, 4, 5}));
    EXPECT_EQ(p.body_dofs, (std::vector<Index>{0, 3, 12}));
    EXPECT_EQ(p.points.row(0), Eigen::RowVector4i(0, 1, 2, 3));
    EXPECT_FALSE(find_defect(p).has_value()) << *find_defect(p);
    Vector v(12);
    for (Index b = 0; b < 4; ++b)
      v.segment<3>(3 * b) =
          planted.velocity[static_cast<std::size_t>(assembled.nodes[static_cast<std::size_t>(b)])];
    const Vector3 relative = planted.velocity[0] - 0.2 * planted.velocity[3] - 0.3 * planted.velocity[4] -
                             0.5 * planted.velocity[5];
    const Vector u = p.H.transpose() * v;
    EXPECT_NEAR(u[0], planted.contact.normal.dot(relative), 20 * kEps);
    EXPECT_NEAR(u.norm(), relative.norm(), 20 * kEps);
    for (Index i = 0; i < 12; ++i)
      EXPECT_EQ(p.M.coeff(i, i),
                planted.mass[static_cast<std::size_t>(assembled.nodes[static_cast<std::size_t>(i / 3)])]);
  }
}

TEST(ContactAssembly, RowsDoNotSeeTranslationsNorRotationsWhenTheGapIsClosed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Planted planted(seed);
    const AssembledProblem assembled = planted.assemble();
    Rng rng(seed + 100);
    const Vector3 shift = random_vector(rng);
    const Vector3 spin = random_vector(rng);
    Vector v(12);
    for (Index b = 0; b < 4; ++b) {
      const Vector3& x =
          planted.position[static_cast<std::size_t>(assembled.nodes[static_cast<std::size_t>(b)])];
      v.segment<3>(3 * b) = shift + spin.cross(x);
    }
    EXPECT_LT((assembled.problem.H.transpose() * v).norm(), 100 * kEps);
  }
}

TEST(ContactAssembly, AWeightOfZeroTakesNoPart) {
  Planted planted(3);
  planted.contact.barycentric = Vector3(0.4, 0.6, 0.0);
  const AssembledProblem assembled = planted.assemble();
  EXPECT_EQ(assembled.nodes, (std::vector<Index>{0, 3, 4}));
  EXPECT_EQ(assembled.problem.points(0, 3), -1);
  EXPECT_EQ(assembled.problem.H.nonZeros(), 27);
}

TEST(ContactAssembly, ObstaclesContributeNoColumns) {
  Planted planted(4);
  planted.contact.triangle = {-1, -1, -1};
  planted.contact.triangle_body = -1;
  const AssembledProblem assembled = planted.assemble();
  EXPECT_EQ(assembled.nodes, (std::vector<Index>{0}));
  EXPECT_EQ(assembled.problem.bodies(0, 1), -1);
  EXPECT_EQ(assembled.problem.points.row(0), Eigen::RowVector4i(0, -1, -1, -1));
  EXPECT_EQ(assembled.problem.body_dofs, (std::vector<Index>{0, 3, 3}));
  EXPECT_FALSE(find_defect(assembled.problem).has_value());
}

TEST(WarmStart, SurvivesATurnedFrameAndAnEdgeButNotAnotherBody) {
  Planted planted(5);
  const AssembledProblem first = planted.assemble();
  const std::array<double, 3> r{2.0, 0.5, -0.3};
  WarmStartCache cache;
  cache.store(std::span(&planted.contact, 1), first.problem, r);
  const Vector3 world = cache.find(planted.contact);

  // The same pair in another frame: the same world vector, seen from there.
  Planted turned = planted;
  const Matrix3 Q = Eigen::AngleAxisd(0.7, Vector3(1, 1, 0).normalized()).toRotationMatrix();
  turned.contact.normal = Q * planted.contact.normal;
  turned.contact.tangent = Q * planted.contact.tangent;
  const ContactProblem second = turned.assemble({}, cache).problem;
  Vector3 rebuilt = Vector3::Zero();
  for (Index d = 0; d < 3; ++d)
    rebuilt += second.warm_start[d] * second.frame.block<1, 3>(0, 3 * d).transpose();
  EXPECT_LT((rebuilt - world).norm(), 20 * kEps);
  EXPECT_NEAR(second.warm_start.norm(), Vector3(r[0], r[1], r[2]).norm(), 20 * kEps);

  // The point slid over an edge to the next triangle of the same body.
  turned.contact.key.triangle = 8;
  EXPECT_EQ(cache.find(turned.contact), world);
  turned.contact.triangle_body = -1;
  EXPECT_EQ(cache.find(turned.contact), Vector3::Zero());
}

}  // namespace
}  // namespace signorini
