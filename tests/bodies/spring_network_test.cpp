#include "bodies/spring_network.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"

namespace signorini::spring_network_test {
namespace {

constexpr double kEps = 2.22e-16;
constexpr double kPi = std::numbers::pi;

using Points = std::vector<Vector3>;

Vector3 random_vector(Rng& rng, double size) {
  const double x = rng.uniform(-size, size);
  const double y = rng.uniform(-size, size);
  return {x, y, rng.uniform(-size, size)};
}

Points random_points(Rng& rng, std::size_t n, double size) {
  Points x(n);
  for (Vector3& p : x) p = random_vector(rng, size);
  return x;
}

SpringElements elements_of(const SpringNetwork& network, Index first = 0) {
  SpringElements elements;
  elements.add(network, first);
  return elements;
}

SpringNetwork with(Points vertices) {
  SpringNetwork network;
  network.mass.assign(vertices.size(), 1.0);
  network.vertices = std::move(vertices);
  return network;
}

Vector forces(const SpringElements& elements, const Points& x, const Points& v) {
  Points force(x.size(), Vector3::Zero());
  elements.add_forces(x, v, force);
  Vector result(3 * count(x));
  for (Index i = 0; i < count(x); ++i) result.segment<3>(3 * i) = force[i];
  return result;
}

Vector forces(const SpringElements& elements, const Points& x) {
  return forces(elements, x, Points(x.size(), Vector3::Zero()));
}

/// Every block of n × n.
BlockSparseMatrix full_pattern(Index n) {
  BlockSparseMatrix A;
  A.block_rows = A.block_columns = n;
  A.row_begin = {0};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) A.column.push_back(j);
    A.row_begin.push_back(count(A.column));
  }
  A.values.assign(9 * A.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return A;
}

struct Stiffness {
  Matrix matrix;  // dt² K + dt C
  Vector rhs;     // dt C v
};

Stiffness stiffness(const SpringElements& elements, const Points& x, const Points& v, double dt) {
  BlockSparseMatrix A = full_pattern(count(x));
  Stiffness result;
  result.rhs = Vector::Zero(3 * count(x));
  elements.add_stiffness(x, v, dt, A, span_of(result.rhs));
  result.matrix = Matrix(to_scalar(A));
  return result;
}

Matrix stiffness(const SpringElements& elements, const Points& x) {
  return stiffness(elements, x, Points(x.size(), Vector3::Zero()), 1.0).matrix;
}

double& coordinate(Points& x, Index i) { return x[i / 3][i % 3]; }

/// −∂E/∂x by central differences with steps of h.
Vector minus_energy_gradient(const SpringElements& elements, Points x, double h) {
  Vector result(3 * count(x));
  for (Index i = 0; i < result.size(); ++i) {
    const double middle = coordinate(x, i);
    coordinate(x, i) = middle + h;
    const double high = elements.energy(x);
    coordinate(x, i) = middle - h;
    result[i] = (elements.energy(x) - high) / (2.0 * h);
    coordinate(x, i) = middle;
  }
  return result;
}

/// −∂f/∂x by central differences.
Matrix minus_force_gradient(const SpringElements& elements, Points x, double h) {
  const Index n = 3 * count(x);
  Matrix result(n, n);
  for (Index i = 0; i < n; ++i) {
    const double middle = coordinate(x, i);
    coordinate(x, i) = middle + h;
    const Vector high = forces(elements, x);
    coordinate(x, i) = middle - h;
    result.col(i) = (forces(elements, x) - high) / (2.0 * h);
    coordinate(x, i) = middle;
  }
  return result;
}

/// Central differences of step h = 10⁻⁵ on lengths of order 1 with bounded third derivatives err by 10⁻¹⁰
/// (truncation) and ε/h = 2·10⁻¹¹ (rounding), times a constant below 100 for triangles that are not needles.
constexpr double kStep = 1e-5;
constexpr double kDifference = 1e-8;

SpringNetwork one_spring(double rest) {
  SpringNetwork network = with({{0, 0, 0}, {rest, 0, 0}});
  network.springs = {{0, 1, 30.0, 0.7, rest}};
  return network;
}

/// A bent strip: two triangles over an edge, hinge along one side, springs all round.
SpringNetwork strip() {
  SpringNetwork network = with({{0.5, 1.0, 0.2}, {0, 0, 0}, {1, 0, 0}, {0.4, -0.9, 0.3}});
  network.springs = {{0, 1, 20.0, 0.3, 1.0}, {1, 2, 25.0, 0.0, 0.9}, {3, 2, 10.0, 0.1, 1.2}};
  network.hinges = {{0, 1, 3, 2.0, 2.0}, {1, 2, 3, 1.5, kPi}};
  network.folds = {{0, 1, 2, 3, 3.0, 0.1}};
  return network;
}

TEST(Spring, PullsWithItsStiffnessPerRelativeStretchAndDampsAlongItself) {
  const SpringElements elements = elements_of(one_spring(0.5));
  const Points x{{0, 0, 0}, {0, 0.6, 0}};
  const Vector f = forces(elements, x, {{0, 0, 0}, {5, 2, 5}});
  // 30 N × 0.1/0.5 + 0.7 N·s × 2/0.5 /s
  EXPECT_NEAR(f[1], 6.0 + 2.8, 20 * kEps);
  EXPECT_NEAR(f[4], -8.8, 20 * kEps);
  EXPECT_EQ(f[0], 0.0);
  EXPECT_NEAR(elements.energy(x), 0.5 * 60.0 * 0.01, 10 * kEps);
}

TEST(SpringElements, ForcesAreMinusTheGradientOfTheEnergy) {
  const SpringElements elements = elements_of(strip());
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    Points x = strip().vertices;
    for (Vector3& p : x) p += random_vector(rng, 0.3);
    const Vector f = forces(elements, x);
    const Vector g = minus_energy_gradient(elements, x, kStep);
    EXPECT_LT((f - g).norm(), kDifference * 100.0) << trial;  // stiffnesses up to 60 N/m
    EXPECT_GT(f.norm(), 0.1);
  }
}

