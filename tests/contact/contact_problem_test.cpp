#include "contact/contact_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <string>

#include "base/check.h"
#include "contact/delassus_operator.h"
#include "contact/matrix_note.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"

namespace signorini::contact_problem_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A problem with every part filled in: primal, dual and all metadata.
ContactProblem complete_problem() {
  PlantedOptions options;
  options.contacts = 8;
  options.regions = 2;
  options.stiffness = 1.0;
  PlantedProblem planted = make_planted_problem(options);
  ContactProblem problem = planted.problem;
  ReducedProblem reduced = assemble_reduced(problem);
  problem.W = to_scalar(reduced.W);
  problem.q = reduced.q;
  problem.warm_start = planted.r;
  problem.features.resize(8, 2);
  for (Index k = 0; k < 8; ++k) problem.features.row(k) << 3 * k, k;
  for (Index i = 0; i < problem.dofs() / 3; ++i) problem.node_numbers.push_back(i + 4);
  problem.v_minus = Vector::LinSpaced(problem.dofs(), -1.0, 1.0);
  problem.start_bounds = Vector::LinSpaced(8, 0.0, 1.0);
  for (Index k = 0; k < 8; ++k) problem.start_states.push_back(static_cast<FrictionState>(k % 4 - 1));
  return problem;
}

