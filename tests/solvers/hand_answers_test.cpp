// Answers that can be worked out by hand, the printed rules that miss them, and identities every solver must
// satisfy.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "contact/align_tangents.h"
#include "contact/delassus_operator.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

namespace signorini::hand_answers_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;

struct Answer {
  SolveReport report;
  Vector r;
  Residuals errors;
};

class Iterates : public IterationObserver {
 public:
  void on_iteration(int, std::span<const double> r, std::string_view phase) override {
    all.emplace_back(r.begin(), r.end());
    phases.emplace_back(phase);
  }
  std::vector<std::vector<double>> all;
  std::vector<std::string> phases;
};

StopRule to(double residual, int iterations = 10000) {
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  return stop;
}

Answer answer(std::string_view name, const OptionMap& options, const ContactProblem& problem,
              const StopRule& stop, IterationObserver* observer = nullptr) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  Answer result;
  result.r = Vector::Zero(3 * problem.contacts());
  const std::span<double> r = span_of(result.r);
  result.report = solver->solve(r, stop, observer);
  result.errors = Referee(problem).measure(r, solver->common().spec());
  return result;
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_registry()) names.emplace_back(entry.name);
  return names;
}

TEST(ProjectedGaussSeidel, ContractsTheErrorOfTwoStackedPointsByExactlyTwoThirds) {
  const zoo::Specimen stack = zoo::specimen("h2_stack");
  Iterates seen;
  answer("pgs", {}, stack.problem, to(1e-9), &seen);
  ASSERT_GT(seen.all.size(), 20U);
  // m₂/(m₁ + m₂) = 2/3; the difference of numbers near 3 keeps 3ε/error relative digits.
  for (std::size_t k = 1; k + 1 < 20; ++k) {
    const double before = std::abs(seen.all[k][0] - 3.0);
    const double after = std::abs(seen.all[k + 1][0] - 3.0);
    EXPECT_NEAR(after / before, 2.0 / 3.0, 8.0 * kEps / before) << "sweep " << k;
  }
}

TEST(ProjectedGaussSeidel, TheProjectionAfterTheSweepEndsAtAPointThatIsNoSolution) {
  const zoo::Specimen lcp = zoo::specimen("h6_lcp");
  StopRule fixed = to(1e-8, 100);
  fixed.fixed_iterations = true;
  const Answer end = answer("pgs", {{"form", "printed"}}, lcp.problem, fixed);
  EXPECT_EQ(end.r[0], 0.0);
  EXPECT_NEAR(end.r[3], 1.0, 4.0 * kEps);  // 1 − 4⁻ᵏ after k sweeps
  EXPECT_GT(end.errors.residual, 0.1);
  const Answer printed = answer("pgs", {{"form", "printed"}}, lcp.problem, to(1e-8));
  EXPECT_EQ(enum_name(printed.report.status), "stalled");
  EXPECT_NEAR(printed.r[3], 0.75, 4.0 * kEps);  // the first sweep was the best of all
  const Answer corrected = answer("pgs", {}, lcp.problem, to(1e-8));
  EXPECT_EQ(corrected.r[0], 0.0);
  EXPECT_NEAR(corrected.r[3], 0.5, 1e-8);
}