TEST(SpringElements, StiffnessIsTheDerivativeOfTheForcesWhereNothingWasCutOff) {
  // Springs in tension everywhere, hinges and folds at rest: there Gauss–Newton is exact.
  SpringNetwork network = strip();
  for (Spring& s : network.springs) {
    s.rest = 0.5;
    s.damping = 0.0;
  }
  const Points& x = network.vertices;
  network.hinges[0].rest = hinge_angle(x[0], x[1], x[3]);
  network.hinges[1].rest = hinge_angle(x[1], x[2], x[3]);
  network.folds[0].rest = fold_angle(x[0], x[1], x[2], x[3]);
  const SpringElements elements = elements_of(network);
  const Matrix K = stiffness(elements, x);
  EXPECT_LT((K - minus_force_gradient(elements, x, kStep)).norm(), kDifference * K.norm());
}

TEST(SpringElements, DampingMatrixIsTheDerivativeByTheVelocity) {
  const SpringElements elements = elements_of(strip());
  const Points x = strip().vertices;
  Rng rng(4);
  Points v = random_points(rng, 4, 1.0);
  const double dt = 0.25;
  const Stiffness still = stiffness(elements, x, Points(4, Vector3::Zero()), dt);
  SpringNetwork undamped = strip();
  for (Spring& s : undamped.springs) s.damping = 0.0;
  const Matrix C = (still.matrix - stiffness(elements_of(undamped), x, v, dt).matrix) / dt;
  for (Index i = 0; i < 12; ++i) {  // forces are linear in the velocity: any step is exact
    Points moved = v;
    coordinate(moved, i) += 1.0;
    const Vector column = forces(elements, x, v) - forces(elements, x, moved);
    EXPECT_LT((C.col(i) - column).norm(), 400 * kEps * still.matrix.norm() / dt);
  }
  const Stiffness moving = stiffness(elements, x, v, dt);
  Vector velocity(12);
  for (Index i = 0; i < 12; ++i) velocity[i] = coordinate(v, i);
  EXPECT_LT((moving.rhs - dt * C * velocity).norm(), 400 * kEps * still.matrix.norm());
  EXPECT_EQ((moving.matrix - still.matrix).norm(), 0.0);
}

TEST(SpringElements, StiffnessIsSymmetricAndPositiveSemidefiniteEverywhere) {
  const SpringElements elements = elements_of(strip());
  Rng rng(8);
  for (int trial = 0; trial < 300; ++trial) {
    const Points x = random_points(rng, 4, 1.0);
    const Matrix K = stiffness(elements, x);
    EXPECT_LT((K - K.transpose()).norm(), 20 * kEps * K.norm());
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(K).eigenvalues()[0], -100 * kEps * K.norm()) << trial;
  }
}

TEST(SpringElements, CompressedSpringKeepsItsStiffnessAlongItselfOnly) {
  SpringNetwork network = one_spring(1.0);
  network.springs[0].damping = 0.0;
  const SpringElements elements = elements_of(network);
  const Matrix K = stiffness(elements, {{0, 0, 0}, {0.5, 0, 0}});
  Matrix expected = Matrix::Zero(6, 6);
  expected(0, 0) = expected(3, 3) = 30.0;
  expected(0, 3) = expected(3, 0) = -30.0;
  EXPECT_LT((K - expected).norm(), 10 * kEps * 30.0);
}

