#include <gtest/gtest.h>

#include <Eigen/SparseCore>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "contact/delassus_operator.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "regions/region_extractor.h"
#include "solvers/region_tasks.h"
#include "solvers/registry.h"

// The same bits for any number of threads, and the same answer split or not, for every registered solver.

namespace signorini::determinism_test {
namespace {

ContactProblem planted(int contacts, int regions, double stiffness, std::uint64_t seed) {
  PlantedOptions options;
  options.contacts = contacts;
  options.regions = regions;
  options.stiffness = stiffness;
  options.seed = seed;
  return make_planted_problem(options).problem;
}

/// The two problems side by side, contacts in a shuffled order, primal part only: regions of very different sizes whose
/// contacts are interleaved.
ContactProblem shuffled_union(const ContactProblem& a, const ContactProblem& b, std::uint64_t seed) {
  const Index m = a.contacts() + b.contacts();
  std::vector<Index> place(m);
  std::iota(place.begin(), place.end(), Index{0});
  Rng rng(seed);
  for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[rng.below(i)]);

  std::vector<Eigen::Triplet<double, Index>> mass;
  std::vector<Eigen::Triplet<double, Index>> directions;
  ContactProblem out;
  out.f.resize(a.dofs() + b.dofs());
  out.w.resize(3 * m);
  out.mu.resize(m);
  Index dof0 = 0;
  Index contact0 = 0;
  for (const ContactProblem* part : {&a, &b}) {
    for (Index i = 0; i < part->dofs(); ++i) {
      for (SparseRows::InnerIterator e(part->M, i); e; ++e) {
        mass.emplace_back(dof0 + i, dof0 + e.index(), e.value());
      }
      out.f[dof0 + i] = part->f[i];
    }
    for (Index k = 0; k < part->contacts(); ++k) {
      const Index to = place[contact0 + k];
      for (Index c = 0; c < 3; ++c) {
        for (SparseColumns::InnerIterator e(part->H, 3 * k + c); e; ++e) {
          directions.emplace_back(dof0 + e.index(), 3 * to + c, e.value());
        }
      }
      out.w.segment<3>(3 * to) = part->w.segment<3>(3 * k);
      out.mu[to] = part->mu[k];
    }
    dof0 += part->dofs();
    contact0 += part->contacts();
  }
  out.M.resize(dof0, dof0);
  out.M.setFromTriplets(mass.begin(), mass.end());
  out.H.resize(dof0, 3 * m);
  out.H.setFromTriplets(directions.begin(), directions.end());
  return out;
}

ContactProblem dual_of(const ContactProblem& primal) {
  ContactProblem dual;
  dual.W = to_scalar(assemble_delassus(primal));
  dual.q = assemble_q(primal);
  dual.mu = primal.mu;
  return dual;
}

struct Case {
  const char* name;
  ContactProblem problem;
  RegionMode mode;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> list;
    const ContactProblem loose = shuffled_union(planted(30, 1, 0.0, 1), planted(36, 12, 0.0, 2), 3);
    list.push_back({"explicit, one large and twelve small regions", loose, RegionMode::points});
    list.push_back({"the same by islands", loose, RegionMode::islands});
    list.push_back(
        {"implicit", shuffled_union(planted(16, 1, 2.0, 4), planted(24, 6, 2.0, 5), 6), RegionMode::islands});
    list.push_back({"dual", dual_of(loose), RegionMode::points});
    return list;
  }();
  return all;
}

