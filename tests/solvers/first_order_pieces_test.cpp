// Projections, weights, shifts and factors that the first-order solvers are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "linalg/random_blocks.h"
#include "solvers/first_order/cone_projection.h"
#include "solvers/first_order/contact_cones.h"
#include "solvers/first_order/pencil_factor.h"
#include "solvers/first_order/shift_rule.h"

namespace signorini::first_order_pieces_test {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

using test::view;

Vector3 random_point(Rng& rng) { return {2.0 * rng.normal(), 2.0 * rng.normal(), 2.0 * rng.normal()}; }

/// Moreau: p = P_K(x) exactly when p ∈ K, p − x ∈ K* and p ⊥ p − x.
template <class Law>
void expect_projection(double mu, const Vector3& x) {
  const Vector3 p = project_on_cone<Law>(mu, x);
  const Vector3 rest = p - x;
  const double slack =
      16.0 * kEps * (1.0 + mu) * (1.0 + x.norm());  // a few products and sums of numbers like x
  EXPECT_TRUE(Law{mu}.contains(p, slack)) << p.transpose();
  EXPECT_GE(rest[0], mu * sliding_speed<Law>(rest.data()) - slack) << rest.transpose();
  EXPECT_NEAR(p.dot(rest), 0.0, slack * (1.0 + x.norm()));
}

TEST(ConeProjection, MeetsMoreausConditions) {
  Rng rng(3);
  for (const double mu : {0.0, 0.1, 0.5, 1.0, 4.0}) {
    for (int i = 0; i < 300; ++i) {
      const Vector3 x = random_point(rng);
      expect_projection<FrictionCone>(mu, x);
      expect_projection<FrictionPyramid>(mu, x);
    }
  }
}

TEST(ConeProjection, OfThePyramidByHand) {
  // inside; on one side: n = (1 + 3/2)/(1 + 1/4) = 2; on an edge: n = (1 + (3 + 3)/2)/(1 + 2/4) = 8/3; polar: 0
  EXPECT_EQ(project_on_pyramid(0.5, {4, 1, -2}), Vector3(4, 1, -2));
  EXPECT_EQ(project_on_pyramid(0.5, {1, -3, 0.5}), Vector3(2, -1, 0.5));
  EXPECT_LE((project_on_pyramid(0.5, {1, 3, -3}) - Vector3(8, 4, -4) / 3.0).norm(), 8.0 * kEps);
  EXPECT_EQ(project_on_pyramid(0.5, {-2, 1, -1}).norm(), 0.0);
  EXPECT_EQ(project_on_pyramid(0.0, {2, 1, -1}), Vector3(2, 0, 0));
}

TEST(ConeProjection, KeepsWhatIsNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Eigen::Index i = 0; i < 3; ++i) {
    Vector3 x(1, 2, 3);
    x[i] = nan;
    EXPECT_FALSE(project_on_cone<FrictionCone>(0.5, x).allFinite()) << i;
    EXPECT_FALSE(project_on_cone<FrictionPyramid>(0.5, x).allFinite()) << i;
  }
}

TEST(SlidingSpeed, IsTheDualNormOfTheBound) {
  const double u[3] = {7.0, 3.0, -4.0};
  EXPECT_EQ(sliding_speed<FrictionCone>(u), 5.0);
  EXPECT_EQ(sliding_speed<FrictionPyramid>(u), 7.0);
}

