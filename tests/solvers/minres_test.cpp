#include "solvers/active_set/minres.h"

#include <gtest/gtest.h>

#include <cmath>

#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

namespace signorini::minres_test {
namespace {

std::vector<double> iterate(const char* name, const OptionMap& options, const ContactProblem& problem,
                            std::span<const double> start, int iterations) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  std::vector<double> r(start.begin(), start.end());
  StopRule stop;
  stop.fixed_iterations = true;
  stop.max_iterations = iterations;
  solver->solve(r, stop, nullptr);
  return r;
}

/// On frozen states both minimise √(ρ·C⁻¹ρ) over the same Krylov space, C = Diag.
TEST(MinimalResiduals, HaveTheIteratesOfConjugateResidualsOnFrozenStates) {
  PlantedOptions planted;
  planted.contacts = 12;
  planted.stiffness = 1.0;
  ContactProblem problem = make_planted_problem(planted).problem;
  problem.mu.setZero();
  // all normals on; a start that leaves momenta and velocities, so that conjugate residuals need no guard
  std::vector<double> start(3 * problem.contacts(), 0.0);
  for (std::size_t k = 0; k < start.size() / 3; ++k)
    start[3 * k] = 0.5 + 0.1 * std::sin(static_cast<double>(k));
  for (const int iterations : {1, 2, 3, 5, 8}) {
    const OptionMap frozen{{"interval", "converged"}, {"judge", "own"}};
    const std::vector<double> cr = iterate("cr-diag", frozen, problem, start, iterations);
    const std::vector<double> minres = iterate("minres", {{"judge", "own"}}, problem, start, iterations);
    double largest = 0.0, apart = 0.0;
    for (std::size_t i = 0; i < cr.size(); ++i) {
      largest = std::max(largest, std::abs(cr[i]));
      apart = std::max(apart, std::abs(cr[i] - minres[i]));
    }
    // rounding of a few dozen products, amplified by short recurrences: 1e5 ε
    EXPECT_LE(apart, 2e-11 * largest) << iterations;
  }
}

class NormHistory : public IterationObserver {
 public:
  void on_iteration(int, std::span<const double>, std::string_view) override {}
  void on_progress(int, const IterationProgress& progress) override { seen.push_back(progress); }
  std::vector<IterationProgress> seen;
};

TEST(MinimalResiduals, TellTheirNormsAndCountersToTheObserver) {
  const ContactProblem problem = zoo::specimen("planted_implicit").problem;
  for (const char* name : {"minres", "cr-diag", "cr-full"}) {
    const auto solver = make_solver(name);
    solver->prepare(problem);
    std::vector<double> r(3 * problem.contacts(), 0.0), again = r;
    NormHistory history;
    const SolveReport report = solver->solve(r, {}, &history);
    EXPECT_EQ(enum_name(report.status), "converged") << name;
    ASSERT_EQ(count(history.seen), report.iterations) << name;
    long long products = 0;
    for (const IterationProgress& progress : history.seen) {
      EXPECT_TRUE(std::isfinite(progress.plain) && std::isfinite(progress.preconditioned)) << name;
      EXPECT_LE(progress.constraint, progress.plain) << name;
      EXPECT_GT(progress.counters.mass_products, products) << name;
      products = progress.counters.mass_products;
    }
    EXPECT_GT(report.counters.state_changes, 0) << name;
    EXPECT_GT(report.counters.evaluations, 0) << name;
    EXPECT_GE(report.counters.direction_products, 2 * report.counters.mass_products) << name;
    EXPECT_EQ(report.counters.mass_products, report.products) << name;
    // watching changes nothing
    solver->solve(again, {}, nullptr);
    EXPECT_EQ(again, r) << name;
  }
}

/// Switching on the way restarts the Lanczos process over and over; whatever comes of it, the status is true.
TEST(MinimalResiduals, SayWhetherSwitchingOnTheWayArrived) {
  for (const char* specimen : {"planted_cone", "planted_implicit", "planted_implicit_regions"}) {
    const ContactProblem problem = zoo::specimen(specimen).problem;
    const auto solver = make_solver("minres", {{"switching", "on-the-way"}});
    solver->prepare(problem);
    std::vector<double> r(3 * problem.contacts(), 0.0);
    StopRule stop;
    stop.max_iterations = 3000;
    const SolveReport report = solver->solve(r, stop, nullptr);
    const double residual = Referee(problem).measure(r, {}).residual;
    EXPECT_EQ(report.status == SolveStatus::converged, residual <= stop.residual)
        << specimen << " " << enum_name(report.status) << " " << residual;
  }
}

/// The printed gates ask for a change of the impulse, which is 0 for a contact that is to be switched on
/// (C34, T18).
TEST(ConjugateResiduals, NothingIsEverSwitchedOnByThePrintedGates) {
  const ContactProblem problem = zoo::specimen("h1").problem;
  const auto solver = make_solver("cr-full", {{"gates", "printed"}, {"prediction", "single"}});
  solver->prepare(problem);
  std::vector<double> r(3, 0.0);
  const SolveReport report = solver->solve(r, {}, nullptr);
  EXPECT_NE(report.status, SolveStatus::converged);
  EXPECT_EQ(r, std::vector<double>(3, 0.0));
}

/// C38, H10: without the guard Diag divides 0 by 0 at the free velocity.
TEST(ConjugateResiduals, DiagBreaksDownWithoutItsGuard) {
  const ContactProblem problem = zoo::specimen("h1").problem;
  const auto solver = make_solver("cr-diag", {{"breakdown_guard", "false"}, {"prediction", "single"}});
  solver->prepare(problem);
  std::vector<double> r(3, 0.0);
  const SolveReport report = solver->solve(r, {}, nullptr);
  EXPECT_EQ(enum_name(report.status), "diverged");
  for (const double x : r) EXPECT_TRUE(std::isfinite(x));
}

/// After `update_contacts` a solve starts from the last velocities: what has not changed is solved already.
TEST(ConjugateResiduals, StartFromTheLastVelocitiesAfterAnUpdateOfContacts) {
  ContactProblem problem = zoo::specimen("planted_implicit").problem;
  for (const char* name : {"cr-full", "cr-diag"}) {
    const auto solver = make_solver(name);
    solver->prepare(problem);
    std::vector<double> r(3 * problem.contacts(), 0.0);
    const SolveReport cold = solver->solve(r, {}, nullptr);
    ContactProblem moved = problem;
    moved.w *= 1.0 + 1e-3;
    solver->update_contacts(moved);
    std::vector<double> warm = r;
    const SolveReport report = solver->solve(warm, {}, nullptr);
    EXPECT_EQ(enum_name(report.status), "converged") << name;
    EXPECT_LT(report.iterations, cold.iterations) << name;
    EXPECT_LE(Referee(moved).measure(warm, {}).residual, 1e-6) << name;
    std::vector<double> second = r;
    solver->solve(second, {}, nullptr);
    EXPECT_EQ(second, warm) << name;
  }
}

}  // namespace
}  // namespace signorini::minres_test