TEST(SpringElements, ForcesHaveNoSumAndNoTorque) {
  const SpringElements elements = elements_of(strip());
  Rng rng(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Points x = random_points(rng, 4, 1.0);
    const Points v = random_points(rng, 4, 1.0);
    const Vector f = forces(elements, x, v);
    Vector3 sum = Vector3::Zero(), torque = Vector3::Zero();
    for (Index i = 0; i < 4; ++i) {
      const Vector3 f_i = f.segment<3>(3 * i);
      sum += f_i;
      torque += x[i].cross(f_i);
    }
    // Slopes of thin triangles are differences of numbers as large as the largest force on the way.
    EXPECT_LT(sum.norm(), 100 * kEps * (1.0 + f.norm())) << trial;
    EXPECT_LT(torque.norm(), 1000 * kEps * (1.0 + f.norm())) << trial;
  }
}

TEST(Hinge, AStraightOneIsStiffBothWays) {
  SpringNetwork network = with({{-1, 0, 0}, {0, 0, 0}, {2, 0, 0}});
  network.hinges = {{0, 1, 2, 3.0, kPi}};
  const SpringElements elements = elements_of(network);
  EXPECT_EQ(hinge_angle({-1, 0, 0}, {0, 0, 0}, {2, 0, 0}), kPi);
  // Energy ½ c φ², φ = |u_j (1 + ½) − u_i − ½ u_k| across the string: K is its Hessian in y and in z.
  const Vector3 slope(1.0, -1.5, 0.5);
  Matrix expected = Matrix::Zero(9, 9);
  for (Index a = 0; a < 3; ++a) {
    for (Index b = 0; b < 3; ++b) {
      for (Index d = 1; d < 3; ++d) expected(3 * a + d, 3 * b + d) = 3.0 * slope[a] * slope[b];
    }
  }
  EXPECT_LT((stiffness(elements, network.vertices) - expected).norm(), 20 * kEps * expected.norm());
  // And it is continuous: bent by 10⁻⁷ the same up to that size.
  Points bent = network.vertices;
  bent[1][2] = 1e-7;
  EXPECT_LT((stiffness(elements, bent) - expected).norm(), 1e-6 * expected.norm());
  EXPECT_LT((minus_force_gradient(elements, bent, 1e-4) - expected).norm(), 1e-6 * expected.norm());
}

TEST(Fold, AngleIsThatOfTheNormalsPositiveWhenConvex) {
  const Vector3 j(0, 0, 0), k(1, 0, 0), i(0.5, 1, 0);
  for (const double angle : {-3.0, -1.0, 0.0, 0.5, 2.0, 3.1}) {
    // Triangle l turned by `angle` below the plane of the other.
    const Vector3 l(0.3, -2.0 * std::cos(angle), -2.0 * std::sin(angle));
    EXPECT_NEAR(fold_angle(i, j, k, l), angle, 10 * kEps);
  }
}

TEST(Fold, IsContinuousAcrossTheFullyFoldedState) {
  SpringNetwork network = with({{0.5, 1, 0}, {0, 0, 0}, {1, 0, 0}, {0.5, -1, 0}});
  network.folds = {{0, 1, 2, 3, 1.0, 3.0}};  // rest near the fold: its deviation passes ±π there
  const SpringElements elements = elements_of(network);
  const auto at = [&](double angle) {
    Points x = network.vertices;
    x[3] = {0.5, -std::cos(angle), -std::sin(angle)};
    return elements.energy(x);
  };
  EXPECT_NEAR(at(kPi - 1e-9), at(-kPi + 1e-9), 1e-9);
  EXPECT_NEAR(at(-3.0), 0.5 * std::pow(2.0 * kPi - 6.0, 2), 20 * kEps);
}

TEST(SpringElements, DegenerateShapesGiveFiniteForcesAndStiffness) {
  SpringNetwork network = strip();
  network.folds.push_back({0, 1, 2, 3, 3.0, kPi});
  network.hinges.push_back({0, 1, 2, 1.0, 1.0});
  const SpringElements elements = elements_of(network);
  const std::vector<Points> shapes{
      Points(4, Vector3(0.3, 0.3, 0.3)),                  // all in one point
      {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}},       // on a line
      {{0, 0, 0}, {1, 0, 0}, {-2, 0, 0}, {0, 0, 0}},      // folded onto itself, tips together
      {{0.5, 1, 0}, {0, 0, 0}, {1, 0, 0}, {0.5, 1, 0}},   // folded flat
      {{0.5, 1, 0}, {0, 0, 0}, {0, 0, 0}, {0.5, -1, 0}},  // edge of length 0
      {{0.5, 1e-200, 0}, {0, 0, 0}, {1, 0, 0}, {0.5, -1, 0}},
      {{0, 1e-160, 0}, {0, 0, 0}, {1e-160, 0, 0}, {0, 0, 1e-160}}};
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const Points v(4, Vector3(1, 2, 3));
    EXPECT_TRUE(forces(elements, shapes[s], v).allFinite()) << s;
    const Stiffness k = stiffness(elements, shapes[s], v, 0.1);
    EXPECT_TRUE(k.matrix.allFinite() && k.rhs.allFinite()) << s;
    EXPECT_TRUE(std::isfinite(elements.energy(shapes[s]))) << s;
  }
}

