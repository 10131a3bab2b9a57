#include "contact/friction_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "contact/problem_zoo.h"

namespace signorini::friction_state_test {
namespace {

constexpr FrictionLaw kLaws[] = {FrictionLaw::cone, FrictionLaw::pyramid};

TEST(ContactEnd, IsOpenWithoutANormalImpulse) {
  for (const FrictionLaw law : kLaws) {
    for (const double normal : {0.0, -0.0, -1e-12, -1.0}) {
      const ContactEnd end = contact_end(Vector3(normal, 0.1, 0.0), 0.5, law);
      EXPECT_EQ(end.state, FrictionState::open) << normal;
      EXPECT_EQ(end.bound, 0.0);
    }
    EXPECT_EQ(contact_end(Vector3(std::numeric_limits<double>::min(), 0, 0), 0.5, law).state,
              FrictionState::sticking);
  }
}

TEST(ContactEnd, SlidesWithinAMillionthOfTheBound) {
  for (const FrictionLaw law : kLaws) {
    for (const double sign : {1.0, -1.0}) {
      const auto at = [&](double share) { return contact_end(Vector3(2.0, 0.0, sign * share), 0.5, law); };
      EXPECT_EQ(at(1.0).state, FrictionState::sliding);
      EXPECT_EQ(at(1.0).bound, 1.0);
      EXPECT_EQ(at(1.1).state, FrictionState::sliding) << "outside of the law";
      EXPECT_EQ(at(1.0 - 0.9e-6).state, FrictionState::sliding);
      EXPECT_EQ(at(1.0 - 1.1e-6).state, FrictionState::sticking);
      EXPECT_EQ(at(0.0).state, FrictionState::sticking);
      EXPECT_EQ(at(0.5).bound, 1.0);
    }
  }
}

TEST(ContactEnd, ConeAndPyramidMeasureTheTangentialImpulseDifferently) {
  const Vector3 corner(2.0, 0.8, -0.8);  // ‖r_T‖ = 1.13, components below 1
  EXPECT_EQ(contact_end(corner, 0.5, FrictionLaw::cone).state, FrictionState::sliding);
  EXPECT_EQ(contact_end(corner, 0.5, FrictionLaw::pyramid).state, FrictionState::sticking);
  EXPECT_EQ(contact_end(Vector3(2.0, 0.1, -1.0), 0.5, FrictionLaw::pyramid).state, FrictionState::sliding);
}

TEST(ContactEnd, SlidesWithoutFriction) {
  for (const FrictionLaw law : kLaws) {
    const ContactEnd end = contact_end(Vector3(2.0, 0.0, 0.0), 0.0, law);
    EXPECT_EQ(end.state, FrictionState::sliding);
    EXPECT_EQ(end.bound, 0.0);
  }
}

/// (cone, pyramid) per contact of problems that are solved by hand.
TEST(ContactEnd, OfHandAnswersIsWhatTheHandSays) {
  using States = std::vector<FrictionState>;
  constexpr FrictionState open = FrictionState::open, sticks = FrictionState::sticking,
                          slides = FrictionState::sliding;
  const auto expect = [](const zoo::Specimen& specimen, const States& cone, const States& pyramid) {
    for (const FrictionLaw law : kLaws) {
      const Vector& r = law == FrictionLaw::cone ? specimen.cone : specimen.pyramid;
      const auto ends = contact_ends(span_of(r), specimen.problem.mu, {law, PyramidFrame::fixed}, {});
      States found;
      for (const ContactEnd& end : ends) found.push_back(end.state);
      EXPECT_EQ(found, law == FrictionLaw::cone ? cone : pyramid) << specimen.name;
    }
  };
  expect(zoo::h2(), {sticks, sticks}, {sticks, sticks});
  expect(zoo::h3(), {slides}, {slides});
  expect(zoo::incline_sticking(), {sticks}, {sticks});
  expect(zoo::incline_sliding(), {slides}, {slides});
  expect(zoo::incline_diagonal(), {slides}, {sticks});
  expect(zoo::h6(), {open, slides}, {open, slides});
}

/// The square of the aligned pyramid stands along q_T: r on its side is inside of the square that is not turned.
TEST(ContactEnd, TheAlignedPyramidIsMeasuredInItsOwnTangents) {
  const Vector mu = Vector::Constant(2, 0.5);
  const double half = std::sqrt(0.5);
  const std::vector<double> q{-1.0, half, half, -1.0, 1.0, 0.0};
  const std::vector<double> r{2.0, -half, -half, 2.0, 0.0, 0.3};
  const auto aligned = contact_ends(r, mu, {FrictionLaw::pyramid, PyramidFrame::aligned}, q);
  const auto fixed = contact_ends(r, mu, {FrictionLaw::pyramid, PyramidFrame::fixed}, q);
  ASSERT_EQ(aligned.size(), 2U);
  EXPECT_EQ(aligned[0].state, FrictionState::sliding);
  EXPECT_EQ(fixed[0].state, FrictionState::sticking);
  EXPECT_EQ(aligned[0].bound, 1.0);
  EXPECT_EQ(aligned[1].state, FrictionState::sticking);
  EXPECT_TRUE(contact_ends({}, Vector(), {}, {}).empty());
}

/// Turned by 45° the square has its corners on the axes: of two impulses of one length the one along an axis sticks.
TEST(ContactEnd, TheRotatedPyramidHasItsCornersOnTheTangents) {
  const double part = 1.2 * std::sqrt(0.5);
  const std::vector<double> q(6, 0.0);
  const std::vector<double> r{2.0, 1.2, 0.0, 2.0, part, part};
  const Vector mu = Vector::Constant(2, 0.5);
  const auto rotated = contact_ends(r, mu, {FrictionLaw::pyramid, PyramidFrame::rotated}, q);
  const auto fixed = contact_ends(r, mu, {FrictionLaw::pyramid, PyramidFrame::fixed}, q);
  EXPECT_EQ(rotated[0].state, FrictionState::sticking);
  EXPECT_EQ(rotated[1].state, FrictionState::sliding);
  EXPECT_EQ(fixed[0].state, FrictionState::sliding);
  EXPECT_EQ(fixed[1].state, FrictionState::sticking);
}

}  // namespace
}  // namespace signorini::friction_state_test
