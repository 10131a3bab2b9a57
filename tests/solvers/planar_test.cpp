// Problems in the plane: every solver's answer, under every law, is one that the enumeration of states in the plane
// finds; and real and large files.
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <filesystem>
#include <limits>

#include "contact/planar_problem.h"
#include "contact/planar_problems.h"
#include "contact/residuals.h"
#include "record/fclib_file.h"
#include "record/record_test_tools.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"

namespace signorini::planar_test {
namespace {

namespace fs = std::filesystem;

const LawSpec kLaws[] = {{FrictionLaw::cone, PyramidFrame::fixed},
                         {FrictionLaw::pyramid, PyramidFrame::fixed},
                         {FrictionLaw::pyramid, PyramidFrame::aligned}};

StopRule rule(double residual, int iterations = 20000) {
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  return stop;
}

struct Specimen {
  std::string name;
  ContactProblem planar;  ///< two rows per contact
};

/// Up to four contacts, n a multiple of three or not, with M, coupled or not, and with W alone.
std::vector<Specimen> specimens() {
  std::vector<Specimen> all;
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const double coupling : {0.0, 2.0}) {
      const Index contacts = 2 + static_cast<Index>(seed % 3);
      const ContactProblem planar = plane::random_chain(contacts, 0.3, coupling, seed);
      all.push_back({fmt::format("chain {} coupling {}", seed, coupling), planar});
      const plane::Reduced reduced = plane::reduce(planar);
      all.push_back({all.back().name + " dual", zoo::make_dual(reduced.W, reduced.q, reduced.mu)});
    }
  }
  all.push_back({"wedge moving", zoo::PlanarWedge{}.equations()});
  all.push_back({"wedge held", zoo::PlanarWedge{.floor_mu = 0.8}.equations()});
  return all;
}

double condition(const Matrix& W) {
  const Vector values = Eigen::JacobiSVD<Matrix>(W).singularValues();
  return values[0] / values[values.size() - 1];
}

double distance(const std::vector<Vector>& solutions, const Vector& r) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Vector& solution : solutions) nearest = std::min(nearest, (solution - r).cwiseAbs().maxCoeff());
  return nearest;
}

class PlanarSolver : public testing::TestWithParam<std::string> {
 protected:
  static const SolverTraits& traits() { return find_solver(GetParam())->traits; }
  static bool takes(const LawSpec& law) { return is_cone(law.law) ? traits().cone : traits().pyramid; }
};

TEST_P(PlanarSolver, FindsAnAnswerOfThePlane) {
  for (const Specimen& specimen : specimens()) {
    if (traits().needs == SolverNeeds::mass && !specimen.planar.has_primal()) continue;
    const plane::Reduced reduced = plane::reduce(specimen.planar);
    const std::vector<Vector> solutions = plane::all_solutions(reduced);
    ASSERT_FALSE(solutions.empty()) << specimen.name;
    ASSERT_LE(condition(reduced.W), 1e3) << specimen.name;
    const ContactProblem problem = to_space(specimen.planar);
    for (const LawSpec& law : kLaws) {
      if (!takes(law)) continue;
      SCOPED_TRACE(fmt::format("{} {} {}", specimen.name, enum_name(law.law), enum_name(law.frame)));
      const auto solver = make_solver(GetParam(), {{"law", std::string(enum_name(law.law))},
                                                   {"frame", std::string(enum_name(law.frame))}});
      ASSERT_EQ(solver->unsupported_reason(problem), "");
      solver->prepare(problem);
      Vector r = Vector::Zero(3 * problem.contacts());
      const SolveReport report = solver->solve(span_of(r), rule(1e-11), nullptr);
      EXPECT_EQ(enum_name(report.status), "converged");
      EXPECT_LE(Referee(problem).measure(span_of(r), law).residual, 1.01e-11);
      const double size = r.cwiseAbs().maxCoeff();
      // cond(W) times the residual, and a factor of ten for bounds of friction that follow r_N
      EXPECT_LE(distance(solutions, rows_to_plane(r)), 10 * 1e3 * 1e-11 * size);
      // nothing pushes T2; aligned tangents may point backwards, and sin π is 1.2e-16
      const double aside = is_aligned(law) ? 1e-9 : 1e-14;
      for (Index k = 0; k < problem.contacts(); ++k) EXPECT_LE(std::abs(r[3 * k + 2]), aside * size);
    }
  }
}

