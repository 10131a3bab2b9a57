#include "contact/planar_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "contact/align_tangents.h"
#include "contact/delassus_operator.h"
#include "contact/planar_problems.h"
#include "contact/residuals.h"
#include "record/record_test_tools.h"

namespace signorini::planar_problem_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// With n = 9, and with n = 10 and a last dof that no contact moves.
std::vector<ContactProblem> primal_problems() {
  std::vector<ContactProblem> all;
  for (const double coupling : {0.0, 3.0}) {
    ContactProblem p = plane::random_chain(3, 0.3, coupling, 5);
    p.v_minus = Vector::LinSpaced(p.dofs(), -1.0, 1.0);
    p.warm_start = Vector::LinSpaced(2 * p.contacts(), 0.0, 1.0);
    p.w[3] = -0.0;
    all.push_back(p);
    ContactProblem longer = p;
    const Index n = p.dofs() + 1;
    longer.M.conservativeResize(n, n);
    longer.M.insert(n - 1, n - 1) = 4.0;
    longer.M.makeCompressed();
    longer.H.conservativeResize(n, p.H.cols());
    longer.H.makeCompressed();
    longer.f.conservativeResize(n);
    longer.v_minus.conservativeResize(n);
    longer.f[n - 1] = longer.v_minus[n - 1] = 1.5;
    all.push_back(longer);
  }
  return all;
}

/// Whole blocks, stored zeros and all, not symmetric.
ContactProblem dual_problem() {
  const plane::Reduced reduced = plane::reduce(plane::random_chain(3, 0.3, 0.0, 6));
  ContactProblem p;
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      if (i / 2 - j / 2 < 2) entries.emplace_back(i, j, i == 0 && j == 5 ? -0.0 : reduced.W(i, j));
    }
  }
  p.W.resize(6, 6);
  p.W.setFromTriplets(entries.begin(), entries.end());
  p.q = reduced.q;
  p.mu = reduced.mu;
  return p;
}

TEST(PlanarProblem, TheWayToSpaceAndBackKeepsEveryBit) {
  std::vector<ContactProblem> all = primal_problems();
  all.push_back(dual_problem());
  all.push_back({});
  for (ContactProblem& planar : all) {
    planar.spacedim = 2;
    EXPECT_EQ(find_defect_in_plane(planar), std::nullopt);
    const ContactProblem space = to_space(planar);
    EXPECT_EQ(find_defect(space), std::nullopt);
    EXPECT_EQ(space.own_dofs(), planar.dofs());
    expect_same_problem(to_plane(space), planar);
  }
}

TEST(PlanarProblem, SecondTangentsAreAloneAndNoSofterThanTheFirst) {
  for (const ContactProblem& planar : primal_problems()) {
    const plane::Reduced reduced = plane::reduce(planar);
    const ContactProblem space = to_space(planar);
    const ReducedProblem lifted = assemble_reduced(space);
    const Matrix W = to_scalar(lifted.W);
    // a solve with M of a dozen rows each way
    const double rounding = 100 * kEpsilon * Matrix(planar.M).norm() * reduced.W.norm();
    for (Index i = 0; i < 3 * planar.contacts(); ++i) {
      for (Index j = 0; j < 3 * planar.contacts(); ++j) {
        if (i % 3 == 2 || j % 3 == 2) {
          EXPECT_EQ(W(i, j) != 0.0, i == j) << i << " " << j;
        } else {
          EXPECT_NEAR(W(i, j), reduced.W(2 * (i / 3) + i % 3, 2 * (j / 3) + j % 3), rounding);
        }
      }
      if (i % 3 != 2) continue;
      EXPECT_EQ(lifted.q[i], 0.0);
      EXPECT_LE(W(i, i), W(i - 1, i - 1) * (1 + 100 * kEpsilon));
    }
    EXPECT_EQ(space.node_size(), planar.dofs() % 3 == 0 ? 3 : 1);
  }
}

/// A point mass: M h is parallel to h, so the bound of Cauchy and Schwarz is met.
TEST(PlanarProblem, TheSecondTangentOfAPointWeighsWhatThePointDoes) {
  Matrix H(2, 2);
  H << 0.6, 0.8, 0.8, -0.6;
  for (const double scale : {1.0, 1e-160, 1e160}) {
    const ContactProblem p = zoo::make_planar(4.0 * Matrix::Identity(2, 2), scale * H, Vector::Ones(2),
                                              Vector::Zero(2), Vector::Ones(1));
    ASSERT_EQ(p.dofs(), 5);
    if (scale == 1.0) {
      EXPECT_NEAR(p.M.coeff(2, 2), 4.0, 8 * kEpsilon);
      EXPECT_EQ(p.H.coeff(2, 2), 1.0);
    } else {
      EXPECT_EQ(p.H.col(2).nonZeros(), 0) << "no finite mass";
    }
    EXPECT_EQ(find_defect(p), std::nullopt);
  }
}

