#include "bodies/tet_elements.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cstring>

#include "base/check.h"
#include "base/rng.h"
#include "bodies/polar_rotation.h"
#include "geometry/ball.h"
#include "geometry/block.h"

namespace signorini::tet_elements_test {
namespace {

constexpr double kEps = 2.22e-16;
using Matrix12 = Eigen::Matrix<double, 12, 12>;

ElasticMaterial soft() {
  return {.young_modulus = 2e5, .poisson_ratio = 0.3, .density = 1000.0, .damping = 0.0};
}

std::vector<Vector3> shaken(const std::vector<Vector3>& x, double size, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Vector3> result = x;
  for (Vector3& p : result) {
    for (Index d = 0; d < 3; ++d) p[d] += rng.uniform(-size, size);
  }
  return result;
}

/// Elements of one mesh with the matrix of their own pattern.
struct Fixture {
  TetElements elements;
  TaskArena arena;
  Index nodes;
  std::vector<double> mass;
  BlockSparseMatrix A;
  Vector rhs;

  Fixture(const TetMesh& mesh, const ElasticMaterial& material, int threads = 1)
      : arena(threads), nodes(count(mesh.vertices)), mass(nodes, 0.0) {
    elements.add(mesh, material, 0, mass, "ball");
    std::vector<std::array<Index, 2>> pairs;
    elements.couplings(pairs);
    std::vector<Eigen::Triplet<double, Index>> entries;
    for (const auto& [i, j] : pairs) {
      entries.emplace_back(3 * i, 3 * j, 0.0);
      entries.emplace_back(3 * j, 3 * i, 0.0);
    }
    for (Index i = 0; i < nodes; ++i) entries.emplace_back(3 * i, 3 * i, 0.0);
    SparseRows pattern(3 * nodes, 3 * nodes);
    pattern.setFromTriplets(entries.begin(), entries.end());
    A = to_blocks(pattern);
    elements.finish(nodes, &A);
    rhs = Vector::Zero(3 * nodes);
  }
  double forces(const std::vector<Vector3>& x, std::vector<Vector3>& force) {
    force.assign(nodes, Vector3::Zero());
    return elements.add_forces(arena, x, force);
  }
  /// dt = 1 leaves K itself in A (β = 0).
  void step(const std::vector<Vector3>& x, double dt) {
    std::fill(A.values.begin(), A.values.end(), 0.0);
    rhs.setZero();
    elements.add_step(arena, x, dt, A, span_of(rhs));
  }
  Matrix stiffness(const std::vector<Vector3>& x) {
    step(x, 1.0);
    return Matrix(to_scalar(A));
  }
};

const TetMesh kTet{{{0, 0, 0}, {0.11, 0.01, 0}, {0.02, 0.12, 0.01}, {0.01, 0.03, 0.09}}, {{0, 1, 2, 3}}};

/// K_0 = V Bᵀ C B with the strain matrix B (Voigt: xx, yy, zz, xy, yz, zx) and Hooke's C, from the textbook.
Matrix12 linear_stiffness(const TetMesh& mesh, const ElasticMaterial& material) {
  Matrix3 D;
  D << mesh.vertices[1] - mesh.vertices[0], mesh.vertices[2] - mesh.vertices[0],
      mesh.vertices[3] - mesh.vertices[0];
  Eigen::Matrix<double, 4, 3> gradient;
  gradient.bottomRows<3>() = D.inverse();
  gradient.row(0) = -gradient.bottomRows<3>().colwise().sum();
  Eigen::Matrix<double, 6, 12> B = Eigen::Matrix<double, 6, 12>::Zero();
  for (Index i = 0; i < 4; ++i) {
    const double x = gradient(i, 0), y = gradient(i, 1), z = gradient(i, 2);
    B.col(3 * i) << x, 0, 0, y, 0, z;
    B.col(3 * i + 1) << 0, y, 0, x, z, 0;
    B.col(3 * i + 2) << 0, 0, z, 0, y, x;
  }
  Eigen::Matrix<double, 6, 6> C = Eigen::Matrix<double, 6, 6>::Zero();
  C.topLeftCorner<3, 3>().setConstant(material.lambda());
  for (Index i = 0; i < 3; ++i) {
    C(i, i) += 2.0 * material.mu();
    C(i + 3, i + 3) = material.mu();
  }
  return D.determinant() / 6.0 * B.transpose() * C * B;
}

TEST(TetElements, CorotationalStiffnessIsTheTurnedLinearOneOfTheTextbook) {
  Fixture f(kTet, soft());
  const Matrix12 K0 = linear_stiffness(kTet, soft());
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Vector3> x = shaken(kTet.vertices, seed < 25 ? 0.02 : 0.2, seed);  // inverted ones too
    Matrix3 rest, now;
    rest << kTet.vertices[1] - kTet.vertices[0], kTet.vertices[2] - kTet.vertices[0],
        kTet.vertices[3] - kTet.vertices[0];
    now << x[1] - x[0], x[2] - x[0], x[3] - x[0];
    const Matrix3 R = polar_rotation(now * rest.inverse());
    Matrix12 turn = Matrix12::Zero();
    for (Index i = 0; i < 4; ++i) turn.block<3, 3>(3 * i, 3 * i) = R;
    const Matrix12 expected = turn * K0 * turn.transpose();
    // 12 products per entry, each with a few roundings.
    EXPECT_LT((f.stiffness(x) - expected).norm(), 100 * kEps * K0.norm()) << seed;
  }
}

TEST(TetElements, AStepAddsForcesAndTheWeightedStiffness) {
  const TetMesh ball = tet_ball(1, 0.1);
  ElasticMaterial material = soft();
  Fixture plain(ball, material);
  const std::vector<Vector3> x = shaken(ball.vertices, 0.01, 6);
  const Matrix K = plain.stiffness(x);
  std::vector<Vector3> force;
  plain.forces(x, force);
  for (const double beta : {0.0, 0.02}) {
    material.stiffness_damping = beta;
    Fixture f(ball, material);
    const double dt = 0.01;
    f.step(x, dt);
    const Matrix A = Matrix(to_scalar(f.A));
    EXPECT_LT((A - dt * (dt + beta) * K).norm(), 100 * kEps * A.norm());
    for (Index i = 0; i < count(force); ++i)
      EXPECT_LT((f.rhs.segment<3>(3 * i) - dt * force[i]).norm(), 100 * kEps * dt * force[i].norm());
  }
}

TEST(TetElements, StiffnessIsSymmetricToTheBit) {
  const TetMesh ball = tet_ball(1, 0.1);
  Fixture f(ball, soft());
  const Matrix K = f.stiffness(shaken(ball.vertices, 0.05, 8));
  EXPECT_TRUE(K == K.transpose());
}

TEST(TetElements, HasTheSameBitsForAnyNumberOfThreads) {
  const TetMesh block = kuhn_block({9, 8, 7}, Vector3(0.9, 0.8, 0.7));  // 3024 tets, 720 nodes
  const std::vector<Vector3> x = shaken(block.vertices, 0.03, 9);
  ElasticMaterial material = soft();
  material.stiffness_damping = 1e-3;
  std::vector<double> values;
  Vector rhs;
  std::vector<Vector3> force;
  double energy = 0.0;
  for (const int threads : {1, 2, 4, 8}) {
    Fixture f(block, material, threads);
    std::vector<Vector3> own;
    const double own_energy = f.forces(x, own);
    f.step(x, 1e-3);
    if (threads == 1) {
      values = f.A.values;
      rhs = f.rhs;
      force = own;
      energy = own_energy;
      continue;
    }
    EXPECT_EQ(own_energy, energy);
    EXPECT_EQ(std::memcmp(f.A.values.data(), values.data(), values.size() * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(f.rhs.data(), rhs.data(), rhs.size() * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(own.data(), force.data(), force.size() * sizeof(Vector3)), 0);
  }
}

TEST(TetElements, PartsWithNodesBetweenThemStayApart) {
  // Nodes 0 … 3 and 9 … 12 belong to tets, 4 … 8 to somebody else.
  TetElements elements;
  std::vector<double> mass(4, 0.0);
  elements.add(kTet, soft(), 0, mass, "first");
  ElasticMaterial stiff = soft();
  stiff.young_modulus = 1e6;
  elements.add(kTet, stiff, 9, mass, "second");
  std::vector<std::array<Index, 2>> pairs;
  elements.couplings(pairs);
  ASSERT_EQ(pairs.size(), 12U);
  for (const auto& [i, j] : pairs) EXPECT_TRUE(i < j && (j < 4 || i >= 9));
  SparseRows pattern(39, 39);
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < 39; ++i) {
    for (Index j = 0; j < 39; ++j) entries.emplace_back(i, j, 0.0);
  }
  pattern.setFromTriplets(entries.begin(), entries.end());
  BlockSparseMatrix A = to_blocks(pattern);
  elements.finish(13, &A);
  std::vector<Vector3> x(13, Vector3::Zero());
  for (std::size_t i = 0; i < 4; ++i) x[i] = x[9 + i] = kTet.vertices[i];
  Vector rhs = Vector::Zero(39);
  TaskArena arena(1);
  elements.add_step(arena, x, 1.0, A, span_of(rhs));
  const Matrix K = Matrix(to_scalar(A));
  const Matrix12 K0 = linear_stiffness(kTet, soft());
  EXPECT_LT((K.topLeftCorner<12, 12>() - K0).norm(), 100 * kEps * K0.norm());
  EXPECT_LT((K.bottomRightCorner<12, 12>() - 5.0 * K0).norm(), 500 * kEps * K0.norm());
  EXPECT_EQ(K.block(12, 0, 15, 39).norm(), 0.0);
  EXPECT_EQ(K.block(0, 12, 12, 27).norm(), 0.0);
}

TEST(TetElements, VolumeRatioIsTheSmallestDeterminant) {
  const TetMesh block = kuhn_block({1, 1, 1}, Vector3(1, 1, 1));
  Fixture f(block, soft());
  EXPECT_EQ(f.elements.smallest_volume_ratio(block.vertices), 1.0);
  std::vector<Vector3> x = block.vertices;
  for (Vector3& p : x) p = Vector3(2.0 * p[0], -0.25 * p[1], p[2]);
  EXPECT_EQ(f.elements.smallest_volume_ratio(x), -0.5);
  EXPECT_EQ(TetElements().smallest_volume_ratio({}), 1.0);
}

TEST(TetElements, BadInputIsOneClearError) {
  std::vector<double> mass(4, 0.0);
  const auto message = [&](const TetMesh& mesh, const ElasticMaterial& material) -> std::string {
    TetElements elements;
    try {
      elements.add(mesh, material, 0, mass, "ring 3");
    } catch (const UsageError& error) {
      EXPECT_EQ(elements.size(), 0);
      return error.what();
    }
    return "no error";
  };
  TetMesh mesh = kTet;
  mesh.tets.clear();
  EXPECT_EQ(message(mesh, soft()), "ring 3: the mesh has no tetrahedra");
  mesh = kTet;
  std::swap(mesh.tets[0][0], mesh.tets[0][1]);
  EXPECT_NE(message(mesh, soft()).find("ring 3: tetrahedron 0 is flat or inverted"), std::string::npos);
  mesh = kTet;
  mesh.tets[0][2] = 4;
  EXPECT_EQ(message(mesh, soft()), "ring 3: tetrahedron 0 names vertex 4, the mesh has 4");
  ElasticMaterial material = soft();
  material.stiffness_damping = -1.0;
  EXPECT_NE(message(kTet, material).find("stiffness_damping"), std::string::npos);
  material = soft();
  material.compression_limit = 1.0;
  EXPECT_NE(message(kTet, material).find("compression_limit"), std::string::npos);
  EXPECT_EQ(mass, std::vector<double>(4, 0.0));
}

}  // namespace
}  // namespace signorini::tet_elements_test
