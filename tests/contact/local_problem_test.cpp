#include "contact/local_problem.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <limits>

#include "base/check.h"
#include "contact/delassus_operator.h"
#include "contact/matrix_note.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"

namespace signorini::local_problem_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

TEST(LocalProblem, WAndQAreThoseOfTheDenseFormula) {
  for (const double stiffness : {0.0, 2.0}) {
    const ContactProblem problem =
        make_planted_problem({.contacts = 12, .regions = 3, .stiffness = stiffness, .sharing = 0.4}).problem;
    const ContactProblem local = to_local(problem);
    const Eigen::LLT<Matrix> M{Matrix(problem.M)};
    const Matrix H(problem.H), W = H.transpose() * M.solve(H);
    const Vector q = H.transpose() * M.solve(problem.f) + problem.w;
    // a solve with M loses about cond(M) ε, and M has a condition below 1e3 here
    const double rounding = 1e4 * kEpsilon;
    EXPECT_LE((Matrix(local.W) - W).cwiseAbs().maxCoeff(), rounding * W.cwiseAbs().maxCoeff());
    EXPECT_LE((local.q - q).cwiseAbs().maxCoeff(), rounding * (1.0 + q.cwiseAbs().maxCoeff()));
  }
}

TEST(LocalProblem, BodiesAreGoneAndContactsStay) {
  PlantedProblem planted = make_planted_problem({.contacts = 6});
  ContactProblem& problem = planted.problem;
  problem.warm_start = planted.r;
  problem.v_minus = Vector::Ones(problem.dofs());
  problem.gap = Vector::LinSpaced(6, 0.0, 1.0);
  problem.dt = 0.5;
  problem.M_stored = StoredTriangle::upper;
  const ContactProblem local = to_local(problem);
  EXPECT_EQ(find_defect(local), std::nullopt);
  EXPECT_FALSE(local.has_primal());
  EXPECT_EQ(local.M.size() + local.H.size() + local.f.size() + local.w.size() + local.v_minus.size(), 0);
  EXPECT_EQ(local.points.size() + local.weights.size(), 0);
  EXPECT_EQ(matrix_note(local), "");
  EXPECT_EQ(local.mu, problem.mu);
  EXPECT_EQ(local.warm_start, planted.r);
  EXPECT_EQ(local.gap, problem.gap);
  EXPECT_EQ(local.dt, 0.5);
}

TEST(LocalProblem, EveryProblemOfTheZooHasOneWithAsManyBlocksAsCounted) {
  for (const zoo::Specimen& specimen : zoo::problem_zoo()) {
    SCOPED_TRACE(specimen.name);
    const std::uint64_t blocks = blocks_to_form(specimen.problem);
    const ContactProblem local = to_local(specimen.problem);
    EXPECT_EQ(find_defect(local), std::nullopt);
    if (specimen.problem.has_dual()) {
      EXPECT_EQ(blocks, 0U);
      EXPECT_EQ(Matrix(local.W), Matrix(specimen.problem.W));
    } else {
      EXPECT_EQ(blocks, static_cast<std::uint64_t>(assemble_delassus(specimen.problem).blocks()));
    }
  }
}

TEST(LocalProblem, ContactsOfTheSameAndOfSharedBodiesAreCountedOnce) {
  // bodies 0, 1, 2; contacts 0 and 1 between 0 and 1, contact 2 between 1 and 2, contact 3 between fixed ones
  Matrix H = Matrix::Zero(9, 12);
  for (const auto& [body, contact] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 2}})
    H.block<3, 3>(3 * body, 3 * contact).setIdentity();
  const ContactProblem problem =
      zoo::make_primal(Matrix::Identity(9, 9), H, Vector::Zero(9), Vector::Zero(12), Vector::Ones(4));
  EXPECT_EQ(blocks_to_form(problem), 3U * 3U + 1U);
  EXPECT_EQ(to_local(problem).W.nonZeros(), 9 * 10);
}

TEST(LocalProblem, WithoutContactsNothingIsLeft) {
  const ContactProblem none = zoo::make_primal(Matrix::Identity(3, 3), Matrix::Zero(3, 0), Vector::Ones(3),
                                               Vector::Zero(0), Vector::Zero(0));
  const ContactProblem local = to_local(none);
  EXPECT_EQ(find_defect(local), std::nullopt);
  EXPECT_EQ(local.contacts() + local.dofs() + local.W.rows(), 0);
  EXPECT_EQ(blocks_to_form(none), 0U);
}

TEST(LocalProblem, ASingularMIsRefusedWhereAContactTouchesIt) {
  Matrix M = Matrix::Identity(6, 6);
  M.bottomRightCorner<3, 3>() << 1, 1, 0, 1, 1, 0, 0, 0, 1;
  Matrix H = Matrix::Zero(6, 3);
  H.topRows<3>().setIdentity();
  const auto problem = [&] {
    return zoo::make_primal(M, H, Vector::Ones(6), Vector::Zero(3), Vector::Ones(1));
  };
  EXPECT_EQ(to_local(problem()).W.nonZeros(), 9) << "no contact touches the singular body";
  H.bottomRows<3>().setIdentity();
  try {
    to_local(problem());
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("body of dof 3"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace signorini::local_problem_test
