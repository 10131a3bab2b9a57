#include "contact/problem_zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "contact/residuals.h"

namespace signorini::problem_zoo_test {
namespace {

class ProblemZoo : public testing::TestWithParam<zoo::Specimen> {};

TEST_P(ProblemZoo, IsFreeOfDefects) { EXPECT_EQ(find_defect(GetParam().problem), std::nullopt); }

/// Every answer is right to rounding, and a changed answer is seen: the referee agrees with the derivations
/// by hand.
TEST_P(ProblemZoo, AnswersPassTheReferee) {
  const zoo::Specimen& specimen = GetParam();
  const Referee referee(specimen.problem);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    if (!specimen.has_solution(law)) continue;
    const Vector& r = specimen.solution(law);
    ASSERT_EQ(r.size(), 3 * specimen.problem.contacts());
    // Rounding of u = W r + q: some tens of operations on numbers up to ‖W_kk‖ ‖r_k‖ (1e6 for the heavy
    // stack).
    double largest = referee.velocity_scale();
    for (Eigen::Index k = 0; k < specimen.problem.mu.size(); ++k) {
      largest = std::max(largest,
                         referee.diagonal_blocks().middleRows<3>(3 * k).norm() * r.segment<3>(3 * k).norm());
    }
    const double tolerance =
        50.0 * std::numeric_limits<double>::epsilon() * largest / referee.velocity_scale();
    EXPECT_LE(referee.measure(span_of(r), {law, PyramidFrame::fixed}).residual, tolerance)
        << (law == FrictionLaw::cone ? "cone" : "pyramid");
    if (specimen.unique && r.size() > 0) {
      Vector wrong = r;
      wrong *= 1.01;
      EXPECT_GT(referee.measure(span_of(std::as_const(wrong)), {law, PyramidFrame::fixed}).residual, 1e-5);
    }
  }
}

TEST(ProblemZooNames, AreUnique) {
  std::set<std::string> names;
  for (const zoo::Specimen& specimen : zoo::problem_zoo())
    EXPECT_TRUE(names.insert(specimen.name).second) << specimen.name;
}

INSTANTIATE_TEST_SUITE_P(All, ProblemZoo, testing::ValuesIn(zoo::problem_zoo()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace signorini::problem_zoo_test