/// Two corners slide in one direction, so tangential rows are redundant. Staggered projections with the states of the
/// paper (`prediction = single`, the default of sp-active-set) stall there in space as in the plane.
TEST_P(PlanarSolver, SolvesABlockOnTwoCornersWhereItDoesInSpace) {
  const plane::SlidingBlock block;
  const auto residual = [&](const ContactProblem& problem, const LawSpec& law) {
    const auto solver = make_solver(GetParam(), {{"law", std::string(enum_name(law.law))}});
    solver->prepare(problem);
    Vector r = Vector::Zero(6);
    const SolveReport report = solver->solve(span_of(r), rule(1e-8), nullptr);
    const double found = Referee(problem).measure(span_of(r), law).residual;
    EXPECT_EQ(report.status == SolveStatus::converged, found <= 1.01e-8) << enum_name(report.status);
    if (found <= 1.01e-8) {
      // moments and sums of r are well conditioned: within 100 of the residual
      EXPECT_LE((r - block.answer()).cwiseAbs().maxCoeff(), 1e-6 * block.answer().maxCoeff());
    }
    return found;
  };
  for (const LawSpec& law : kLaws) {
    if (!takes(law) || is_aligned(law)) continue;
    SCOPED_TRACE(enum_name(law.law));
    const double in_plane = residual(to_space(block.equations()), law),
                 in_space = residual(block.in_space(), law);
    if (GetParam() == "sp-active-set") {
      EXPECT_GT(in_plane, 1e-4) << "docs/limits.md says that it stalls";
      EXPECT_GT(in_space, 1e-4) << "docs/limits.md says that it stalls";
    } else {
      EXPECT_LE(in_plane, 1.01e-8);
      EXPECT_LE(in_space, 1.01e-8);
    }
  }
}

TEST_P(PlanarSolver, SplitsWhereThePlaneSplits) {
  if (!traits().cone) GTEST_SKIP() << "does not serve the cone";
  // two chains side by side
  const ContactProblem one = plane::random_chain(2, 0.3, 0.0, 4), two = plane::random_chain(3, 0.3, 0.0, 5);
  const Index n = one.dofs(), rows = 2 * one.contacts();
  Matrix M = Matrix::Zero(n + two.dofs(), n + two.dofs());
  Matrix H = Matrix::Zero(M.rows(), rows + 2 * two.contacts());
  M.topLeftCorner(n, n) = one.M;
  M.bottomRightCorner(two.dofs(), two.dofs()) = two.M;
  H.topLeftCorner(n, rows) = one.H;
  H.bottomRightCorner(two.dofs(), 2 * two.contacts()) = two.H;
  Vector f(M.rows()), mu(5);
  f << one.f, two.f;
  mu << one.mu, two.mu;
  const ContactProblem problem = zoo::make_planar(M, H, f, Vector::Zero(H.cols()), mu);
  for (const RegionMode mode : {RegionMode::points, RegionMode::islands}) {
    const auto solver = make_region_solver(GetParam(), {}, {mode, 1});
    ASSERT_EQ(solver->unsupported_reason(problem), "");
    solver->prepare(problem);
    Vector r = Vector::Zero(3 * problem.contacts());
    EXPECT_EQ(enum_name(solver->solve(span_of(r), rule(1e-9), nullptr).status), "converged");
    EXPECT_LE(Referee(problem).measure(span_of(r), {}).residual, 1.01e-9) << enum_name(mode);
    EXPECT_EQ(solver->partition().regions(), 2) << enum_name(mode);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlanarSolver, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const SolverEntry& entry : solver_registry()) names.emplace_back(entry.name);
                           return names;
                         }()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The enumeration against answers by hand.
TEST(PlanarEnumeration, FindsTheWedge) {
  for (const double floor_mu : {0.0, 0.8}) {
    const zoo::PlanarWedge wedge{.floor_mu = floor_mu};
    const std::vector<Vector> solutions = plane::all_solutions(plane::reduce(wedge.equations()));
    ASSERT_FALSE(solutions.empty());
    for (const Vector& r : solutions)
      EXPECT_LE((r - rows_to_plane(wedge.answer())).cwiseAbs().maxCoeff(), 1e-15);
  }
}

/// The best of some solvers.
double best_residual(const ContactProblem& problem, double tolerance, int iterations) {
  const Referee referee(problem);
  double best = std::numeric_limits<double>::infinity();
  for (const char* name : {"pcg-pgs", "pcg", "pgs", "reference"}) {
    const auto solver = make_solver(name);
    solver->prepare(problem);
    Vector r = Vector::Zero(3 * problem.contacts());
    solver->solve(span_of(r), rule(tolerance, iterations), nullptr);
    best = std::min(best, referee.measure(span_of(r), {}).residual);
    if (best <= tolerance) break;
  }
  return best;
}

TEST(PlanarFiles, SevenThousandContactsAreWrittenReadAndSolved) {
  const ContactProblem heap = plane::disc_heap(412, 6, 0.5);
  ASSERT_GE(heap.contacts(), 6900);
  ASSERT_LE(heap.contacts(), 7100);
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "heap.hdf5";
  FclibFile file;
  file.problem = to_space(heap);
  write_fclib(path, file);
  const ContactProblem problem = read_fclib(path).problem;
  expect_same_problem(problem, file.problem);
  EXPECT_LE(best_residual(problem, 1e-4, 3000), 1e-4);
}

TEST(PlanarFiles, ThoseOfTheCollectionAreSolved) {
  const fs::path folder = fs::path(SIGNORINI_DATA_DIR) / "fclib" / "2d";
  std::error_code error;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const ContactProblem problem = read_fclib(entry.path()).problem;
    EXPECT_LE(best_residual(problem, 1e-4, 5000), 1e-4) << entry.path();
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no problems in the plane in " << folder << " (SIGNORINI_DATA)";
}

}  // namespace
}  // namespace signorini::planar_test