TEST(ContactCones, WeighsTheDirectionsThatImpulsesActIn) {
  // friction; none; a rail (W_TT = 0); fixed bodies
  ContactCones cones;
  cones.prepare(FrictionLaw::cone, Eigen::Vector4d(0.5, 0.0, 0.5, 0.5),
                {{1.0, 4.0}, {2.0, 8.0}, {3.0, 0.0}, {0.0, 0.0}});
  const std::vector<double> weight(cones.weight().begin(), cones.weight().end());
  const std::vector<double> step(cones.step().begin(), cones.step().end());
  EXPECT_EQ(weight, (std::vector<double>{3, 3, 3, 2, 2, 2, 3, 3, 3, 1, 1, 1}));
  const double third = 1.0 / 3.0;
  EXPECT_EQ(step, (std::vector<double>{third, third, third, 0.5, 0, 0, third, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cones.largest_friction(), 0.5);
  // a step of one from r = 0 along u = (−1, 1, 0) everywhere
  const std::vector<double> r(12, 0.0), u{-1, 1, 0, -1, 1, 0, -1, 1, 0, -1, 1, 0}, shift(4, 0.0);
  std::vector<double> next(12, 1.0);
  cones.descend(r, 1.0, u, shift, next);
  const Vector3 first = FrictionCone{0.5}.project(Vector3(third, -third, 0));
  for (int j = 0; j < 3; ++j) EXPECT_EQ(next[j], first[j]);
  EXPECT_EQ(std::vector<double>(next.begin() + 3, next.end()),
            (std::vector<double>{0.5, 0, 0, third, 0, 0, 0, 0, 0}));
}

TEST(ContactCones, BoundTheCurvatureOfW) {
  // S⁻¹ W of two contacts with W_kk = 2 I and coupling 1 between the normals: eigenvalues up to 3/2
  Matrix W = 2.0 * Matrix::Identity(6, 6);
  W(0, 3) = W(3, 0) = 1.0;
  ContactCones cones;
  cones.prepare(FrictionLaw::cone, Eigen::Vector2d(0.5, 0.5), {{2.0, 2.0}, {2.0, 2.0}});
  EXPECT_DOUBLE_EQ(cones.largest_curvature(to_blocks(SparseRows(W.sparseView()))), 1.5);
}

TEST(ShiftRule, RenewsTheShiftWhereItIsTheLargerError) {
  ContactCones cones;
  cones.prepare(FrictionLaw::cone, Vector::Constant(1, 0.5), {{1.0, 1.0}});
  ShiftRule rule;
  rule.prepare(cones);
  const std::vector<double> start{0.0, 3.0, 4.0}, faster{0.0, 6.0, 8.0};
  rule.start(LawForm::exact, 1.0, start);
  EXPECT_EQ(rule.shift()[0], 2.5);
  EXPECT_FALSE(rule.update(faster, 2.6)) << "the step was longer than the shift is wrong, 2.5";
  EXPECT_EQ(rule.shift()[0], 2.5);
  EXPECT_TRUE(rule.update(faster, 2.4));
  EXPECT_EQ(rule.shift()[0], 5.0);
  EXPECT_FALSE(rule.update(faster, 0.0)) << "nothing to renew";
  rule.start(LawForm::associated, 1.0, start);
  EXPECT_EQ(rule.shift()[0], 0.0);
  EXPECT_FALSE(rule.update(faster, 0.0));
}

Matrix random_definite(Rng& rng, Eigen::Index n) {
  Matrix root(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) root(i, j) = rng.normal();
  }
  return root * root.transpose() + Matrix::Identity(n, n);
}

/// A band matrix large enough for the sparse path.
SparseRows band(Index n, double skew) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 3.0 + 0.01 * (i % 7));
    if (i + 1 < n) entries.emplace_back(i, i + 1, -1.0 + skew);
    if (i + 1 < n) entries.emplace_back(i + 1, i, -1.0 - skew);
  }
  SparseRows A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

SparseRows diagonal(Index n) {
  SparseRows B(n, n);
  B.setIdentity();
  return B;
}

void expect_solves(PencilFactor& factor, const SparseRows& A, const SparseRows& B, double t) {
  Vector x(A.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + static_cast<double>(i));
  const Vector b = A * x + t * (B * x);
  Vector solved = b;
  factor.solve(span_of(solved));
  EXPECT_LE((solved - x).norm(), 1e-12 * x.norm());  // condition below 1e3
}

TEST(PencilFactor, SolvesDenseAndSparseSymmetricOrNot) {
  Rng rng(5);
  Matrix full = random_definite(rng, 30);
  Matrix skewed = full;
  skewed(3, 7) += 1.0;
  skewed(7, 3) -= 1.0;
  for (const SparseRows& A :
       {SparseRows(full.sparseView()), SparseRows(skewed.sparseView()), band(600, 0.0), band(600, 0.3)}) {
    PencilFactor factor;
    const SparseRows B = diagonal(static_cast<Index>(A.rows()));
    factor.prepare(A, B);
    ASSERT_TRUE(factor.factor_first(0.5));
    expect_solves(factor, A, B, 0.5);
    ASSERT_TRUE(factor.factor(2.0));
    expect_solves(factor, A, B, 2.0);
    factor.use_first();
    expect_solves(factor, A, B, 0.5);
  }
}

TEST(PencilFactor, KeepsItsFactorWhereTheNextOneIsNotDefinite) {
  // 3 − t in the middle of the diagonal
  for (const Index n : {9, 601}) {
    const SparseRows A = band(n, 0.0);
    SparseRows B = diagonal(n);
    B.coeffRef(n / 2, n / 2) = -1.0;
    PencilFactor factor;
    factor.prepare(A, B);
    ASSERT_TRUE(factor.factor_first(0.25));
    EXPECT_FALSE(factor.factor(40.0));
    expect_solves(factor, A, B, 0.25);
    ASSERT_TRUE(factor.factor(0.5));
    EXPECT_FALSE(factor.factor(40.0));
    expect_solves(factor, A, B, 0.5);
    EXPECT_FALSE(factor.factor_first(40.0));
  }
}

}  // namespace
}  // namespace signorini::first_order_pieces_test
