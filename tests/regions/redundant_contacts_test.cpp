#include "regions/redundant_contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "contact/planted_problem.h"

namespace signorini::redundant_contacts_test {

/// Three mass points of 1, 2 and 4 kg; contact k pushes by the normals given, on one node each or on two.
struct Part {
  Index contact, node;
  Vector3 normal;
};

ContactProblem problem_of(Index contacts, const std::vector<Part>& parts, const std::vector<double>& gaps) {
  ContactProblem problem;
  problem.M.resize(9, 9);
  for (Index i = 0; i < 9; ++i) problem.M.insert(i, i) = std::pow(2.0, i / 3);
  problem.M.makeCompressed();
  problem.H.resize(9, 3 * contacts);
  for (const Part& part : parts) {
    for (Index i = 0; i < 3; ++i) problem.H.insert(3 * part.node + i, 3 * part.contact) = part.normal[i];
  }
  problem.H.makeCompressed();
  problem.f = Vector::Zero(9);
  problem.w = Vector::LinSpaced(3 * contacts, 0.0, 3.0 * contacts - 1.0);
  problem.mu = Vector::Constant(contacts, 0.5);
  problem.gap = Eigen::Map<const Vector>(gaps.data(), count(gaps));
  return problem;
}

Vector3 turned(double degrees) {
  const double angle = degrees * 3.14159265358979 / 180.0;
  return {std::sin(angle), 0.0, std::cos(angle)};
}

TEST(RedundantContacts, TheCloserOfTwoOnOneMassPointStays) {
  // cos 15° = 0.966, cos 45° = 0.707
  const ContactProblem problem =
      problem_of(3, {{0, 0, turned(0)}, {1, 0, turned(15)}, {2, 0, turned(-45)}}, {2e-3, 1e-3, 3e-3});
  EXPECT_EQ(redundant_contacts(problem, 0.9), (std::vector<Index>{0}));
  EXPECT_EQ(redundant_contacts(problem, 0.7), (std::vector<Index>{0}));  // 60° between those that stay
}

TEST(RedundantContacts, AThirdNormalInThePlaneOfTwoIsRedundant) {
  const ContactProblem problem =
      problem_of(4, {{0, 0, turned(0)}, {1, 0, turned(60)}, {2, 0, turned(-50)}, {3, 0, Vector3::UnitY()}},
                 {1e-3, 2e-3, 3e-3, 4e-3});
  EXPECT_EQ(redundant_contacts(problem, 0.999),
            (std::vector<Index>{2}));  // whatever the signs; the fourth is upright on it
}

TEST(RedundantContacts, TheFourthCornerOfAPlateDependsOnTheOthers) {
  // a corner pushes mass point 0 up and turns it by mass points 1 and 2: (1, x, y) with x, y = ±1
  std::vector<Part> parts;
  for (Index k = 0; k < 4; ++k) {
    parts.push_back({k, 0, turned(0)});
    parts.push_back({k, 1, (k % 2 == 0 ? 1.0 : -1.0) * turned(0)});
    parts.push_back({k, 2, (k < 2 ? 1.0 : -1.0) * turned(0)});
  }
  // between two of three the cosine is at most (1 + 1/2 - 1/4) / (1 + 1/2 + 1/4) = 0.71
  const ContactProblem problem = problem_of(4, parts, {1e-3, 2e-3, 3e-3, 4e-3});
  EXPECT_EQ(redundant_contacts(problem, 0.99), (std::vector<Index>{3}));
}

TEST(RedundantContacts, OtherMassPointsAreNone) {
  const ContactProblem problem = problem_of(2, {{0, 0, turned(0)}, {1, 1, turned(0)}}, {1e-3, 1e-3});
  EXPECT_TRUE(redundant_contacts(problem, 0.1).empty());
}

TEST(RedundantContacts, MassPointsCountByTheirInverseMass) {
  // on nodes 0 and 1: h = (a, b) and (a, 0): c² = a² / (a² + b²/2) = 0.8 for a = b·√2
  const double a = std::sqrt(2.0);
  const ContactProblem problem =
      problem_of(2, {{0, 0, turned(0)}, {1, 0, a * turned(0)}, {1, 1, turned(0)}}, {1e-3, 2e-3});
  EXPECT_EQ(redundant_contacts(problem, std::sqrt(0.79)), (std::vector<Index>{1}));
  EXPECT_TRUE(redundant_contacts(problem, std::sqrt(0.81)).empty());
}

TEST(RedundantContacts, TheOthersKeepTheirRowsAndEveryDofOfTheirBodies) {
  ContactProblem problem =
      problem_of(3, {{0, 0, turned(0)}, {1, 0, turned(5)}, {2, 2, turned(45)}}, {1e-3, 2e-3, 3e-3});
  problem.mu << 0.1, 0.2, 0.3;
  const std::vector<Index> left_out = redundant_contacts(problem, 0.9);
  ASSERT_EQ(left_out, (std::vector<Index>{1}));
  const ContactProblem thin = without_contacts(problem, left_out);
  EXPECT_FALSE(find_defect(thin));
  ASSERT_EQ(thin.contacts(), 2);
  EXPECT_EQ(thin.dofs(), 6);  // nobody touches node 1
  EXPECT_EQ(thin.mu, Eigen::Vector2d(0.1, 0.3));
  EXPECT_EQ(thin.w.tail(3), problem.w.tail(3));
  EXPECT_EQ(thin.gap, Eigen::Vector2d(1e-3, 3e-3));
  EXPECT_EQ(Matrix(thin.H).col(3).tail(3), turned(45));
  EXPECT_EQ(without_contacts(problem, {}).contacts(), 3);
}

TEST(RedundantContacts, ARandomChoiceIsTheSameEveryTime) {
  const ContactProblem problem = make_planted_problem({.contacts = 40}).problem;
  const std::vector<Index> some = contacts_at_random(problem, 15);
  EXPECT_EQ(some, contacts_at_random(problem, 15));
  EXPECT_EQ(count(some), 15);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_EQ(std::adjacent_find(some.begin(), some.end()), some.end());
  EXPECT_GT(some.back() - some.front(), 15);  // not the first ones
  EXPECT_EQ(count(contacts_at_random(problem, 40)), 40);
}

TEST(RedundantContacts, WithoutMassesThereIsNothingToMeasure) {
  ContactProblem problem;
  problem.mu = Vector::Constant(1, 0.5);
  problem.q = Vector::Zero(3);
  EXPECT_THROW(redundant_contacts(problem, 0.9), UsageError);
}

}  // namespace signorini::redundant_contacts_test