/// One way to damage a problem and what the message must say.
struct Damage {
  const char* name;
  void (*apply)(ContactProblem&);
  const char* message;
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

const Damage kDamages[] = {
    {"negative_friction", [](ContactProblem& p) { p.mu[3] = -0.1; }, "mu[3] = -0.1 is negative"},
    {"friction_beyond_products", [](ContactProblem& p) { p.mu[1] = 1.1e200; },
     "mu[1] = 1.1e+200 is above 1e+200"},
    {"infinite_friction", [](ContactProblem& p) { p.mu[1] = kInfinity; }, "mu[1] is not finite"},
    {"small_M", [](ContactProblem& p) { p.M.conservativeResize(3, 3); }, "M is 3x3 but must be 42x42"},
    {"small_H", [](ContactProblem& p) { p.H.conservativeResize(42, 21); }, "H is 42x21 but must be 42x24"},
    {"short_w", [](ContactProblem& p) { p.w.conservativeResize(23); }, "w has 23 numbers but must have 24"},
    {"nan_f", [](ContactProblem& p) { p.f[41] = kNaN; }, "f[41] is not finite"},
    {"infinite_w", [](ContactProblem& p) { p.w[2] = -kInfinity; }, "w[2] is not finite"},
    {"zero_mass", [](ContactProblem& p) { p.M.coeffRef(12, 12) = 0.0; },
     "M[12,12] = 0: a mass must be positive"},
    {"negative_mass", [](ContactProblem& p) { p.M.coeffRef(5, 5) = -2.0; },
     "M[5,5] = -2: a mass must be positive"},
    {"nan_mass", [](ContactProblem& p) { p.M.coeffRef(4, 4) = kNaN; }, "M[4,4] is not finite"},
    {"uncompressed_M", [](ContactProblem& p) { p.M.uncompress(); }, "M is not in compressed form"},
    {"column_out_of_range", [](ContactProblem& p) { p.M.innerIndexPtr()[p.M.outerIndexPtr()[42] - 1] = 42; },
     "M[41,42] lies outside 42x42"},
    {"negative_row", [](ContactProblem& p) { p.H.innerIndexPtr()[0] = -7; }, "H[-7,0] lies outside 42x24"},
    {"repeated_entry", [](ContactProblem& p) { p.H.innerIndexPtr()[1] = p.H.innerIndexPtr()[0]; },
     "H: column 0 is unsorted or repeats entry"},
    {"broken_offsets", [](ContactProblem& p) { p.H.outerIndexPtr()[2] = 0; },
     "H: column 1 ends before it begins"},
    {"nan_H", [](ContactProblem& p) { p.H.valuePtr()[0] = kNaN; }, "H[0,0] is not finite"},
    {"small_W", [](ContactProblem& p) { p.W.conservativeResize(21, 21); }, "W is 21x21 but must be 24x24"},
    {"short_q", [](ContactProblem& p) { p.q.conservativeResize(1); }, "q has 1 numbers but must have 24"},
    {"W_without_q", [](ContactProblem& p) { p.q.resize(0); }, "W is 24x24 but q is empty"},
    {"nan_q", [](ContactProblem& p) { p.q[0] = kNaN; }, "q[0] is not finite"},
    {"nan_W", [](ContactProblem& p) { p.W.valuePtr()[0] = kNaN; }, "W[0,0] is not finite"},
    {"negative_W", [](ContactProblem& p) { p.W.coeffRef(9, 9) = -1.5; }, "W[9,9] = -1.5 (contact 3)"},
    {"negative_dt", [](ContactProblem& p) { p.dt = -1e-3; }, "dt = -0.001"},
    {"nan_dt", [](ContactProblem& p) { p.dt = kNaN; }, "dt = nan"},
    {"infinite_time", [](ContactProblem& p) { p.time = kInfinity; }, "time is not finite"},
    {"short_gap", [](ContactProblem& p) { p.gap.conservativeResize(7); },
     "gap has 7 numbers but must have 8"},
    {"nan_gap", [](ContactProblem& p) { p.gap[2] = kNaN; }, "gap[2] is not finite"},
    {"narrow_frame", [](ContactProblem& p) { p.frame.conservativeResize(8, 6); },
     "frame is 8x6 but must be 8x9"},
    {"long_normal", [](ContactProblem& p) { p.frame.block<1, 3>(4, 0) *= 1.001; },
     "frame[4] is not orthonormal: n.n"},
    {"skew_tangent", [](ContactProblem& p) { p.frame.block<1, 3>(5, 6) = p.frame.block<1, 3>(5, 3); },
     "frame[5] is not orthonormal: t1.t2 = "},
    {"nan_frame", [](ContactProblem& p) { p.frame(6, 8) = kNaN; }, "frame[6,8] is not finite"},
    {"nan_position", [](ContactProblem& p) { p.position(0, 1) = kNaN; }, "position[0,1] is not finite"},
    {"point_out_of_range", [](ContactProblem& p) { p.points(1, 2) = 14; },
     "points[1,2] = 14 but must be -1 to 13"},
    {"negative_point", [](ContactProblem& p) { p.points(0, 0) = -2; }, "points[0,0] = -2"},
    {"few_points", [](ContactProblem& p) { p.points.conservativeResize(7, 4); },
     "points is 7x4 but must be 8x4"},
    {"infinite_weight", [](ContactProblem& p) { p.weights(7, 3) = kInfinity; }, "weights[7,3] is not finite"},
    {"body_out_of_range", [](ContactProblem& p) { p.bodies(2, 1) = 2; },
     "bodies[2,1] = 2 but must be -1 to 1"},
    {"descending_bodies", [](ContactProblem& p) { p.body_dofs[1] = 50; }, "body_dofs[2] = 42: offsets must"},
    {"negative_body_offset", [](ContactProblem& p) { p.body_dofs[0] = -3; }, "body_dofs[0] = -3"},
    {"bodies_beyond_dofs", [](ContactProblem& p) { p.body_dofs[2] = 45; },
     "body_dofs[2] = 45 but there are 42 dofs"},
    {"few_features", [](ContactProblem& p) { p.features.conservativeResize(7, 2); },
     "features is 7x2 but must be 8x2"},
    {"repeated_features", [](ContactProblem& p) { p.features.row(6) = p.features.row(2); },
     "features[6] = (6, 2) names contact 2 too"},
    {"edge_and_face", [](ContactProblem& p) { p.features(1, 0) = -4; }, "features[1] = (-4, 1): an edge"},
    {"few_node_numbers", [](ContactProblem& p) { p.node_numbers.pop_back(); },
     "node_numbers has 13 numbers but must have 14"},
    {"descending_node_numbers", [](ContactProblem& p) { p.node_numbers[3] = 6; }, "node_numbers[3] = 6"},
    {"short_warm_start", [](ContactProblem& p) { p.warm_start.conservativeResize(8); },
     "warm_start has 8 numbers but must have 24"},
    {"nan_warm_start", [](ContactProblem& p) { p.warm_start[23] = kNaN; }, "warm_start[23] is not finite"},
    {"short_v_minus", [](ContactProblem& p) { p.v_minus.conservativeResize(41); },
     "v_minus has 41 numbers but must have 42"},
    {"infinite_v_minus", [](ContactProblem& p) { p.v_minus[7] = kInfinity; }, "v_minus[7] is not finite"},
    {"v_minus_without_dofs",
     [](ContactProblem& p) {
       p.M = SparseRows();
       p.H = SparseColumns();
       p.f = p.w = Vector();
       p.points.resize(0, 4);
     },
     "v_minus has 42 numbers but must have 0"},
    {"few_start_states", [](ContactProblem& p) { p.start_states.pop_back(); },
     "start_states has 7 numbers but must have 8"},
    {"start_state_below", [](ContactProblem& p) { p.start_states[5] = static_cast<FrictionState>(-2); },
     "start_states[5] = -2 but must be -1 to 2"},
    {"start_state_above", [](ContactProblem& p) { p.start_states[0] = static_cast<FrictionState>(3); },
     "start_states[0] = 3 but must be -1 to 2"},
    {"long_start_bounds", [](ContactProblem& p) { p.start_bounds = Vector::Ones(24); },
     "start_bounds has 24 numbers but must have 8"},
    {"nan_start_bound", [](ContactProblem& p) { p.start_bounds[6] = kNaN; }, "start_bounds[6] is not finite"},
    {"negative_start_bound", [](ContactProblem& p) { p.start_bounds[4] = -0.5; },
     "start_bounds[4] = -0.5 is negative"},
    {"no_equation",
     [](ContactProblem& p) {
       const Vector mu = p.mu;
       p = ContactProblem{};
       p.mu = mu;
     },
     "8 contacts but neither M, H, f, w nor W, q"},
};

class DamagedProblem : public testing::TestWithParam<Damage> {};

TEST_P(DamagedProblem, IsNamedInOneLine) {
  ContactProblem problem = complete_problem();
  ASSERT_EQ(find_defect(problem), std::nullopt);
  GetParam().apply(problem);
  const auto defect = find_defect(problem);
  ASSERT_TRUE(defect.has_value());
  EXPECT_NE(defect->find(GetParam().message), std::string::npos) << *defect;
  EXPECT_EQ(defect->find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, DamagedProblem, testing::ValuesIn(kDamages),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(ContactProblem, CheckThrowsInputErrorWithThePlace) {
  ContactProblem problem = complete_problem();
  EXPECT_NO_THROW(check_problem(problem, "file.h5"));
  problem.mu[0] = -1.0;
  try {
    check_problem(problem, "file.h5, step 12");
    FAIL() << "must throw";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "file.h5, step 12: mu[0] = -1 is negative");
  }
}

TEST(ContactProblem, MayBePrimalOrDualOrEmpty) {
  ContactProblem dual = complete_problem();
  ContactProblem primal = dual;
  primal.W = SparseRows();
  primal.q = Vector();
  EXPECT_EQ(find_defect(primal), std::nullopt);
  dual.M = SparseRows();
  dual.H = SparseColumns();
  dual.f = dual.w = dual.v_minus = Vector();
  EXPECT_EQ(find_defect(dual), std::nullopt);
  EXPECT_EQ(find_defect(ContactProblem{}), std::nullopt);
}

/// A region of one contact between fixed bodies has no dofs at all: u = w.
TEST(ContactProblem, MayHaveContactsWithoutAnyDof) {
  ContactProblem problem;
  problem.mu = Vector::Constant(1, 0.5);
  problem.w = Vector::Constant(3, 0.1);
  EXPECT_EQ(find_defect(problem), std::nullopt);
  problem.H.resize(0, 3);
  EXPECT_EQ(find_defect(problem), std::nullopt);
  problem.w.resize(2);
  EXPECT_EQ(*find_defect(problem), "w has 2 numbers but must have 3");
}

TEST(ContactProblem, AcceptsExplicitZerosAndUnsymmetricW) {
  ContactProblem problem = complete_problem();
  problem.M.coeffRef(0, 41) = 0.0;
  problem.M.makeCompressed();
  problem.W.coeffRef(0, 1) += 0.1;
  EXPECT_EQ(find_defect(problem), std::nullopt);
}

/// Element matrices summed in another order differ by some ε of the diagonal; that is no defect.
TEST(ContactProblem, AcceptsRoundingInTheSymmetryOfM) {
  ContactProblem problem = complete_problem();
  problem.M.coeffRef(0, 3) += 100.0 * std::numeric_limits<double>::epsilon() * problem.M.coeff(0, 0);
  EXPECT_EQ(find_defect(problem), std::nullopt);
}

TEST(ContactProblem, NodeSizeIsThreeOnlyWhenDofsAreDivisible) {
  EXPECT_EQ(zoo::h1().problem.node_size(), 3);
  EXPECT_EQ(zoo::four_dofs().problem.node_size(), 1);
}

/// A file means what it says: whether a solver can take it is the solver's answer.
TEST(ContactProblem, AcceptsAnUnsymmetricM) {
  ContactProblem problem = make_planted_problem({.stiffness = 1.0}).problem;
  problem.M.coeffRef(0, 3) += 1e-3;
  EXPECT_EQ(find_defect(problem), std::nullopt);
}

TEST(MatrixNote, TellsWhatWasFilledUpAndWhatIsNotSymmetric) {
  ContactProblem problem = complete_problem();
  EXPECT_EQ(matrix_note(problem), "");
  EXPECT_EQ(symmetry_refusal(problem), "");
  // roundings of another order of summation are no asymmetry
  problem.M.coeffRef(0, 3) *= 1.0 + 4e-16;
  EXPECT_EQ(matrix_note(problem), "");
  problem.M_stored = StoredTriangle::lower;
  EXPECT_EQ(matrix_note(problem), "M: lower triangle stored, read as symmetric");
  problem.M_stored = StoredTriangle::both;
  problem.M.coeffRef(0, 3) += 0.5 * std::sqrt(problem.M.coeff(0, 0) * problem.M.coeff(3, 3));
  EXPECT_EQ(matrix_note(problem), "M: not symmetric (asymmetry 0.5), taken as it stands");
  EXPECT_EQ(symmetry_refusal(problem), "needs a symmetric M; max |M_ij - M_ji| / sqrt(M_ii M_jj) is 0.5");
  problem.W.coeffRef(0, 1) += 0.25 * std::sqrt(problem.W.coeff(0, 0) * problem.W.coeff(1, 1));
  EXPECT_EQ(
      matrix_note(problem),
      "M: not symmetric (asymmetry 0.5), taken as it stands; W: not symmetric (asymmetry 0.25), taken as it "
      "stands");
}

}  // namespace
}  // namespace signorini::contact_problem_test