TEST(ProjectedGaussSeidel, TheComponentwiseStepSlidesThirtyFiveDegreesAside) {
  const zoo::Specimen point = zoo::specimen("h5_anisotropic");
  const Answer literal = answer("pgs", {{"tangent", "componentwise"}}, point.problem, to(1e-8));
  const Answer scalar = answer("pgs", {}, point.problem, to(1e-14));
  EXPECT_EQ(enum_name(literal.report.status), "stalled");
  EXPECT_NEAR(literal.r[1], -0.5 * 3.0 / std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(literal.r[2], -0.5 * 1.0 / std::sqrt(10.0), 1e-12);
  // The literal friction is not opposed to the sliding velocity: 34.7 degrees, three printed digits.
  EXPECT_NEAR(literal.errors.dissipation_angle, 34.7, 0.05);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(scalar.r[i], point.cone[i], 1e-12);
  EXPECT_LE(scalar.errors.dissipation_angle, 1e-5);  // an angle of ε shows as √ε radians through acos
}

TEST(ProjectedCg, TheResidualRecurrenceEndsAtAPointThatIsNoSolution) {
  const zoo::Specimen lcp = zoo::specimen("h6_lcp");
  const Answer printed = answer("pcg", {{"form", "printed"}, {"stop", "paper"}}, lcp.problem, to(1e-8));
  EXPECT_EQ(printed.report.iterations, 1);
  EXPECT_EQ(printed.r[0], 0.0);
  EXPECT_EQ(printed.r[3], 1.0);
  EXPECT_EQ(enum_name(printed.report.status), "stalled");
  EXPECT_GT(printed.errors.residual, 0.1);
  for (const char* form : {"robust", "true"}) {
    const Answer corrected = answer("pcg", {{"form", form}}, lcp.problem, to(1e-12));
    EXPECT_NEAR(corrected.r[0], 0.0, 1e-11) << form;
    EXPECT_NEAR(corrected.r[3], 0.5, 1e-11) << form;
  }
}

TEST(ProjectedCg, SolvesAFrictionlessContactInOneStep) {
  for (const char* beta : {"fr", "pr"}) {
    const Answer found = answer("pcg", {{"beta", beta}}, zoo::specimen("h1").problem, to(1e-14));
    EXPECT_EQ(found.report.iterations, 1) << beta;
    EXPECT_EQ(found.r[0], 4.0) << beta;
  }
}

TEST(ProjectedCg, LeavesTheCycleOfAContactThatIsSoftInOneTangent) {
  // W_T2T2 = W_T1T1/74 and q_T2 as large as q_N: exact steps run r = 0, pressed, stuck, r = 0 for ever, three
  // iterations a round. It sticks nowhere: the answer slides.
  ContactProblem problem;
  Matrix3 W;
  W << 0.0134, 0.0, 0.0015, 0.0, 0.106, 0.0, 0.0015, 0.0, 0.00144;
  problem.W = W.sparseView();
  problem.q = Vector3(-0.146, -0.248, -0.152);
  problem.mu = Vector::Constant(1, 0.6);
  const Answer found = answer("pcg", {}, problem, to(1e-8, 1000));
  EXPECT_EQ(found.report.status, SolveStatus::converged);
  EXPECT_LE(found.errors.residual, 1e-8);
  // on its bound up to the tolerance: 10 times 1e-8, relative
  EXPECT_NEAR(found.r.tail<2>().norm(), 0.6 * found.r[0], 1e-7 * found.r[0]);
}

TEST(CombinedMethod, ReportsBothPhases) {
  const PlantedProblem planted = make_planted_problem({});
  Iterates seen;
  const Answer found = answer("pcg-pgs", {}, planted.problem, to(1e-10), &seen);
  EXPECT_EQ(enum_name(found.report.status), "converged");
  EXPECT_GT(found.report.phase_iterations[0], 0);
  EXPECT_LT(found.report.phase_iterations[0], found.report.iterations);
  for (std::size_t k = 1; k < seen.phases.size(); ++k) {
    EXPECT_EQ(seen.phases[k], static_cast<int>(k) <= found.report.phase_iterations[0] ? "cg" : "gs") << k;
  }
}

TEST(CombinedMethod, WithoutHandingOnItIsTheConjugateGradientMethod) {
  const PlantedProblem planted = make_planted_problem({});
  const Answer combined = answer("pcg-pgs", {{"tol_cg", "0"}}, planted.problem, to(1e-6));
  const Answer alone = answer("pcg", {}, planted.problem, to(1e-6));
  EXPECT_EQ(combined.r, alone.r);
  EXPECT_EQ(combined.report.phase_iterations[0], combined.report.iterations);
}

/// Handing over at once it is Gauss–Seidel, with either tangential step; where W_TT is a multiple of the identity
/// (explicit integration) the two steps are one and the same.
TEST(CombinedMethod, TakesTheTangentialStepOfGaussSeidel) {
  const auto swept = [](std::string_view name, std::string_view tangent, const ContactProblem& problem) {
    OptionMap options{{"tangent", std::string(tangent)}};
    if (name == "pcg-pgs") options["tol_cg"] = "1e6";
    return answer(name, options, problem, to(0.0, 60)).r;
  };
  for (const zoo::Specimen& specimen : {zoo::specimen("h5_anisotropic"), zoo::specimen("h3_sliding")}) {
    for (const char* tangent : {"scalar", "componentwise"})
      EXPECT_EQ(swept("pcg-pgs", tangent, specimen.problem), swept("pgs", tangent, specimen.problem))
          << specimen.name << " " << tangent;
    const double apart =
        (swept("pcg-pgs", "scalar", specimen.problem) - swept("pcg-pgs", "componentwise", specimen.problem))
            .norm();
    if (specimen.name == "h3_sliding")
      EXPECT_LE(apart, 16 * kEps * 10.0);
    else
      EXPECT_GT(apart, 0.1);
  }
}

/// A block on an incline gains dt g (sin θ − μ cos θ) per step when tan θ > μ, else nothing.
TEST(Statics, ABlockSlidesExactlyBeyondItsFrictionAngle) {
  for (const std::string& name : solver_names()) {
    for (const double slope : {0.1, 0.49, 0.499, 0.501, 0.51, 2.0}) {
      const zoo::Specimen block = zoo::incline("block", slope, 0.5, 0.3, Vector::Zero(3), Vector::Zero(3));
      const Answer found = answer(name, {}, block.problem, to(1e-10));
      const Vector v = Referee(block.problem).velocity({found.r.data(), 3});
      const double theta = std::atan(slope);
      const double gain = 1e-3 * 9.81 * std::max(0.0, std::sin(theta) - 0.5 * std::cos(theta));
      // 1e-10 of U = dt g is the stop tolerance of a single contact, in velocity
      EXPECT_NEAR(v.norm(), gain, 2e-10 * 9.81e-3) << name << " at slope " << slope;
    }
  }
}

TEST(Statics, AThreeLeggedStoolCarriesItsWeightOnEachLegAsTheLeverSays) {
  // Legs at 120° with radius 0.4, a load G at (x, y): r_k = G/3 + 2 G (x, y)·e_k/(3·0.4) by the balance of
  // moments.
  const double radius = 0.4;
  const double G = 5.0 * 9.81e-3;
  const Vector2 load(0.05, -0.08);
  Matrix H = Matrix::Zero(6, 9);
  Vector expected = Vector::Zero(9);
  for (int leg = 0; leg < 3; ++leg) {
    const double angle = 2.0 * std::numbers::pi * leg / 3.0;
    const Vector2 e(std::cos(angle), std::sin(angle));
    const Vector3 arm(radius * e[0] - load[0], radius * e[1] - load[1], -0.3);
    for (int axis = 0; axis < 3; ++axis) {
      const Vector3 direction = zoo::floor_frame().row(axis);
      H.block<3, 1>(0, 3 * leg + axis) = direction;
      H.block<3, 1>(3, 3 * leg + axis) = zoo::cross(arm, direction);
    }
    expected[3 * leg] = G / 3.0 + 2.0 * G * load.dot(e) / (3.0 * radius);
  }
  const Matrix M = zoo::vector_of({5, 5, 5, 0.2, 0.3, 0.4}).asDiagonal();
  // with μ = 0 the tangential impulses vanish and the three normal ones are determined
  const ContactProblem stool =
      zoo::make_primal(M, H, zoo::vector_of({0, 0, -G, 0, 0, 0}), Vector::Zero(9), Vector::Zero(3));
  for (const std::string& name : solver_names()) {
    const Answer found = answer(name, {}, stool, to(1e-12));
    EXPECT_EQ(enum_name(found.report.status), "converged") << name;
    // cond(W_NN) is about 10
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(found.r[i], expected[i], 1e-10 * G) << name << " row " << i;
  }
}

/// The frictionless answer is the projection of the free velocity on the admissible ones in the metric of M:
/// found here by trying all sets of active contacts.
TEST(Reference, WithoutFrictionItIsTheLeastDistanceSolution) {
  PlantedOptions options;
  options.contacts = 8;
  options.mu = 0.0;
  options.stiffness = 1.0;
  options.seed = 5;
  const ContactProblem problem = make_planted_problem(options).problem;
  const Referee referee(problem);
  const Eigen::Index m = problem.contacts();
  Matrix W(m, m);
  Vector q(m);
  for (Eigen::Index k = 0; k < m; ++k) {
    std::vector<double> unit(3 * m, 0.0);
    unit[3 * k] = 1.0;
    const Vector column = referee.relative_velocity(unit) - referee.q();
    for (Eigen::Index i = 0; i < m; ++i) W(i, k) = column[3 * i];
    q[k] = referee.q()[3 * k];
  }
  Vector least = Vector::Zero(m);
  int found = 0;
  for (unsigned active = 0; active < 1U << m; ++active) {
    Matrix A = Matrix::Identity(m, m);
    Vector b = Vector::Zero(m);
    for (Eigen::Index k = 0; k < m; ++k) {
      if ((active >> k & 1U) == 0) continue;
      A.row(k) = W.row(k);
      b[k] = -q[k];
    }
    for (Eigen::Index k = 0; k < m; ++k) {
      if ((active >> k & 1U) == 0) A.row(k) = Matrix::Identity(m, m).row(k);
    }
    const Vector r = A.fullPivLu().solve(b);
    const Vector u = W * r + q;
    const double slack = 1e-10 * q.cwiseAbs().maxCoeff();
    if (r.minCoeff() < -slack || u.minCoeff() < -slack) continue;
    least = r;
    ++found;
  }
  ASSERT_EQ(found, 1);
  const Answer reference = answer("reference", {}, problem, to(1e-13));
  for (Eigen::Index k = 0; k < m; ++k) {
    EXPECT_NEAR(reference.r[3 * k], least[k], 1e-10 * least.maxCoeff());
    EXPECT_EQ(reference.r[3 * k + 1], 0.0);
    EXPECT_EQ(reference.r[3 * k + 2], 0.0);
  }
}

class Identities : public testing::TestWithParam<std::string> {
 protected:
  static ContactProblem implicit_problem() {
    PlantedOptions options;
    options.contacts = 12;
    options.stiffness = 1.0;
    options.seed = 9;
    return make_planted_problem(options).problem;
  }
  static SolverTraits traits() { return make_solver(GetParam())->traits(); }
  Vector velocity(const ContactProblem& problem, const OptionMap& options = {}) const {
    const Answer found = answer(GetParam(), options, problem, to(1e-11));
    EXPECT_EQ(enum_name(found.report.status), "converged");
    return Referee(problem).velocity(span_of(found.r));
  }
};

TEST_P(Identities, RowsScaledByAFactorGiveTheSameVelocity) {
  const ContactProblem problem = implicit_problem();
  ContactProblem scaled = problem;
  scaled.H *= 8.0;  // a power of two: every number is scaled exactly
  scaled.w *= 8.0;
  const Answer a = answer(GetParam(), {}, problem, to(1e-11));
  const Answer b = answer(GetParam(), {}, scaled, to(1e-11));
  const double scale = a.r.cwiseAbs().maxCoeff();
  if (traits().needs != SolverNeeds::delassus) {
    // On velocities the cheap error adds the defect of M v = H r + f at the nodes, which no scale of H reaches, so the two
    // runs stop at other iterates: r agrees to the tolerance 1e-11 times cond(W) < 1e3.
    EXPECT_LE((8.0 * b.r - a.r).cwiseAbs().maxCoeff(), 1e-8 * scale);
    return;
  }
  EXPECT_EQ(a.report.iterations, b.report.iterations);
  EXPECT_LE((8.0 * b.r - a.r).cwiseAbs().maxCoeff(), 1e-12 * scale);
}

TEST_P(Identities, TurningTheTangentsLeavesTheVelocityOfTheCone) {
  if (!traits().cone) return;
  const ContactProblem problem = implicit_problem();
  std::vector<double> angles(problem.contacts());
  for (std::size_t k = 0; k < angles.size(); ++k) angles[k] = 0.4 + 0.37 * static_cast<double>(k);
  const Vector v = velocity(problem);
  const Vector turned = velocity(turn_tangents(problem, angles));
  // 1e-11 of U on both sides, moved by cond(M) of about 100
  EXPECT_LE((v - turned).norm(), 1e-8 * v.norm());
}

TEST_P(Identities, PermutingTheContactsLeavesTheVelocity) {
  const ContactProblem problem = implicit_problem();
  const Index m = problem.contacts();
  ContactProblem permuted = problem;
  Matrix H = problem.H;
  Matrix moved = H;
  for (Index k = 0; k < m; ++k) {
    const Index from = (5 * k + 3) % m;
    moved.middleCols(3 * k, 3) = H.middleCols(3 * from, 3);
    permuted.w.segment<3>(3 * k) = problem.w.segment<3>(3 * from);
    permuted.mu[k] = problem.mu[from];
    if (problem.points.size() > 0) permuted.points.row(k) = problem.points.row(from);
    if (problem.weights.size() > 0) permuted.weights.row(k) = problem.weights.row(from);
    if (problem.bodies.size() > 0) permuted.bodies.row(k) = problem.bodies.row(from);
  }
  permuted.H = moved.sparseView();
  permuted.frame.resize(0, 0);
  permuted.position.resize(0, 0);
  permuted.gap.resize(0);
  permuted.warm_start.resize(0);
  const Vector v = velocity(problem);
  EXPECT_LE((v - velocity(permuted)).norm(), 1e-8 * v.norm());  // as above
}

TEST_P(Identities, ATurnedPyramidIsThePyramidOfTheTurnedProblem) {
  if (!traits().pyramid) return;
  const ContactProblem problem = implicit_problem();
  const Vector q = assemble_q(problem);
  for (const PyramidFrame frame : {PyramidFrame::aligned, PyramidFrame::rotated}) {
    const std::vector<double> angles = turned_angles({FrictionLaw::pyramid, frame}, span_of(q));
    const Vector own = velocity(problem, {{"law", "pyramid"}, {"frame", std::string(enum_name(frame))}});
    const Vector turned = velocity(turn_tangents(problem, angles), {{"law", "pyramid"}});
    EXPECT_LE((own - turned).norm(), 1e-8 * turned.norm()) << enum_name(frame);  // as above
    EXPECT_GT((own - velocity(problem, {{"law", "pyramid"}})).norm(), 1e-4 * turned.norm())
        << enum_name(frame);
  }
}

std::string solver_name(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Solvers, Identities, testing::ValuesIn(solver_names()), solver_name);

TEST(AlignedPyramid, OneSlidingContactAgreesWithTheCone) {
  const zoo::Specimen sliding = zoo::specimen("h3_sliding");
  for (const std::string& name : solver_names()) {
    if (!make_solver(name)->traits().pyramid) continue;
    const Answer aligned =
        answer(name, {{"law", "pyramid"}, {"frame", "aligned"}}, sliding.problem, to(1e-12));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(aligned.r[i], sliding.cone[i], 1e-9) << name;
  }
}

}  // namespace
}  // namespace signorini::hand_answers_test
