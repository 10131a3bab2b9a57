// `reference`: twelve digits on every recorded problem at hand, and the order of its stages.
#include "solvers/portfolio/reference.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "record/fclib_file.h"
#include "solvers/registry.h"

namespace signorini::reference_test {
namespace {

namespace fs = std::filesystem;

constexpr double kTwelveDigits = 1e-12;

struct Answer {
  SolveReport report;
  std::vector<double> r;
  double residual = 0.0;  ///< by the referee
};

Answer answer(const ContactProblem& problem, std::string_view name, double residual = kTwelveDigits,
              int iterations = 20000, IterationObserver* observer = nullptr) {
  const auto solver = make_solver(name);
  solver->prepare(problem);
  Answer found;
  found.r.assign(3 * problem.contacts(), 0.0);
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  found.report = solver->solve(found.r, stop, observer);
  found.residual = Referee(problem).measure(found.r, solver->common().spec()).residual;
  return found;
}

class Phases : public IterationObserver {
 public:
  void on_iteration(int iteration, std::span<const double> /*r*/, std::string_view phase) override {
    EXPECT_EQ(iteration, ++last);
    if (iteration > 0 && (seen.empty() || seen.back() != phase)) seen.emplace_back(phase);
  }
  std::vector<std::string> seen;  ///< in the order of their first iterations
  int last = -1;
};

/// Among them three of redundant contacts where sweeps and Newton steps with a dense factor ended between 1e-8 and 3e-7, one
/// where proximal Newton alone ends at 8e-6, and contacts in the plane.
TEST(Reference, ReachesTwelveDigitsOnTheCollection) {
  const fs::path folder = fs::path(SIGNORINI_DATA_DIR) / "fclib";
  std::error_code error;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".hdf5") continue;
    const Answer found = answer(read_fclib(entry.path()).problem, "reference");
    EXPECT_EQ(found.report.status, SolveStatus::converged) << entry.path();
    EXPECT_LE(found.residual, kTwelveDigits) << entry.path();
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no recorded problems in " << folder << " (SIGNORINI_DATA)";
}

/// No residual of 1e-30 can be met: every stage has its turn twice, in order, and the best answer is returned.
TEST(Reference, TakesItsStagesInTurnAndGivesUpWhereNothingIsLeftToGain) {
  const ContactProblem problem = make_planted_problem({.stiffness = 1.0}).problem;
  Phases phases;
  const Answer found = answer(problem, "reference", 1e-30, 1000000, &phases);
  EXPECT_EQ(found.report.status, SolveStatus::stalled);
  EXPECT_LE(found.residual, kTwelveDigits);
  const std::vector<std::string> first(phases.seen.begin(), phases.seen.begin() + 4);
  EXPECT_EQ(first, (std::vector<std::string>{"prox-newton", "auto", "body-newton", "sap"}));
  EXPECT_EQ(found.report.iterations, phases.last);
  const auto& parts = found.report.phase_iterations;
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0), found.report.iterations);
}

TEST(Reference, BeginsAsProximalNewton) {
  const ContactProblem problem = make_planted_problem({.stiffness = 1.0}).problem;
  const Answer reference = answer(problem, "reference"), proximal = answer(problem, "prox-newton");
  ASSERT_EQ(proximal.report.status, SolveStatus::converged);
  EXPECT_EQ(reference.report.iterations, proximal.report.iterations);
  EXPECT_EQ(reference.r, proximal.r);
  EXPECT_EQ(reference.report.message, "prox-newton");
}

/// A limit ends it in any stage, with the best answer of the stages so far.
TEST(Reference, KeepsToItsLimit) {
  const ContactProblem problem = make_planted_problem({.stiffness = 1.0}).problem;
  const int all = answer(problem, "reference", 1e-30, 1000000).report.iterations;
  for (const int most : {0, 1, all / 2, all - 1}) {
    const Answer found = answer(problem, "reference", 1e-30, most);
    EXPECT_EQ(found.report.status, SolveStatus::iteration_limit) << most;
    EXPECT_EQ(found.report.iterations, most);
  }
}

}  // namespace
}  // namespace signorini::reference_test