std::vector<double> zeros(const ContactProblem& problem) {
  return std::vector<double>(3 * problem.contacts(), 0.0);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// As every solver is registered, and with the pyramid in turned frames.
class Determinism : public ::testing::TestWithParam<std::size_t> {
 protected:
  const SolverEntry& entry() const { return solver_registry()[GetParam()]; }
  std::string_view solver() const { return entry().name; }
  /// Solvers on velocities take no W alone.
  bool takes(const Case& c) const {
    return c.problem.has_primal() || make_solver(solver())->unsupported_reason(c.problem).empty();
  }
  std::vector<OptionMap> option_sets() const {
    if (!entry().traits.pyramid) return {{}};
    return {{}, {{"law", "pyramid"}, {"frame", "aligned"}}};
  }
};

TEST_P(Determinism, AnyNumberOfThreadsGivesTheSameBits) {
  StopRule stop;
  stop.residual = 1e-7;
  stop.max_iterations = 120;
  for (const Case& c : cases()) {
    if (!takes(c)) continue;
    for (const OptionMap& options : option_sets()) {
      std::vector<double> first;
      SolveReport first_report;
      for (const int threads : {1, 2, 4, 8, 16}) {
        const auto tasks =
            make_region_solver(solver(), options, {.mode = c.mode, .threads = threads, .head_start = 0.0});
        ASSERT_EQ(tasks->unsupported_reason(c.problem), "") << c.name;
        tasks->prepare(c.problem);
        for (int repetition = 0; repetition < 2; ++repetition) {
          auto r = zeros(c.problem);
          const SolveReport report = tasks->solve(r, stop, nullptr);
          if (first.empty()) {
            first = r;
            first_report = report;
          }
          EXPECT_TRUE(same_bits(first, r))
              << c.name << ", threads " << threads << ", repetition " << repetition;
          EXPECT_EQ(report.status, first_report.status) << c.name;
          EXPECT_EQ(report.iterations, first_report.iterations) << c.name;
          EXPECT_EQ(report.products, first_report.products) << c.name;
        }
      }
    }
  }
}

TEST_P(Determinism, ThreadsInsideOneProblemGiveTheSameBits) {
  StopRule stop;
  stop.residual = 1e-7;
  stop.max_iterations = 120;
  for (const Case& c : cases()) {
    if (!takes(c)) continue;
    for (const OptionMap& options : option_sets()) {
      const auto alone = make_solver(solver(), options);
      alone->prepare(c.problem);
      auto expected = zeros(c.problem);
      const SolveReport expected_report = alone->solve(expected, stop, nullptr);
      for (const int threads : {1, 2, 4, 8, 16}) {
        TaskArena arena(threads);
        const auto together = make_solver(solver(), options);
        together->use_arena(&arena);
        together->prepare(c.problem);
        auto r = zeros(c.problem);
        const SolveReport report = together->solve(r, stop, nullptr);
        EXPECT_TRUE(same_bits(expected, r)) << c.name << ", threads " << threads;
        EXPECT_EQ(report.iterations, expected_report.iterations) << c.name;
      }
    }
  }
}

/// Solvers on impulses. Products and sweeps are cut into parts of at most 1,024 contacts, so that this island has several.
TEST_P(Determinism, ThreadsInsideALargeIslandGiveTheSameBits) {
  if (!entry().traits.parallel || entry().traits.needs != SolverNeeds::delassus) return;
  static const ContactProblem pile = make_pile_problem({.contacts = 3000, .seed = 7});
  StopRule stop;
  stop.residual = 1e-9;
  stop.max_iterations = 12;
  std::vector<double> expected;
  SolveReport expected_report;
  for (const int threads : {1, 2, 4, 8, 16}) {
    TaskArena arena(threads);
    const auto solver = make_solver(this->solver());
    solver->use_arena(threads == 1 ? nullptr : &arena);
    solver->prepare(pile);
    auto r = zeros(pile);
    const SolveReport report = solver->solve(r, stop, nullptr);
    if (expected.empty()) {
      expected = r;
      expected_report = report;
      EXPECT_GT(*std::ranges::max_element(r), 0.0);
    }
    EXPECT_TRUE(same_bits(expected, r)) << "threads " << threads;
    EXPECT_EQ(report.products, expected_report.products) << "threads " << threads;
  }
}

TEST_P(Determinism, EveryRegionGetsWhatItWouldGetAlone) {
  StopRule stop;
  stop.residual = 1e-7;
  stop.max_iterations = 120;
  for (const Case& c : cases()) {
    if (!takes(c)) continue;
    RegionTasks tasks(make_solver(solver()), {c.mode, 4});
    tasks.prepare(c.problem);
    auto r = zeros(c.problem);
    tasks.solve(r, stop, nullptr);
    StopRule alone = stop;
    alone.velocity_scale = assemble_q(c.problem).lpNorm<Eigen::Infinity>();
    const RegionExtractor extractor(c.problem, tasks.partition());
    for (Index i = 0; i < extractor.regions(); ++i) {
      const ContactProblem part = extractor.extract(i);
      const auto inner = make_solver(solver());
      inner->prepare(part);
      auto own = zeros(part);
      const SolveReport report = inner->solve(own, alone, nullptr);
      const auto contacts = tasks.partition().region(i);
      std::vector<double> got;
      for (const Index k : contacts) {
        got.insert(got.end(), r.begin() + 3 * k, r.begin() + 3 * k + 3);
      }
      EXPECT_TRUE(same_bits(own, got)) << c.name << ", region " << i;
      EXPECT_EQ(report.iterations, tasks.region_reports()[i].iterations);
    }
  }
}

// Split or not, the answers solve the same problem: both meet the tolerance, and the velocities that they leave agree. For
// μ = 0 the velocity is the projection of M⁻¹f in the metric of M, so an error e in the contact velocities moves it by a
// multiple of e: 1e3 times the stop tolerance allows for the condition of W.
TEST_P(Determinism, SplitAndWholeAgree) {
  StopRule stop;
  stop.residual = 1e-9;
  stop.max_iterations = 3000;
  for (const Case& c : cases()) {
    if (!takes(c)) continue;
    ContactProblem problem = c.problem;
    problem.mu.setZero();
    const auto whole_solver = make_solver(solver());
    const auto split_solver =
        make_region_solver(solver(), {}, {.mode = c.mode, .threads = 2, .head_start = 0.0});
    whole_solver->prepare(problem);
    split_solver->prepare(problem);
    auto whole = zeros(problem);
    auto split = zeros(problem);
    const SolveReport a = whole_solver->solve(whole, stop, nullptr);
    const SolveReport b = split_solver->solve(split, stop, nullptr);
    EXPECT_EQ(a.status, SolveStatus::converged) << c.name;
    EXPECT_EQ(b.status, SolveStatus::converged) << c.name;
    const Referee referee(problem);
    EXPECT_LE(referee.measure(split, split_solver->common().spec()).residual, stop.residual) << c.name;
    const Vector difference = referee.relative_velocity(whole) - referee.relative_velocity(split);
    EXPECT_LE(difference.lpNorm<Eigen::Infinity>() / referee.velocity_scale(), 1e3 * stop.residual) << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, Determinism, ::testing::Range(std::size_t{0}, solver_registry().size()),
                         [](const auto& param) {
                           std::string name(solver_registry()[param.param].name);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace signorini::determinism_test