TEST(SpringElements, ASecondNetworkWorksOnItsOwnNodes) {
  SpringElements elements;
  elements.add(strip(), 0);
  elements.add(strip(), 4);
  Rng rng(2);
  const Points x = random_points(rng, 4, 1.0);
  Points both = x;
  both.insert(both.end(), x.begin(), x.end());
  const Vector f = forces(elements, both);
  EXPECT_EQ(f.head(12), f.tail(12));
  EXPECT_EQ(f.head(12), forces(elements_of(strip()), x));
  const Matrix K = stiffness(elements, both);
  EXPECT_EQ(K.topRightCorner(12, 12).norm(), 0.0);
  EXPECT_EQ((K.topLeftCorner(12, 12) - K.bottomRightCorner(12, 12)).norm(), 0.0);
  std::vector<std::array<Index, 2>> pairs;
  elements.couplings(pairs);
  EXPECT_EQ(pairs.size(), 12U);  // all pairs of the four nodes, twice
}

TEST(SpringElements, APreparedPatternGivesTheSameBits) {
  SpringElements elements = elements_of(strip());
  const Points x = strip().vertices;
  const Matrix searched = stiffness(elements, x);
  elements.prepare(full_pattern(4));
  EXPECT_EQ((stiffness(elements, x) - searched).norm(), 0.0);
}

/// Largest growth of a random perturbation under symplectic Euler with the linear forces near rest.
double growth(const SpringNetwork& network, double dt, int steps) {
  const SpringElements elements = elements_of(network);
  Rng rng(1);
  Points x = network.vertices;
  Points v(x.size(), Vector3::Zero());
  for (Vector3& p : x) p += random_vector(rng, 1e-9);
  for (int s = 0; s < steps; ++s) {
    Points f(x.size(), Vector3::Zero());
    elements.add_forces(x, v, f);
    for (std::size_t i = 0; i < x.size(); ++i) {
      v[i] += dt / network.mass[i] * f[i];
      x[i] += dt * v[i];
    }
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double moved = (x[i] - network.vertices[i]).norm();
    if (!std::isfinite(moved)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, moved);
  }
  return largest;
}

TEST(SpringElements, StableStepIsExactForOneSpringWithAndWithoutDamping) {
  for (const double damping : {0.0, 0.4}) {
    SpringNetwork network = one_spring(0.5);
    network.springs[0].damping = damping;
    const double dt = elements_of(network).largest_stable_step(network.mass);
    if (damping == 0.0) {
      EXPECT_NEAR(dt, 2.0 / std::sqrt(2.0 * 60.0), 10 * kEps);
    }
    // Below the bound perturbations of 10⁻⁹ drift at most; above it they grow until the springs are not
    // linear any more.
    EXPECT_LT(growth(network, 0.99 * dt, 2000), 1e-5);
    EXPECT_GT(growth(network, 1.01 * dt, 2000), 1e-3);
  }
}

TEST(SpringNetwork, RefusesBadNumbers) {
  const auto refused = [](auto change) {
    SpringNetwork network = strip();
    change(network);
    EXPECT_THROW(network.validate("body 'toy'"), UsageError);
  };
  EXPECT_NO_THROW(strip().validate("body 'toy'"));
  refused([](SpringNetwork& n) { n.vertices.clear(); });
  refused([](SpringNetwork& n) { n.mass.pop_back(); });
  refused([](SpringNetwork& n) { n.mass[2] = 0.0; });
  refused([](SpringNetwork& n) { n.vertices[1][1] = std::nan(""); });
  refused([](SpringNetwork& n) { n.springs[0].j = 4; });
  refused([](SpringNetwork& n) { n.springs[0].j = n.springs[0].i; });
  refused([](SpringNetwork& n) { n.springs[0].rest = 0.0; });
  refused([](SpringNetwork& n) { n.springs[0].stiffness = -1.0; });
  refused([](SpringNetwork& n) { n.hinges[0].rest = 4.0; });
  refused([](SpringNetwork& n) { n.folds[0].stiffness = std::numeric_limits<double>::infinity(); });
  refused([](SpringNetwork& n) { n.triangles = {{0, 1, 9}}; });
  refused([](SpringNetwork& n) { n.edges = {{1, 1}}; });
}

}  // namespace
}  // namespace signorini::spring_network_test
