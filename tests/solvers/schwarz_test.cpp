#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "record/fclib_file.h"
#include "solvers/delassus_solver.h"
#include "solvers/registry.h"
#include "solvers/schwarz/subdomains.h"

// Subdomains are what they claim, answers are those of the whole problem, and solvers follow a q that changes.

namespace signorini::schwarz_test {
namespace {

/// A connected net; with stiffness its W is full and most of it weak.
PlantedProblem net(int contacts, double stiffness, std::uint64_t seed = 7) {
  PlantedOptions options;
  options.contacts = contacts;
  options.sharing = 0.3;
  options.stiffness = stiffness;
  options.seed = seed;
  return make_planted_problem(options);
}

SolveReport solve(std::string_view name, const OptionMap& options, const ContactProblem& problem,
                  double residual, std::vector<double>& r, TaskArena* arena = nullptr) {
  const std::unique_ptr<Solver> solver = make_solver(name, options);
  solver->use_arena(arena);
  solver->prepare(problem);
  r.assign(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  StopRule stop;
  stop.residual = residual;
  return solver->solve(r, stop, nullptr);
}

// ---- subdomains

void expect_partition(const Subdomains& subdomains, Index contacts) {
  std::vector<int> owners(contacts, 0);
  for (const Subdomain& part : subdomains.parts) {
    EXPECT_TRUE(std::ranges::is_sorted(part.contacts));
    for (const Index i : part.own) ++owners[part.contacts[i]];
  }
  EXPECT_EQ(std::ranges::count(owners, 1), contacts) << "a contact is not written by exactly one subdomain";
  EXPECT_EQ(subdomains.colour_begin.back(), subdomains.parts.size());
}

TEST(Subdomains, EveryContactIsWrittenOnceWhateverTheOverlap) {
  const BlockSparseMatrix W = assemble_reduced(net(300, 0.0).problem).W;
  for (const int overlap : {0, 1, 2})
    for (const double strength : {0.0, 0.2, 1.0})
      expect_partition(make_subdomains(W, {40, overlap, strength}), W.block_rows);
}

TEST(Subdomains, OfAColourReadNothingThatAnotherOneOfItWrites) {
  const BlockSparseMatrix W = assemble_reduced(net(300, 0.0).problem).W;
  for (const int overlap : {0, 1}) {
    const Subdomains all = make_subdomains(W, {30, overlap, 0.0});
    ASSERT_GT(all.parts.size(), all.colours());
    for (std::size_t c = 0; c < all.colours(); ++c) {
      for (std::size_t p = all.colour_begin[c]; p < all.colour_begin[c + 1]; ++p) {
        std::set<Index> reads(all.parts[p].contacts.begin(), all.parts[p].contacts.end());
        for (const Index b : all.parts[p].outside) reads.insert(W.column[b]);
        for (std::size_t o = all.colour_begin[c]; o < all.colour_begin[c + 1]; ++o) {
          if (o == p) continue;
          for (const Index i : all.parts[o].own) EXPECT_EQ(reads.count(all.parts[o].contacts[i]), 0U);
        }
      }
    }
  }
}

TEST(Subdomains, StrengthOneIsOneColourAndOverlapGrowsThem) {
  const BlockSparseMatrix W = assemble_reduced(net(300, 0.0).problem).W;
  EXPECT_EQ(make_subdomains(W, {30, 0, 1.0}).colours(), 1U);
  const auto most = [&](int overlap) {
    std::size_t size = 0;
    for (const Subdomain& part : make_subdomains(W, {30, overlap, 0.0}).parts)
      size = std::max(size, part.contacts.size());
    return size;
  };
  EXPECT_LE(most(0), 45U);
  EXPECT_GT(most(1), most(0));
}

/// W_EE r_E + (q_E + W_Eo r_o) is u of the whole problem, to rounding.
TEST(Subdomains, OverlapEndsWithTheProblem) {
  const PlantedProblem planted = net(60, 0.0);
  std::vector<double> r;
  const SolveReport report =
      solve("schwarz", {{"overlap", "2147483647"}, {"size", "10"}}, planted.problem, 1e-6, r);
  EXPECT_EQ(report.status, SolveStatus::converged);
}

TEST(Subdomains, InsideAndOutsideMakeTheVelocityOfTheWhole) {
  const PlantedProblem planted = net(200, 10.0);
  const ReducedProblem whole = assemble_reduced(planted.problem);
  const std::span<const double> r(planted.r.data(), static_cast<std::size_t>(planted.r.size()));
  std::vector<double> u(r.size());
  multiply(whole.W, r, u);
  const double scale = whole.q.lpNorm<Eigen::Infinity>();
  for (const Subdomain& part : make_subdomains(whole.W, {30, 1, 0.1}).parts) {
    const ReducedProblem own = cut_subdomain(whole.W, whole.q, part);
    std::vector<double> q(3 * part.contacts.size()), r_own, u_own(q.size());
    outside_velocity(whole.W, whole.q, part, r, q);
    for (const Index k : part.contacts) r_own.insert(r_own.end(), r.begin() + 3 * k, r.begin() + 3 * k + 3);
    multiply(own.W, r_own, u_own);
    for (std::size_t i = 0; i < q.size(); ++i) {
      const Index row = 3 * part.contacts[i / 3] + static_cast<Index>(i % 3);
      // sums of some hundred terms in another order
      EXPECT_NEAR(q[i] + u_own[i], u[row] + whole.q[row], 1e-12 * scale);
    }
  }
}

// ---- a q that changes

/// Solvers with their default options on W and q.
std::vector<std::string> followers() {
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_registry()) {
    const std::unique_ptr<Solver> solver = make_solver(entry.name);
    const auto* delassus = dynamic_cast<const DelassusSolver*>(solver.get());
    if (delassus != nullptr && delassus->follows_free_velocity()) names.emplace_back(entry.name);
  }
  return names;
}

class FreeVelocity : public testing::TestWithParam<std::string> {};

TEST_P(FreeVelocity, ChangedGivesTheBitsOfASolverPreparedWithIt) {
  const ReducedProblem reduced = assemble_reduced(net(30, 5.0).problem);
  const Vector mu = Vector::Constant(30, 0.5);
  const Vector other = Vector::Random(reduced.q.size()) * reduced.q.lpNorm<Eigen::Infinity>();
  const auto prepared = [&](const Vector& q) {
    std::unique_ptr<Solver> solver = make_solver(GetParam());
    solver->prepare_island({reduced.W, q}, mu);
    return solver;
  };
  StopRule stop;
  stop.max_iterations = 40;
  std::vector<double> before(other.size(), 0.0), expected(other.size(), 0.0), r(other.size(), 0.0);
  const std::unique_ptr<Solver> changed = prepared(reduced.q), fresh = prepared(other);
  changed->solve(before, stop, nullptr);
  static_cast<DelassusSolver&>(*changed).change_free_velocity({other.data(), expected.size()});
  const SolveReport report = changed->solve(r, stop, nullptr);
  const SolveReport wanted = fresh->solve(expected, stop, nullptr);
  EXPECT_EQ(r, expected);
  EXPECT_NE(r, before);
  EXPECT_EQ(report.iterations, wanted.iterations);
  EXPECT_EQ(changed->largest_free_velocity(), fresh->largest_free_velocity());
}

INSTANTIATE_TEST_SUITE_P(AllSolvers, FreeVelocity, testing::ValuesIn(followers()), [](const auto& follower) {
  std::string name = follower.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// ---- the solver

/// Every form: the referee judges, subdomains are smaller than the problem.
TEST(Schwarz, MeetsTheResidualInAllForms) {
  const PlantedProblem nets[] = {net(200, 0.0), net(120, 5.0)};
  const std::vector<OptionMap> forms{{{"strength", "0"}},
                                     {{"strength", "0.1"}, {"overlap", "1"}},
                                     {{"strength", "0"}, {"outer", "none"}},
                                     {{"strength", "1"}, {"damping", "0.5"}},
                                     {{"outer", "nncg"}},
                                     {{"inner", "newton"}},
                                     {{"inner", "nsgs"}, {"inner_iterations", "3"}}};
  for (const PlantedProblem& planted : nets) {
    for (OptionMap options : forms) {
      options["size"] = "25";
      std::vector<double> r;
      const SolveReport report = solve("schwarz", options, planted.problem, 1e-8, r);
      EXPECT_LE(Referee(planted.problem).measure(r, {}).residual, 1e-8)
          << planted.problem.contacts() << " contacts, " << options.begin()->first << " = "
          << options.begin()->second;
      EXPECT_EQ(report.status, SolveStatus::converged);
    }
  }
}

TEST(Schwarz, OneSubdomainSolvedExactlyIsOneIteration) {
  const PlantedProblem planted = net(30, 0.0);
  std::vector<double> r;
  const SolveReport report =
      solve("schwarz", {{"size", "30"}, {"inner", "newton"}, {"inner_iterations", "100"}}, planted.problem,
            1e-1, r);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 1)
      << "the inner solver goes to a tenth of the first residual, which is 1 or less";
}

/// Subdomains of a colour side by side, one after the other for one core.
TEST(Schwarz, CountsItsWorkAndSpan) {
  const PlantedProblem planted = net(400, 0.0);
  const Subdomains all = make_subdomains(assemble_reduced(planted.problem).W, {30, 0, 0.1});
  double work = 0.0, span = 0.0;
  for (std::size_t c = 0; c < all.colours(); ++c) {
    std::size_t longest = 0;
    for (std::size_t p = all.colour_begin[c]; p < all.colour_begin[c + 1]; ++p) {
      work += static_cast<double>(all.parts[p].contacts.size());
      longest = std::max(longest, all.parts[p].contacts.size());
    }
    span += static_cast<double>(longest);
  }
  const std::unique_ptr<Solver> solver = make_solver("schwarz", {{"size", "30"}});
  solver->prepare(planted.problem);
  EXPECT_EQ(solver->work_and_span(1).work, work);
  EXPECT_EQ(solver->work_and_span(1).time, work);
  EXPECT_EQ(solver->work_and_span(64).span, span);
  EXPECT_LT(solver->work_and_span(64).time, work);
}

TEST(Schwarz, BitsDoNotDependOnThreads) {
  const PlantedProblem planted = net(400, 0.0);
  for (const char* strength : {"0", "0.1", "1"}) {
    const OptionMap options{{"size", "30"}, {"strength", strength}, {"damping", "0.7"}};
    std::vector<double> alone;
    const int iterations = solve("schwarz", options, planted.problem, 1e-6, alone).iterations;
    EXPECT_GT(iterations, 1);
    for (const int threads : {2, 4, 8, 16}) {
      TaskArena arena(threads);
      std::vector<double> shared;
      EXPECT_EQ(solve("schwarz", options, planted.problem, 1e-6, shared, &arena).iterations, iterations);
      EXPECT_EQ(shared, alone) << threads << " threads, strength " << strength;
    }
  }
}

/// Two contacts that push against each other, without a solution: sweeps go on for ever.
ContactProblem infeasible() {
  Matrix W = Matrix::Identity(6, 6);
  W(0, 3) = W(3, 0) = -1.0;
  return zoo::make_dual(W, zoo::vector_of({-1, 0, 0, -1, 0, 0}), zoo::vector_of({0, 0}));
}

TEST(Schwarz, TheTimeLimitHoldsInsideOfASubdomain) {
  const ContactProblem problem = infeasible();
  const std::unique_ptr<Solver> solver =
      make_solver("schwarz", {{"inner", "pgs"}, {"inner_iterations", "2000000000"}});
  solver->prepare(problem);
  std::vector<double> r(6, 0.0);
  StopRule stop;
  stop.time_limit = 0.05;
  EXPECT_EQ(solver->solve(r, stop, nullptr).status, SolveStatus::time_limit);
}

TEST(Schwarz, SizeMayBeLargerThanAnyProblem) {
  std::vector<double> r;
  EXPECT_EQ(solve("schwarz", {{"size", "2147483647"}}, net(60, 0.0).problem, 1e-6, r).status,
            SolveStatus::converged);
}

TEST(Schwarz, RefusesWhatCannotSolveASubdomain) {
  const auto message = [](const OptionMap& options) -> std::string {
    try {
      make_solver("schwarz", options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({{"inner", "cr-full"}}).find("inner = cr-full"), std::string::npos);
  EXPECT_NE(message({{"inner", "schwarz"}}).find("itself"), std::string::npos);
  EXPECT_NE(message({{"inner", "nncgg"}}).find("nncg"), std::string::npos) << "a suggestion";
  for (const char* key : {"size", "inner_iterations"})
    EXPECT_NE(message({{key, "0"}}).find(key), std::string::npos);
  EXPECT_NE(message({{"overlap", "-1"}}).find("overlap"), std::string::npos);
  EXPECT_NE(message({{"strength", "-0.1"}}).find("strength"), std::string::npos);
  for (const char* damping : {"0", "1.5", "nan"})
    EXPECT_NE(message({{"damping", damping}}).find("damping"), std::string::npos);
}

}  // namespace
}  // namespace signorini::schwarz_test
