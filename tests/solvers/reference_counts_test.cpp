// Iteration counts of an independent prototype (docs/notes/prototype.md) on eight recorded problems: first
// iteration whose residual, measured by the referee, is at most the tolerance, from a cold start. "none": not
// within 500 iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "contact/residuals.h"
#include "record/fclib_file.h"
#include "solvers/cg/tangent_cone.h"
#include "solvers/registry.h"

namespace signorini::reference_counts_test {
namespace {

constexpr int kNone = 0;
constexpr int kLimit = 500;
constexpr std::array<const char*, 8> kProblems{"net0", "net1", "net3", "expl", "fE", "f2", "f3", "f4"};

struct Row {
  std::string label;
  std::string solver;
  OptionMap options;
  std::array<int, 8> iterations;
  std::array<int, 8> first_phase = {};
};

/// μ = 0, residual 1e-8.
std::vector<Row> frictionless_rows() {
  return {
      {"pgs", "pgs", {}, {36, 37, 32, 11, 5, 7, 16, 22}},
      {"pcg_fr", "pcg", {{"beta", "fr"}}, {12, 13, 19, 11, 6, 8, 16, 19}},
      {"pcg_pr", "pcg", {}, {12, 13, 19, 11, 6, 8, 16, 19}},
      {"pcg_true", "pcg", {{"form", "true"}}, {29, 34, 40, 15, 8, 15, 24, 31}},
      {"pcg_printed", "pcg", {{"form", "printed"}}, {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}},
      {"pcg_pgs", "pcg-pgs", {}, {35, 34, 31, 12, 6, 7, 16, 21}, {7, 8, 7, 4, 2, 2, 4, 5}}};
}

/// Cone, μ = 0.5, residual 1e-6.
std::vector<Row> cone_rows() {
  return {{"pgs_scalar", "pgs", {}, {35, 67, 94, 9, 4, 6, 13, 18}},
          {"pgs_componentwise",
           "pgs",
           {{"tangent", "componentwise"}},
           {kNone, kNone, kNone, 9, 4, kNone, kNone, kNone}},
          {"pcg_printed_fr",
           "pcg",
           {{"form", "printed"}, {"beta", "fr"}},
           {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}},
          {"pcg_printed_pr",
           "pcg",
           {{"form", "printed"}},
           {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}},
          {"pcg_true", "pcg", {{"form", "true"}}, {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}},
          {"pcg_fr", "pcg", {{"beta", "fr"}}, {kNone, 85, kNone, 11, 6, 8, 16, 21}},
          {"pcg_pr", "pcg", {}, {26, 31, 50, 11, 5, 7, 16, 21}},
          {"pcg_pgs", "pcg-pgs", {}, {33, 57, 82, 10, 5, 7, 14, 18}, {8, 10, 17, 5, 2, 3, 5, 7}}};
}

/// Pyramid in the file's tangents, μ = 0.5, residual 1e-6.
std::vector<Row> pyramid_rows() {
  return {{"pgs", "pgs", {}, {73, 36, 92, 9, 4, 6, 14, 17}},
          {"pcg_pr", "pcg", {}, {40, 29, 81, 11, 5, 8, 18, 25}},
          {"pcg_pgs", "pcg-pgs", {}, {72, 34, 86, 11, 5, 6, 15, 18}, {9, 10, 26, 5, 2, 3, 5, 7}}};
}

class FirstBelow : public IterationObserver {
 public:
  FirstBelow(const Referee& referee, LawSpec law, double tolerance)
      : referee_(referee), law_(law), tolerance_(tolerance) {}
  void on_iteration(int iteration, std::span<const double> r, std::string_view phase) override {
    if (iterations != kNone) return;
    if (phase == "cg") first_phase = iteration;
    if (referee_.measure(r, law_).residual <= tolerance_) iterations = iteration;
  }
  int iterations = kNone;
  int first_phase = 0;

