#include "solvers/region_solver.h"

#include <gtest/gtest.h>

#include <cstring>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "solvers/region_tasks.h"
#include "solvers/registry.h"

namespace signorini::inner_regions_test {
namespace {

/// One stiff body with contacts that share few mass points: one island, several regions.
ContactProblem stiff_problem() {
  PlantedOptions options;
  options.contacts = 24;
  options.regions = 6;
  options.stiffness = 10.0;
  options.seed = 5;
  ContactProblem problem = make_planted_problem(options).problem;
  problem.W = SparseRows();
  problem.q = Vector();
  // springs between the regions: nodes i and i + 5 of M, by a positive definite addition (a − b)(a − b)ᵀ
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < problem.dofs(); ++i) {
    for (SparseRows::InnerIterator e(problem.M, i); e; ++e) entries.emplace_back(i, e.index(), e.value());
  }
  for (Index i = 0; i + 15 < problem.dofs(); ++i) {
    entries.emplace_back(i, i, 1.0);
    entries.emplace_back(i + 15, i + 15, 1.0);
    entries.emplace_back(i, i + 15, -1.0);
    entries.emplace_back(i + 15, i, -1.0);
  }
  problem.M.setZero();
  problem.M.setFromTriplets(entries.begin(), entries.end());
  return problem;
}

Vector solve(Solver& solver, const ContactProblem& problem) {
  Vector r = Vector::Zero(3 * problem.contacts());
  StopRule stop;
  stop.residual = 1e-8;
  EXPECT_EQ(solver.solve(span_of(r), stop, nullptr).status, SolveStatus::converged);
  return r;
}

TEST(InnerRegions, GiveTheBitsOfTheWholeOnAnyNumberOfThreads) {
  const ContactProblem problem = stiff_problem();
  ASSERT_EQ(partition_regions(problem, RegionMode::islands).regions(), 1);
  int solvers = 0;
  for (const SolverEntry& entry : solver_registry()) {
    if (!entry.traits.inner_regions) continue;
    ++solvers;
    const auto whole = make_solver(entry.name);
    whole->prepare(problem);
    const Vector expected = solve(*whole, problem);
    EXPECT_LE(Referee(problem).measure(span_of(expected), whole->common().spec()).residual, 1e-8);
    for (const int threads : {1, 2, 4, 8, 16}) {
      SCOPED_TRACE(fmt::format("{}, {} threads", entry.name, threads));
      const auto split = make_region_solver(
          entry.name, {}, {.mode = RegionMode::points_inner, .threads = threads, .head_start = 0.0});
      ASSERT_EQ(split->unsupported_reason(problem), "");
      split->prepare(problem);
      EXPECT_GT(split->partition().regions(), 1);
      const Vector r = solve(*split, problem);
      EXPECT_EQ(std::memcmp(r.data(), expected.data(), sizeof(double) * r.size()), 0);
    }
  }
  EXPECT_GE(solvers, 1);
}

TEST(InnerRegions, AreRefusedWhereASolverHasNoInnerProblem) {
  const ContactProblem problem = stiff_problem();
  for (const SolverEntry& entry : solver_registry()) {
    if (entry.traits.inner_regions) continue;
    const auto solver = make_region_solver(
        entry.name, {}, {.mode = RegionMode::points_inner, .threads = 2, .head_start = 0.0});
    EXPECT_NE(solver->unsupported_reason(problem).find("points-inner"), std::string::npos) << entry.name;
  }
}

}  // namespace
}  // namespace signorini::inner_regions_test
