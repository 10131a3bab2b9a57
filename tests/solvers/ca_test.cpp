#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"

namespace signorini::ca_test {
namespace {

/// W is the same but for roundings, whole and by islands, on one thread and on two.
TEST(Ca, SolvesWithColumnsOneByOneToo) {
  const PlantedProblem planted = make_planted_problem({.contacts = 40, .regions = 4, .stiffness = 1.0});
  const Referee referee(planted.problem);
  for (const char* columns : {"together", "one_by_one"}) {
    for (const RegionMode mode : {RegionMode::none, RegionMode::islands}) {
      for (const int threads : {1, 2}) {
        auto solver = make_region_solver("ca", {{"columns", columns}},
                                         {.mode = mode, .threads = threads, .head_start = 0.0});
        solver->prepare(planted.problem);
        std::vector<double> r(120, 0.0);
        StopRule stop;
        stop.residual = 1e-9;
        stop.max_iterations = 10'000;
        const SolveReport report = solver->solve(r, stop, nullptr);
        EXPECT_EQ(report.status, SolveStatus::converged) << columns << ", threads: " << threads;
        // two orders above the last bits of sums of 120 products
        EXPECT_LE(referee.measure(r, {}).residual, 1e-9 + 1e-12) << columns;
        EXPECT_EQ(solver->partition().regions(), mode == RegionMode::none ? 1 : 4);
      }
    }
  }
}

}  // namespace
}  // namespace signorini::ca_test