 private:
  const Referee& referee_;
  LawSpec law_;
  double tolerance_;
};

std::filesystem::path file_of(const char* problem) {
  return std::filesystem::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems" / "reference" /
         (std::string(problem) + ".hdf5");
}

ContactProblem load(const char* problem) { return read_fclib(file_of(problem)).problem; }

class ReferenceCounts : public testing::Test {
 protected:
  /// Rounding may move the crossing of the tolerance by an iteration; a change of the method moves it by
  /// more.
  static void check(const std::vector<Row>& rows, FrictionLaw law, bool frictionless, double tolerance) {
    for (std::size_t p = 0; p < kProblems.size(); ++p) {
      ContactProblem problem = load(kProblems[p]);
      if (frictionless) problem.mu.setZero();
      const Referee referee(problem);
      for (const Row& row : rows) {
        OptionMap options = row.options;
        options["law"] = enum_name(law);
        const auto solver = make_solver(row.solver, options);
        solver->prepare(problem);
        std::vector<double> r(3 * problem.contacts(), 0.0);
        FirstBelow seen(referee, solver->common().spec(), tolerance);
        StopRule stop;
        stop.fixed_iterations = true;
        stop.max_iterations = row.iterations[p] == kNone ? kLimit : row.iterations[p] + 2;
        solver->solve(r, stop, &seen);
        EXPECT_NEAR(seen.iterations, row.iterations[p], row.iterations[p] == kNone ? 0 : 1)
            << row.label << " on " << kProblems[p];
        EXPECT_EQ(seen.first_phase, row.first_phase[p]) << row.label << " on " << kProblems[p];
      }
    }
  }
};

TEST_F(ReferenceCounts, WithoutFriction) { check(frictionless_rows(), FrictionLaw::cone, true, 1e-8); }
TEST_F(ReferenceCounts, WithTheCone) { check(cone_rows(), FrictionLaw::cone, false, 1e-6); }
TEST_F(ReferenceCounts, WithThePyramid) { check(pyramid_rows(), FrictionLaw::pyramid, false, 1e-6); }

/// Solvers on velocities stop, as the prototype did, by the error of the velocity at hand; it underestimates
/// the true one (docs/theory.md, T14), which `judge = exact` waits for. Counts within 20 % or 2 of the
/// prototype's, or better.
struct PrimalRow {
  std::string label;
  std::string solver;
  OptionMap options;
  bool frictionless;
  std::array<int, 8> iterations;
};

std::vector<PrimalRow> primal_rows() {
  return {
      {"ica_frictionless", "ica", {}, true, {29, 25, 153, 1, 1, 10, 53, 118}},
      {"ica_cone", "ica", {}, false, {21, 15, 81, 1, 1, 8, 38, 77}},
      {"ica_pyramid", "ica", {{"law", "pyramid"}}, false, {21, 17, 83, 1, 1, 8, 38, 71}},
      {"cr_diag_frictionless", "cr-diag", {}, true, {50, 61, 118, 26, 12, 28, 77, 112}},
      {"cr_full_frictionless", "cr-full", {}, true, {54, 56, 92, 13, 6, 14, 45, 57}},
      {"cr_diag_cone", "cr-diag", {}, false, {210, 268, 566, 50, 18, 48, 129, 258}},
      {"cr_full_cone", "cr-full", {}, false, {81, 72, 191, 21, 9, 24, 64, 117}},
      // net3: the prototype does not converge (6e-5, 6e-1)
      {"cr_diag_pyramid", "cr-diag", {{"law", "pyramid"}}, false, {549, 347, 2000, 75, 27, 66, 363, 678}},
      {"cr_full_pyramid", "cr-full", {{"law", "pyramid"}}, false, {142, 103, 2000, 24, 13, 44, 258, 569}}};
}

TEST_F(ReferenceCounts, OfSolversOnVelocities) {
  for (std::size_t p = 0; p < kProblems.size(); ++p) {
    for (const PrimalRow& row : primal_rows()) {
      ContactProblem problem = load(kProblems[p]);
      if (row.frictionless) problem.mu.setZero();
      const double tolerance = row.frictionless ? 1e-8 : 1e-6;
      for (const char* judge : {"own", "exact"}) {
        OptionMap options = row.options;
        options["judge"] = judge;
        const auto solver = make_solver(row.solver, options);
        solver->prepare(problem);
        std::vector<double> r(3 * problem.contacts(), 0.0);
        StopRule stop;
        stop.residual = tolerance;
        stop.max_iterations = 3000;
        const SolveReport report = solver->solve(r, stop, nullptr);
        EXPECT_EQ(enum_name(report.status), "converged") << row.label << " on " << kProblems[p];
        if (std::string_view(judge) == "exact") {
          EXPECT_LE(Referee(problem).measure(r, solver->common().spec()).residual, tolerance);
          continue;
        }
        const int allowed = std::max(row.iterations[p] + 2, row.iterations[p] * 6 / 5);
        EXPECT_LE(report.iterations, allowed) << row.label << " on " << kProblems[p];
      }
    }
  }
}

/// The exact answer with every impulse off by up to a part in 10⁸ of the largest, back on the law.
std::vector<double> nearly_right(const ContactProblem& problem, FrictionLaw law, double phase = 1.0) {
  const auto solver = make_solver("reference", {{"law", std::string(enum_name(law))}});
  solver->prepare(problem);
  std::vector<double> r(3 * problem.contacts(), 0.0);
  StopRule stop;
  stop.residual = 1e-12;
  solver->solve(r, stop, nullptr);
  const double largest = *std::max_element(r.begin(), r.end());
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] += 1e-8 * largest * std::sin(phase + 7.3 * static_cast<double>(i));
  for (std::size_t k = 0; k < r.size() / 3; ++k) {
    const double S[2] = {0.0, 0.0};
    const double mu = problem.mu[k];
    with_law(law, [&](auto type) { project_impulse<decltype(type)>(mu, 0, S, r.data() + 3 * k); });
  }
  return r;
}

/// A start that is right to eight digits leaves one of nine to be found, from states that are right: a
/// third of the way and a few evaluations at most. What is right already takes no iteration. Without factors of M
/// the velocity of the start has to be found as well; then the eight together may cost what cold starts do (a
/// quarter more). The median of five starts counts: `cr-full` on net3 under the pyramid takes 150 to 440 iterations, by where the
/// eighth digits are.
TEST_F(ReferenceCounts, WarmStartsCostLessThanColdOnes) {
  constexpr int kFewEvaluations = 6;  // a cold start takes 10 to 30 iterations here
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (const char* name : {"cr-full", "cr-diag", "minres"}) {
      int warm = 0, cold = 0;
      for (std::size_t p = 0; p < kProblems.size(); ++p) {
        const ContactProblem problem = load(kProblems[p]);
        const std::vector<double> start = nearly_right(problem, law);
        const auto iterations = [&](const char* judge, double tolerance, std::vector<double> r) {
          const auto solver = make_solver(name, {{"law", std::string(enum_name(law))}, {"judge", judge}});
          solver->prepare(problem);
          StopRule stop;
          stop.residual = tolerance;
          const SolveReport report = solver->solve(r, stop, nullptr);
          EXPECT_EQ(enum_name(report.status), "converged") << name << " on " << kProblems[p];
          return report.iterations;
        };
        const std::vector<double> zero(start.size(), 0.0);
        EXPECT_EQ(iterations("exact", 1e-6, start), 0) << name << " on " << kProblems[p];
        EXPECT_LE(iterations("exact", 1e-9, start), iterations("exact", 1e-9, zero) / 2 + kFewEvaluations)
            << name << " " << enum_name(law) << " on " << kProblems[p];
        std::array<int, 5> from{};
        for (std::size_t i = 0; i < from.size(); ++i)
          from[i] = iterations("own", 1e-6, nearly_right(problem, law, 1.0 + static_cast<double>(i)));
        std::nth_element(from.begin(), from.begin() + from.size() / 2, from.end());
        warm += from[from.size() / 2];
        cold += iterations("own", 1e-6, zero);
      }
      EXPECT_LE(warm, cold * 5 / 4) << name << " " << enum_name(law);
    }
  }
}