TEST(PlanarProblem, ATangentThatMovesNothingHasNoSecondOne) {
  Matrix H = Matrix::Zero(3, 4);
  H(0, 0) = H(1, 2) = H(2, 3) = 1.0;
  const ContactProblem p = zoo::make_planar(Matrix::Identity(3, 3), H, -Vector::Ones(3), Vector::Zero(4),
                                            Vector::Constant(2, 0.5));
  EXPECT_EQ(p.H.col(2).nonZeros(), 0);
  EXPECT_EQ(p.H.col(5).nonZeros(), 1);
  EXPECT_EQ(find_defect(p), std::nullopt);
  Matrix W = Matrix::Zero(4, 4);
  W(0, 0) = W(2, 2) = W(3, 3) = 2.0;
  const ContactProblem dual = to_space(zoo::make_dual(W, -Vector::Ones(4), Vector::Constant(2, 0.5)));
  EXPECT_EQ(dual.W.nonZeros(), 4);
  EXPECT_EQ(dual.W.coeff(5, 5), 2.0);
}

/// Cone, pyramid and the enumeration are one law.
TEST(PlanarProblem, TheRefereeJudgesBothLawsAsTheEnumerationDoes) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const ContactProblem planar = plane::random_chain(3, 0.3, 0.0, seed);
    const Referee referee(to_space(planar));
    const std::vector<Vector> solutions = plane::all_solutions(plane::reduce(planar));
    ASSERT_FALSE(solutions.empty());
    for (const Vector& solution : solutions) {
      const Vector r = rows_to_space(solution), wrong = 1.01 * r;
      for (const LawSpec law : {LawSpec{FrictionLaw::cone, PyramidFrame::fixed},
                                LawSpec{FrictionLaw::pyramid, PyramidFrame::fixed},
                                LawSpec{FrictionLaw::pyramid, PyramidFrame::aligned}}) {
        EXPECT_LE(referee.measure(span_of(r), law).residual, 1e-13);
        if (r.norm() > 0.0) {
          EXPECT_GT(referee.measure(span_of(wrong), law).residual, 1e-4);
        }
      }
    }
  }
}

TEST(PlanarProblem, WhatIsNotInThePlaneIsNamed) {
  const auto defect = [](const ContactProblem& good, auto spoil) {
    ContactProblem p = good;
    spoil(p);
    return find_defect(p).value_or("none");
  };
  const ContactProblem primal = to_space(plane::random_chain(2, 0.3, 0.0, 1));  // 6 dofs and 6 more
  EXPECT_EQ(defect(primal, [](ContactProblem& p) { p.spacedim = 4; }), "spacedim = 4 must be 2 or 3");
  EXPECT_EQ(defect(primal, [](ContactProblem& p) { p.w[5] = 0.25; }),
            "spacedim is 2, but w[5] = 0.25 (second tangent of contact 1) is not zero");
  EXPECT_EQ(defect(primal, [](ContactProblem& p) { p.f[7] = 1.0; }),
            "spacedim is 2, but f[7] = 1 pushes a second tangent");
  EXPECT_EQ(defect(primal,
                   [](ContactProblem& p) {
                     p.M.coeffRef(6, 7) = 1.0;
                     p.M.makeCompressed();
                   }),
            "spacedim is 2, but M[6,7] couples a second tangent with others");
  EXPECT_EQ(defect(primal,
                   [](ContactProblem& p) {
                     p.H.coeffRef(0, 2) = 1.0;
                     p.H.makeCompressed();
                   }),
            "spacedim is 2, but H[0,2] couples a second tangent with others");
  EXPECT_EQ(defect(zoo::specimen("h1").problem, [](ContactProblem& p) { p.spacedim = 2; }),
            "spacedim is 2, but there are 3 dofs: three for each of the 1 contacts are not those of bodies");
  const ContactProblem dual = to_space(dual_problem());
  EXPECT_EQ(defect(dual, [](ContactProblem& p) { p.q[2] = -1.0; }),
            "spacedim is 2, but q[2] = -1 (second tangent of contact 0) is not zero");
  EXPECT_EQ(defect(dual,
                   [](ContactProblem& p) {
                     p.W.coeffRef(2, 0) = 1.0;
                     p.W.makeCompressed();
                   }),
            "spacedim is 2, but W[2,0] couples a second tangent with others");
}

TEST(PlanarProblem, DefectsInThePlaneHaveTheRowsOfThePlane) {
  const auto defect = [](auto spoil) {
    ContactProblem p = dual_problem();
    spoil(p);
    return find_defect_in_plane(p).value_or("none");
  };
  EXPECT_EQ(defect([](ContactProblem& p) { p.W.coeffRef(3, 3) = -1.0; }),
            "W[3,3] = -1 (contact 1): a diagonal entry of W must not be negative");
  EXPECT_EQ(defect([](ContactProblem& p) { p.q[4] = std::nan(""); }), "q[4] is not finite");
  EXPECT_EQ(defect([](ContactProblem& p) { p.q.resize(9); }), "q has 9 numbers but must have 6");
}

TEST(PlanarProblem, TurnedTangentsLeaveThePlane) {
  const ContactProblem planar = to_space(plane::random_chain(2, 0.3, 0.0, 1));
  const ContactProblem turned = turn_tangents(planar, std::vector<double>(2, 0.5));
  EXPECT_EQ(turned.spacedim, 3);
  EXPECT_EQ(turned.own_dofs(), planar.dofs());
  EXPECT_EQ(find_defect(turned), std::nullopt);
}

}  // namespace
}  // namespace signorini::planar_problem_test
