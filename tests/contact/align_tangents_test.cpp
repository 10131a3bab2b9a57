#include "contact/align_tangents.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/rng.h"
#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"

namespace signorini::align_tangents_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

std::vector<double> random_angles(Index contacts, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> angles(contacts);
  for (double& angle : angles) angle = rng.uniform(-3.0, 3.0);
  return angles;
}

TEST(AlignTangents, PutsTheFreeVelocityOnTheFirstTangent) {
  const PlantedProblem planted = make_planted_problem({});
  const std::vector<double> angles = aligned_angles(planted.problem);
  const ContactProblem turned = turn_tangents(planted.problem, angles);
  const Vector before = assemble_q(planted.problem);
  const Vector after = assemble_q(turned);
  const double tolerance = 100 * kEpsilon * before.cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k < planted.problem.mu.size(); ++k) {
    EXPECT_NEAR(after[3 * k], before[3 * k], tolerance);
    EXPECT_NEAR(after[3 * k + 1], before.segment<2>(3 * k + 1).norm(), tolerance);
    EXPECT_NEAR(after[3 * k + 2], 0.0, tolerance);
  }
}

TEST(AlignTangents, LeavesRestingAndFrontalContactsAlone) {
  const std::vector<double> q{-1.0, 5e-4, 5e-4, 0.0,   0.0,  0.0, 0.0, 0.0,
                              9e-7, 0.0,  0.0,  -2e-6, -1.0, 0.0, 2e-3};
  const std::vector<double> angles = aligned_angles(q);
  EXPECT_EQ(angles[0], 0.0);  // 7e-4 of 1 m/s is less than one in a thousand
  EXPECT_EQ(angles[1], 0.0);
  EXPECT_EQ(angles[2], 0.0);  // slower than 1e-6 m/s
  EXPECT_DOUBLE_EQ(angles[3], -std::atan(1.0) * 2.0);
  EXPECT_DOUBLE_EQ(angles[4], std::atan(1.0) * 2.0);
}

TEST(AlignTangents, TurnsMadeOnceGiveTheSameBits) {
  const PlantedProblem planted = make_planted_problem({});
  const std::vector<double> angles = random_angles(planted.problem.contacts(), 7);
  const std::vector<TangentTurn> turns = tangent_turns(angles);
  for (const int sign : {+1, -1}) {
    Vector by_angles = planted.r, by_turns = planted.r;
    turn_impulses(span_of(by_angles), angles, sign);
    turn_impulses(span_of(by_turns), turns, sign);
    EXPECT_EQ(by_angles, by_turns);
    EXPECT_NE(by_angles, planted.r);
  }
}

TEST(AlignTangents, TurnsByWhatTheLawAsksFor) {
  const std::vector<double> q{-1.0, 0.0, 2.0, -1.0, -3.0, 0.0};
  EXPECT_EQ(turned_angles({FrictionLaw::pyramid, PyramidFrame::aligned}, q), aligned_angles(q));
  EXPECT_EQ(turned_angles({FrictionLaw::pyramid, PyramidFrame::rotated}, q),
            std::vector<double>(2, std::numbers::pi / 4.0));
}

/// H r is the world impulse: it may not depend on the tangents.
TEST(AlignTangents, KeepsImpulsesInTheWorld) {
  const PlantedProblem planted = make_planted_problem({});
  const std::vector<double> angles = random_angles(planted.problem.contacts(), 3);
  const ContactProblem turned = turn_tangents(planted.problem, angles);
  EXPECT_EQ(find_defect(turned), std::nullopt);
  Vector r = planted.r;
  turn_impulses(span_of(r), angles, +1);
  const Vector world = planted.problem.H * planted.r;
  EXPECT_LE((turned.H * r - world).cwiseAbs().maxCoeff(), 32 * kEpsilon * world.cwiseAbs().maxCoeff());
  turn_impulses(span_of(r), angles, -1);
  EXPECT_LE((r - planted.r).cwiseAbs().maxCoeff(), 4 * kEpsilon * planted.r.cwiseAbs().maxCoeff());
}

/// Planted directions are weight · frame, before and after.
TEST(AlignTangents, TurnsFramesAndDirectionsAlike) {
  const PlantedProblem planted = make_planted_problem({});
  const ContactProblem turned = turn_tangents(planted.problem, random_angles(planted.problem.contacts(), 4));
  const Matrix H = turned.H;
  for (Eigen::Index k = 0; k < turned.mu.size(); ++k) {
    const Index point = turned.points(k, 0);
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      const Vector3 direction = turned.frame.block<1, 3>(k, 3 * axis).transpose();
      EXPECT_LE((H.block<3, 1>(3 * point, 3 * k + axis) - turned.weights(k, 0) * direction).norm(),
                4 * kEpsilon);
    }
  }
}

TEST(AlignTangents, TurnsADualProblemAsItsPrimal) {
  PlantedOptions options;
  options.stiffness = 1.0;
  const ContactProblem primal = make_planted_problem(options).problem;
  const ReducedProblem reduced = assemble_reduced(primal);
  ContactProblem dual;
  dual.mu = primal.mu;
  dual.W = to_scalar(reduced.W);
  dual.q = reduced.q;
  const std::vector<double> angles = random_angles(primal.contacts(), 5);
  const ContactProblem turned = turn_tangents(dual, angles);
  const ReducedProblem expected = assemble_reduced(turn_tangents(primal, angles));
  const Matrix difference = Matrix(turned.W) - Matrix(to_scalar(expected.W));
  EXPECT_LE(difference.cwiseAbs().maxCoeff(), 64 * kEpsilon * Matrix(dual.W).cwiseAbs().maxCoeff());
  EXPECT_LE((turned.q - expected.q).cwiseAbs().maxCoeff(), 64 * kEpsilon * dual.q.cwiseAbs().maxCoeff());
}

TEST(AlignTangents, TurnsTheWarmStart) {
  ContactProblem problem = zoo::h3().problem;
  problem.warm_start = zoo::h3().cone;
  const ContactProblem turned = turn_tangents(problem, aligned_angles(problem));
  const Vector expected = zoo::vector_of({10, -3, 0});
  EXPECT_LE((turned.warm_start - expected).cwiseAbs().maxCoeff(), 16 * kEpsilon * 10);
}

/// States and bounds are of the normal and the length of r_T, v belongs to the bodies.
TEST(AlignTangents, LeavesVelocitiesStatesAndBounds) {
  ContactProblem problem = make_planted_problem({}).problem;
  const Index m = problem.contacts();
  problem.v_minus = Vector::LinSpaced(problem.dofs(), -1.0, 2.0);
  problem.start_bounds = Vector::LinSpaced(m, 0.0, 1.0);
  for (Index k = 0; k < m; ++k) problem.start_states.push_back(static_cast<FrictionState>(k % 4 - 1));
  const ContactProblem turned = turn_tangents(problem, random_angles(m, 6));
  EXPECT_EQ(find_defect(turned), std::nullopt);
  EXPECT_EQ(turned.v_minus, problem.v_minus);
  EXPECT_EQ(turned.start_states, problem.start_states);
  EXPECT_EQ(turned.start_bounds, problem.start_bounds);
}

TEST(AlignTangents, AcceptsNoContacts) {
  EXPECT_TRUE(aligned_angles(zoo::nothing().problem).empty());
  EXPECT_TRUE(aligned_angles(zoo::no_contacts().problem).empty());
  EXPECT_EQ(find_defect(turn_tangents(zoo::no_contacts().problem, {})), std::nullopt);
}

}  // namespace
}  // namespace signorini::align_tangents_test