TEST_F(ReferenceCounts, TheReferenceReachesTwelveDigitsUnderEveryLaw) {
  for (const char* name : kProblems) {
    for (const bool frictionless : {false, true}) {
      ContactProblem problem = load(name);
      if (frictionless) problem.mu.setZero();
      const Referee referee(problem);
      for (const char* law : {"cone", "pyramid"}) {
        const auto solver = make_solver("reference", {{"law", law}});
        solver->prepare(problem);
        std::vector<double> r(3 * problem.contacts(), 0.0);
        StopRule stop;
        stop.residual = 1e-12;
        const SolveReport report = solver->solve(r, stop, nullptr);
        EXPECT_EQ(enum_name(report.status), "converged") << name << " " << law;
        EXPECT_LE(referee.measure(r, solver->common().spec()).residual, 1e-12) << name << " " << law;
      }
    }
  }
}

TEST_F(ReferenceCounts, EveryFormulaOfTheReferenceAgreesWithTheStoredSolution) {
  for (const char* name : kProblems) {
    const FclibFile file = read_fclib(file_of(name));
    ASSERT_TRUE(file.solution.has_value());
    const auto solver = make_solver("reference");
    solver->prepare(file.problem);
    Vector r = file.solution->r;
    StopRule stop;
    stop.residual = 1e-12;
    const SolveReport report = solver->solve(span_of(r), stop, nullptr);
    EXPECT_EQ(report.iterations, 0) << name;
    EXPECT_EQ(r, file.solution->r) << name;
  }
}

}  // namespace
}  // namespace signorini::reference_counts_test
