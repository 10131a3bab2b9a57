// `auto`: what it chooses, and that what it chose arrives.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "record/fclib_file.h"
#include "solvers/portfolio/sweep_record.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"

namespace signorini::auto_test {
namespace {

ContactProblem reference(const char* name) {
  const std::filesystem::path folder =
      std::filesystem::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems" / "reference";
  return read_fclib(folder / (std::string(name) + ".hdf5")).problem;
}

struct Answer {
  std::vector<double> r;
  SolveReport report;
  double residual = 0.0;
};

Answer solved(Solver& solver, const ContactProblem& problem, double residual) {
  solver.prepare(problem);
  Answer answer;
  answer.r.assign(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = 100000;
  answer.report = solver.solve(answer.r, stop, nullptr);
  answer.residual = Referee(problem).measure(answer.r, solver.common().spec()).residual;
  return answer;
}

TEST(Auto, SaysWhatItUsed) {
  const auto solver = make_solver("auto");
  EXPECT_EQ(solved(*solver, reference("expl"), 1e-6).report.message, "impulses");
  const std::string used = solved(*solver, reference("f4"), 1e-6).report.message;
  EXPECT_TRUE(used == "velocities" || used == "both") << used;
  EXPECT_EQ(solved(*solver, zoo::specimen("h5_anisotropic_dual").problem, 1e-6).report.message, "impulses");
}

TEST(Auto, SolvesTheReferenceProblemsToAnyTolerance) {
  for (const char* name : {"expl", "f2", "f3", "f4", "fE", "net0", "net1", "net3"}) {
    const ContactProblem problem = reference(name);
    for (const double residual : {1e-3, 1e-6, 1e-10}) {
      const auto solver = make_solver("auto");
      const Answer answer = solved(*solver, problem, residual);
      EXPECT_EQ(enum_name(answer.report.status), "converged") << name << " to " << residual;
      EXPECT_LE(answer.residual, residual) << name;
    }
  }
}

/// Every island of an implicit problem is solved on W cut from one assembly or apart: both arrive.
TEST(Auto, SolvesIslandsApart) {
  for (const char* name : {"expl", "fE"}) {
    const ContactProblem problem = reference(name);
    const auto solver = make_region_solver("auto", {}, {RegionMode::islands, 1});
    const Answer answer = solved(*solver, problem, 1e-8);
    EXPECT_EQ(enum_name(answer.report.status), "converged") << name;
    EXPECT_LE(answer.residual, 1e-8) << name;
  }
}

/// Sweeps alone contract here by 1 − 10⁻⁶ each (zoo: heavy_stack): Newton steps take over.
TEST(Auto, TakesNewtonStepsWhereSweepsDoNotArrive) {
  const auto solver = make_solver("auto");
  const Answer answer = solved(*solver, zoo::specimen("stack_mass_ratio_1e6").problem, 1e-8);
  EXPECT_EQ(enum_name(answer.report.status), "converged");
  EXPECT_LT(answer.report.iterations, 2000);
}

TEST(SweepRecord, TellsTheRateOfAGeometricSequence) {
  SweepRecord record;
  record.begin(1.0);
  double error = 1.0;
  for (int sweep = 0; sweep < 20; ++sweep) record.add(error *= 0.5);
  EXPECT_NEAR(record.rate(), std::log(2.0), 1e-12);
  EXPECT_NEAR(record.left(error / 1024.0), 10.0, 1e-9);
  EXPECT_EQ(record.left(error), 0.0);
  SweepRecord still;
  still.begin(1.0);
  for (int sweep = 0; sweep < 20; ++sweep) still.add(1.0);
  EXPECT_TRUE(std::isinf(still.left(0.5)));
}

}  // namespace
}  // namespace signorini::auto_test
