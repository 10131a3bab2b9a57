// Problems that break assumptions, for every registered solver under both laws and every way of splitting: no
// NaN leaves a solver, nothing crashes or runs on for ever, and the status says what happened. The referee
// judges every claim.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "base/rng.h"
#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/region_tasks.h"
#include "solvers/registry.h"

namespace signorini::hostile_problems_test {
namespace {

struct Hostile {
  std::string name;
  ContactProblem problem;
  bool refusable = false;  ///< M or W is no mass or Delassus matrix: `prepare` may throw an InputError
  bool solvable = true;    ///< every solver should get to 1e-6 (small, well scaled, feasible)
  bool exact =
      true;  ///< u = W r + q in double precision is right to 1e-6 U, so that residuals mean something
};

using zoo::floor_frame;
using zoo::PointWorld;

ContactProblem planted(std::function<void(PlantedOptions&)> change) {
  PlantedOptions options;
  options.contacts = 6;
  change(options);
  return make_planted_problem(options).problem;
}

/// Contacts with random directions and friction on points of unit mass at random velocities, feasible for r =
/// 0 where `feasible` (then u = w + Hᵀ v_free ≥ 0 can always be reached by pushing outwards).
ContactProblem many_rows(int contacts, int points) {
  Rng rng(77);
  const auto random = [&rng] { return rng.uniform(-1.0, 1.0); };
  const Eigen::Index n = 3 * points;
  Matrix H = Matrix::Zero(n, 3 * contacts);
  for (int k = 0; k < contacts; ++k) {
    // all normals within 60 degrees of e_z, so that moving up opens every contact
    Vector3 normal(random(), random(), 2.0);
    normal.normalize();
    const Vector3 first = normal.unitOrthogonal();
    Matrix3 frame;
    frame << normal, first, normal.cross(first);
    H.block<3, 3>(3 * (k % points), 3 * k) = frame;
  }
  Vector f(n), mu(contacts);
  for (double& x : f) x = random();
  for (Eigen::Index i = 2; i < n; i += 3) f[i] -= 2.0;
  mu.setConstant(0.4);
  return zoo::make_primal(Matrix::Identity(n, n), H, f, Vector::Zero(3 * contacts), mu);
}

ContactProblem stiff_pair(const Matrix& block) {
  Matrix H = Matrix::Zero(6, 6);
  H.block<3, 3>(0, 0) = floor_frame().transpose();
  H.block<3, 3>(3, 3) = floor_frame().transpose();
  Vector f(6), mu(2);
  f << 0.3, 0.0, -1.0, 0.0, 0.2, -2.0;
  mu.setConstant(0.5);
  return zoo::make_primal(block, H, f, Vector::Zero(6), mu);
}

/// [1 −c; −c 1] on the coordinates of two points: singular for c = 1, indefinite beyond.
Matrix coupled(double c) {
  Matrix M = Matrix::Identity(6, 6);
  for (Eigen::Index i = 0; i < 3; ++i) M(i, i + 3) = M(i + 3, i) = -c;
  return M;
}

ContactProblem copies(int count) {
  const PointWorld::Contact contact{0, -1, floor_frame(), 0.5};
  return PointWorld{{2.0}, {{1, 0.5, -2}}, std::vector<PointWorld::Contact>(count, contact)}.build();
}

/// Masses over `decades` decades in a chain of contacts, light and heavy ones in turn.
ContactProblem chain(double light, double heavy) {
  return PointWorld{{light, heavy, light},
                    {{0.1, 0, -1}, {0, 0.2, -1}, {-0.1, 0, -1}},
                    {{0, -1, floor_frame(), 0.5}, {1, 0, floor_frame(), 0.5}, {2, 1, floor_frame(), 0.5}}}
      .build();
}

ContactProblem scaled(ContactProblem problem, double mass, double speed) {
  problem.M *= mass;
  problem.f *= mass * speed;
  problem.w *= speed;
  return problem;
}

ContactProblem with_friction(ContactProblem problem, double mu) {
  problem.mu.setConstant(mu);
  return problem;
}

ContactProblem pinched() {
  Matrix3 ceiling = floor_frame();
  ceiling.row(0) *= -1.0;
  ceiling.row(1) *= -1.0;
  return PointWorld{
      {2.0}, {{0, 0, -1}}, {{0, -1, floor_frame(), 0.5, {-1, 0, 0}}, {0, -1, ceiling, 0.5, {-1, 0, 0}}}}
      .build();
}

/// W with an antisymmetric part `skew` times the root of its diagonal entries.
ContactProblem unsymmetric(double skew) {
  const ContactProblem primal = planted([](auto& o) { o.seed = 5; });
  Matrix W(to_scalar(assemble_delassus(primal)));
  const Matrix original = W;
  for (Eigen::Index i = 0; i < W.rows(); ++i) {
    for (Eigen::Index j = i + 1; j < W.cols(); ++j) {
      const double turn = skew * std::sqrt(original(i, i) * original(j, j));
      W(i, j) += turn;
      W(j, i) -= turn;
    }
  }
  return zoo::make_dual(W, assemble_q(primal), primal.mu);
}

ContactProblem dual_of(const Matrix& W) {
  Vector q(W.rows());
  for (Eigen::Index i = 0; i < q.size(); ++i) q[i] = i % 3 == 0 ? -1.0 : 0.5;
  return zoo::make_dual(W, q, Vector::Constant(W.rows() / 3, 0.5));
}

/// Tangents along the normal: W_kk has rank one.
ContactProblem parallel_rows() {
  Matrix3 frame;
  frame << 0, 0, 1, 0, 0, 1, 0, 0, 1;
  ContactProblem problem = PointWorld{{1.0}, {{0.2, 0, -1}}, {{0, -1, frame, 0.3}}}.build();
  problem.frame.resize(0, 0);  // it is none
  return problem;
}

ContactProblem only_tangents() {
  ContactProblem problem = zoo::h3().problem;
  Matrix H(problem.H);
  H.col(0).setZero();
  problem.H = H.sparseView();
  problem.H.makeCompressed();
  problem.w[0] = 0.5;
  return problem;
}

ContactProblem only_normals() {
  ContactProblem problem = zoo::h3().problem;
  Matrix H(problem.H);
  H.rightCols(2).setZero();
  problem.H = H.sparseView();
  problem.H.makeCompressed();
  return problem;
}

ContactProblem no_dofs(double gap_speed) {
  ContactProblem problem;
  problem.w = zoo::vector_of({gap_speed, 0.3, -0.2, gap_speed, 0.0, 0.0});
  problem.mu = Vector::Constant(2, 0.5);
  problem.M.resize(0, 0);
  problem.H.resize(0, 6);
  return problem;
}

ContactProblem fixed_pair(double gap_speed) {
  return PointWorld{{2.0},
                    {{0, 0.5, -2}},
                    {{-1, -1, floor_frame(), 0.5, {gap_speed, 0.2, 0.0}}, {0, -1, floor_frame(), 0.5}}}
      .build();
}

std::vector<Hostile> hostile_problems() {
  std::vector<Hostile> all;
  const auto add = [&all](std::string name, ContactProblem problem, bool solvable = true,
                          bool refusable = false) {
    all.push_back({std::move(name), std::move(problem), refusable, solvable});
  };
  add("singular_mass", stiff_pair(coupled(1.0)), false, true);
  add("nearly_singular_mass", stiff_pair(coupled(1.0 - 1e-13)), false, true);
  add("indefinite_mass", stiff_pair(coupled(1.5)), false, true);
  add("many_copies", copies(12));
  add("planted_copies", planted([](auto& o) { o.contacts = 12, o.duplicates = 10, o.stiffness = 1.0; }));
  add("more_rows_than_dofs", many_rows(30, 2));
  add("many_contacts_on_one_point", many_rows(25, 1));
  add("no_friction", planted([](auto& o) { o.mu = 0.0, o.stiffness = 1.0; }));
  add("strong_friction", planted([](auto& o) { o.mu = 10.0, o.stiffness = 1.0; }), false);
  add("absurd_friction", with_friction(planted([](auto& o) { o.stiffness = 1.0; }), 1e9), false);
  add("tiny_friction", with_friction(planted([](auto& o) { o.stiffness = 1.0; }), 1e-15));
  add("no_contacts", zoo::no_contacts().problem);
  add("nothing", zoo::nothing().problem);
  add("one_contact", planted([](auto& o) { o.contacts = 1; }));
  add("fixed_bodies_apart", fixed_pair(0.1));
  add("fixed_bodies_closing", fixed_pair(-0.1), false);
  add("no_dofs_apart", no_dofs(0.1));
  add("no_dofs_closing", no_dofs(-0.1), false);
  add("pinched_between_walls", pinched(), false);
  add("all_light", scaled(planted([](auto& o) { o.stiffness = 1.0; }), 1e-12, 1.0));
  add("all_heavy", scaled(planted([](auto& o) { o.stiffness = 1.0; }), 1e12, 1.0));
  add("slow", scaled(planted([](auto& o) { o.stiffness = 1.0; }), 1.0, 1e-100));
  add("fast", scaled(planted([](auto& o) { o.stiffness = 1.0; }), 1.0, 1e100));
  add("beyond_squares", scaled(planted([](auto& o) { o.stiffness = 1.0; }), 1.0, 1e200), false);
  add("at_rest", scaled(planted([](auto& o) { o.stiffness = 1.0; }), 1.0, 0.0));
  add("light_on_heavy", chain(1e-4, 1e4), false);
  add("heavy_on_light", chain(1e4, 1e-4), false);
  // 24 decades: W r of the light bodies loses the velocity U altogether
  add("feather_on_mountain", chain(1e-12, 1e12), false);
  all.back().exact = false;
  add("mountain_on_feather", chain(1e12, 1e-12), false);
  all.back().exact = false;
  add("parallel_rows", parallel_rows(), false);
  add("only_tangents", only_tangents());
  add("only_normals", only_normals());
  add("slightly_unsymmetric_w", unsymmetric(2.5e-3));  // the largest of recorded problems
  add("somewhat_unsymmetric_w", unsymmetric(0.02));
  add("unsymmetric_w", unsymmetric(0.5), false);
  add("rotating_w", unsymmetric(5.0), false);
  add("vanishing_w", dual_of(Matrix::Zero(6, 6)), false);
  add("indefinite_w", dual_of(2.0 * Matrix::Ones(6, 6) - Matrix::Identity(6, 6)), false);
  return all;
}

const std::vector<Hostile>& problems() {
  static const std::vector<Hostile> all = hostile_problems();
  return all;
}

class Finite : public IterationObserver {
 public:
  void on_iteration(int, std::span<const double> r, std::string_view) override {
    finite = finite && std::all_of(r.begin(), r.end(), [](double x) { return std::isfinite(x); });
  }
  bool finite = true;
};

constexpr double kTolerance = 1e-6;
constexpr int kLimit = 1000;

bool all_finite(const std::vector<double>& r) {
  return std::all_of(r.begin(), r.end(), [](double x) { return std::isfinite(x); });
}

/// Prepared solver, or null where it refuses with a reason of one line.
std::unique_ptr<Solver> prepared(const Hostile& hostile, std::string_view name, const OptionMap& options,
                                 RegionMode mode) {
  auto solver = make_region_solver(name, options, {.mode = mode, .threads = 2, .head_start = 0.0});
  const std::string reason = solver->unsupported_reason(hostile.problem);
  EXPECT_EQ(reason.find('\n'), std::string::npos);
  if (!reason.empty()) return nullptr;
  try {
    solver->prepare(hostile.problem);
  } catch (const InputError& error) {
    EXPECT_TRUE(hostile.refusable) << error.what();
    EXPECT_NE(std::string_view(error.what()).find("M is not positive definite"), std::string_view::npos)
        << error.what();
    return nullptr;
  }
  return solver;
}

/// What the referee says of a claim of convergence. None where it cannot factor M, where W r + q drowns in
/// rounding, where regions cut couplings, or where the solver is told to believe its own cheap error.
void check_claim(const Hostile& hostile, RegionMode mode, const Solver& solver, const SolveReport& report,
                 const std::vector<double>& r) {
  const bool own = solver.options().find("judge=own") != std::string::npos;
  if (hostile.refusable || !hostile.exact || own || mode == RegionMode::points_approx) return;
  const double residual = Referee(hostile.problem).measure(r, solver.common().spec()).residual;
  EXPECT_EQ(report.status == SolveStatus::converged, residual <= kTolerance)
      << enum_name(report.status) << " at " << residual << " after " << report.iterations;
  EXPECT_TRUE(report.status == SolveStatus::converged || !hostile.solvable)
      << enum_name(report.status) << " after " << report.iterations;
}

void check_limited(const Hostile& hostile, RegionMode mode, Solver& solver) {
  StopRule stop;
  stop.residual = kTolerance;
  stop.max_iterations = kLimit;
  std::vector<double> r(3 * hostile.problem.contacts(), 0.0);
  const SolveReport report = solver.solve(r, stop, nullptr);
  EXPECT_TRUE(all_finite(r));
  EXPECT_GE(report.iterations, 0);
  EXPECT_LE(report.iterations, kLimit);
  EXPECT_FALSE(std::isnan(report.own_residual)) << enum_name(report.status);
  const bool explained = report.status == SolveStatus::unsupported || report.status == SolveStatus::failed;
  EXPECT_FALSE(explained && report.message.empty());
  if (report.status == SolveStatus::converged) {
    EXPECT_LE(report.own_residual, kTolerance);
  }
  check_claim(hostile, mode, solver, report, r);
}

void check_fixed(const Hostile& hostile, RegionMode, Solver& solver) {
  const std::size_t rows = 3 * hostile.problem.contacts();
  StopRule fixed;
  fixed.fixed_iterations = true;
  fixed.max_iterations = 25;
  std::vector<double> r(rows, 0.0);
  Finite observer;
  solver.solve(r, fixed, &observer);
  EXPECT_TRUE(observer.finite);
  EXPECT_TRUE(all_finite(r));
}

void check_bad_starts(const Hostile& hostile, RegionMode, Solver& solver) {
  const std::size_t rows = 3 * hostile.problem.contacts();
  StopRule stop;
  stop.residual = kTolerance;
  stop.max_iterations = 50;
  for (const double start :
       {1e300, -1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> r(rows, start);
    solver.solve(r, stop, nullptr);
    EXPECT_TRUE(all_finite(r)) << "from " << start;
  }
}

/// The laws that are served, turned tangents, and the judge that never factors M where there is one.
std::vector<OptionMap> option_sets(const SolverEntry& entry) {
  std::vector<OptionMap> laws, sets;
  if (entry.traits.cone) laws.push_back({{"law", "cone"}});
  if (entry.traits.pyramid) laws.push_back({{"law", "pyramid"}});
  sets = laws;
  if (entry.traits.pyramid) sets.push_back({{"law", "pyramid"}, {"frame", "aligned"}});
  for (const OptionDescription& row : entry.describe()) {
    if (row.key == "qp") sets.push_back({laws.front()}), sets.back()["qp"] = "minres";
    if (row.key != "judge") continue;
    for (const OptionMap& law : laws) sets.push_back(law), sets.back()["judge"] = "own";
  }
  return sets;
}

std::string text_of(const OptionMap& options) {
  std::string text;
  for (const auto& [key, value] : options) text += " " + key + " " + value;
  return text;
}

class HostileProblems : public testing::TestWithParam<std::size_t> {
 protected:
  template <class Check>
  void for_each_variant(Check&& check) const {
    const SolverEntry& entry = solver_registry()[GetParam()];
    for (const Hostile& hostile : problems()) {
      for (const OptionMap& options : option_sets(entry)) {
        for (const RegionMode mode : {RegionMode::none, RegionMode::points, RegionMode::islands,
                                      RegionMode::points_approx, RegionMode::points_inner}) {
          SCOPED_TRACE(hostile.name + "," + text_of(options) + ", regions " + std::string(enum_name(mode)));
          try {
            if (const auto solver = prepared(hostile, entry.name, options, mode))
              check(hostile, mode, *solver);
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
        }
      }
    }
  }
};

TEST_P(HostileProblems, LeaveAStatusAndNoNan) { for_each_variant(check_limited); }
TEST_P(HostileProblems, LeaveNoNanAfterAFixedNumberOfIterations) { for_each_variant(check_fixed); }
TEST_P(HostileProblems, LeaveNoNanFromAbsurdStartValues) { for_each_variant(check_bad_starts); }

INSTANTIATE_TEST_SUITE_P(Solvers, HostileProblems, testing::Range(std::size_t{0}, solver_registry().size()),
                         [](const auto& param) {
                           std::string name(solver_registry()[param.param].name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The loops above would pass if inner regions were refused everywhere.
TEST(HostileProblem, IsTakenWithInnerRegionsByEverySolverThatHasThem) {
  int solvers = 0;
  for (const SolverEntry& entry : solver_registry()) {
    if (!entry.traits.inner_regions) continue;
    ++solvers;
    int taken = 0;
    for (const Hostile& hostile : problems()) {
      const auto split = make_region_solver(entry.name, {}, {RegionMode::points_inner, 2});
      const auto whole = make_solver(entry.name);
      EXPECT_EQ(split->unsupported_reason(hostile.problem).empty(),
                whole->unsupported_reason(hostile.problem).empty())
          << entry.name << " " << hostile.name;
      taken += split->unsupported_reason(hostile.problem).empty() ? 1 : 0;
    }
    EXPECT_GE(taken, 30) << entry.name;  // all that bring M and H
  }
  EXPECT_GE(solvers, 1);
}

/// What the problems above are is right by the common check: solvers do not see anything worse.
TEST(HostileProblem, PassesTheCommonCheck) {
  for (const Hostile& hostile : problems())
    EXPECT_EQ(find_defect(hostile.problem).value_or(""), "") << hostile.name;
}

}  // namespace
}  // namespace signorini::hostile_problems_test
