// Accelerated sweeps: they are plain sweeps where acceleration is off, follow the published recurrences where it
// is on, and solve affine problems in as many sweeps as these have dimensions.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "contact/delassus_operator.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "linalg/random_blocks.h"
#include "solvers/accelerated/anderson_history.h"
#include "solvers/accelerated/stall_guard.h"
#include "solvers/registry.h"
#include "solvers/relaxation/gauss_seidel.h"

namespace signorini::accelerated_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;
constexpr std::array<FrictionLaw, 2> kLaws{FrictionLaw::cone, FrictionLaw::pyramid};

class Iterates : public IterationObserver {
 public:
  void on_iteration(int iteration, std::span<const double> r, std::string_view) override {
    if (iteration > 0) all.emplace_back(r.begin(), r.end());
  }
  std::vector<std::vector<double>> all;
};

struct Answer {
  SolveReport report;
  std::vector<std::vector<double>> iterates;
  std::vector<double> r;
};

Answer solve(std::string_view name, OptionMap options, FrictionLaw law, const ContactProblem& problem,
             const StopRule& stop) {
  options["law"] = enum_name(law);
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  Answer answer;
  answer.r.assign(3 * problem.contacts(), 0.0);
  Iterates iterates;
  answer.report = solver->solve(answer.r, stop, &iterates);
  answer.iterates = std::move(iterates.all);
  return answer;
}

StopRule sweeps(int number) {
  StopRule stop;
  stop.max_iterations = number;
  stop.fixed_iterations = true;
  return stop;
}

StopRule to(double residual) {
  StopRule stop;
  stop.residual = residual;
  return stop;
}

ContactProblem planted(double stiffness, std::uint64_t seed) {
  PlantedOptions options;
  options.contacts = 24;
  options.stiffness = stiffness;
  options.seed = seed;
  return make_planted_problem(options).problem;
}

std::vector<ContactProblem> problems() {
  return {planted(0.0, 3), planted(1.0, 4), zoo::specimen("four_legged_plate").problem,
          zoo::specimen("planted_duplicates").problem, zoo::specimen("h5_anisotropic").problem};
}

/// `height` points of mass 1, each on the one below, all at −1 m/s.
ContactProblem tower(int height) {
  zoo::PointWorld world;
  for (int k = 0; k < height; ++k) {
    world.mass.push_back(1.0);
    world.free_velocity.emplace_back(0.0, 0.0, -1.0);
    world.contacts.push_back({k, k - 1, zoo::floor_frame(), 0.5});
  }
  return world.build();
}

TEST(Nncg, IsProjectedGaussSeidelWhereEveryDirectionIsGivenUp) {
  for (const FrictionLaw law : kLaws) {
    for (const ContactProblem& problem : problems()) {
      for (const char* form : {"robust", "printed"}) {
        const Answer plain = solve("pgs", {}, law, problem, sweeps(40));
        const Answer nncg = solve("nncg", {{"restart_above", "0"}, {"form", form}}, law, problem, sweeps(40));
        EXPECT_EQ(nncg.iterates, plain.iterates) << form;
      }
    }
  }
}

TEST(Anderson, IsProjectedGaussSeidelWithoutAWindow) {
  for (const FrictionLaw law : kLaws) {
    for (const ContactProblem& problem : problems()) {
      const Answer plain = solve("pgs", {}, law, problem, sweeps(40));
      EXPECT_EQ(solve("anderson", {{"window", "0"}}, law, problem, sweeps(40)).iterates, plain.iterates);
    }
  }
}

/// Silcowitz, Niebe and Erleben 2010, Algorithm 2, word by word, with our departures where not `printed`. `scale`:
/// diagonal of the metric.
std::vector<Vector> published_iterates(const GaussSeidelData& data, const Vector& scale, bool printed,
                                       int iterations) {
  std::vector<Vector> all;
  Vector lambda = Vector::Zero(data.q.size());
  Vector next = lambda;
  gauss_seidel_sweep(data, span_of(next));
  all.push_back(next);
  Vector gradient = lambda - next;
  Vector p = -gradient;
  lambda = next;
  while (count(all) < iterations) {
    next = lambda;
    gauss_seidel_sweep(data, span_of(next));
    all.push_back(next);
    const Vector old = gradient;
    gradient = lambda - next;
    double beta = gradient.dot(scale.cwiseProduct(gradient)) / old.dot(scale.cwiseProduct(old));
    lambda = next;
    const bool returns = !printed && gradient.dot(scale.cwiseProduct(p)) > 0.0;
    const bool grows = !(beta <= (printed ? 1.0 : 1.5));
    beta = std::min(1.0, beta);
    if (grows || returns) {
      p.setZero();
    } else {
      lambda += beta * p;
      p = (beta * p - gradient).eval();
    }
  }
  return all;
}

TEST(Nncg, FollowsThePublishedAlgorithm) {
  for (const FrictionLaw law : kLaws) {
    for (const ContactProblem& problem : problems()) {
      ReducedProblem reduced = assemble_reduced(problem);
      const GaussSeidelData data =
          make_gauss_seidel_data(reduced.W, reduced.q, problem.mu, law, natural_tangent_step(law));
      for (const bool printed : {true, false}) {
        Vector scale = Vector::Ones(data.q.size());
        for (Index k = 0; k < data.contacts() && !printed; ++k)
          scale.segment<3>(3 * k) = Eigen::Map<const Vector3>(data.contact[k].inverse_mass);
        const std::vector<Vector> expected = published_iterates(data, scale, printed, 30);
        const Answer found =
            solve("nncg", {{"form", printed ? "printed" : "robust"}}, law, problem, sweeps(30));
        ASSERT_EQ(found.iterates.size(), expected.size());
        const double size = expected.back().cwiseAbs().maxCoeff();
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const Eigen::Map<const Vector> r(found.iterates[i].data(), expected[i].size());
          // 30 steps from sums in another order: each may amplify a rounding of β, p by ten or so
          EXPECT_LE((r - expected[i]).cwiseAbs().maxCoeff(), 1e-11 * size) << i;
        }
      }
    }
  }
}

TEST(Nncg, CountsWhatItDoes) {
  const Answer found = solve("nncg", {}, FrictionLaw::cone, planted(0.0, 3), to(1e-8));
  EXPECT_EQ(found.report.status, SolveStatus::converged);
  EXPECT_EQ(found.report.counters.contact_sweeps, found.report.iterations);
  EXPECT_GT(found.report.counters.restarts, 0);
  EXPECT_EQ(found.report.counters.guards, 0);
}

struct Effort {
  int sweeps = 0, unsolved = 0;
};

/// All of ten planted problems, to residual 1e-8 within 3,000 sweeps each.
Effort effort(std::string_view name, const OptionMap& options, PlantedOptions planted) {
  Effort sum;
  for (int seed = 1; seed <= 10; ++seed) {
    planted.seed = static_cast<std::uint64_t>(seed);
    StopRule stop = to(1e-8);
    stop.max_iterations = 3000;
    const auto report =
        solve(name, options, FrictionLaw::cone, make_planted_problem(planted).problem, stop).report;
    sum.sweeps += report.iterations;
    sum.unsolved += report.status == SolveStatus::converged ? 0 : 1;
  }
  return sum;
}

PlantedOptions easy() {
  PlantedOptions options;
  options.contacts = 10;
  options.mu = 0.3;
  return options;
}

/// Stiff bodies that share contacts, with more friction than Gauss–Seidel takes.
PlantedOptions hard() {
  PlantedOptions options;
  options.contacts = 30;
  options.mu = 1.5;
  options.sharing = 0.5;
  options.stiffness = 10.0;
  return options;
}

/// Where plain sweeps converge fast, directions that are kept too long double their number: 197 instead of 96 with the
/// printed form, 108 with restarts where a sweep goes back.
TEST(Nncg, DoesNotOvershootWhereSweepsConvergeFast) {
  const Effort plain = effort("pgs", {}, easy());
  EXPECT_LE(4 * effort("nncg", {}, easy()).sweeps, 5 * plain.sweeps);
  EXPECT_GE(2 * effort("nncg", {{"form", "printed"}}, easy()).sweeps, 3 * plain.sweeps);
}

/// Of ten problems the printed form leaves 7 unsolved, plain sweeps 4, the robust form 2.
TEST(Nncg, SolvesMoreThanThePrintedForm) {
  EXPECT_LT(effort("nncg", {}, hard()).unsolved, effort("nncg", {{"form", "printed"}}, hard()).unsolved);
}

/// Of the same ten problems none is left with the guard, 7 are without.
TEST(Anderson, SolvesMoreWithItsGuard) {
  EXPECT_LT(effort("anderson", {}, hard()).unsolved,
            effort("anderson", {{"guard", "none"}}, hard()).unsolved);
}

/// Gauss–Seidel carries the weight down one contact per sweep and needs sweeps in proportion to the square of the
/// height; conjugate directions in proportion to the height.
TEST(Nncg, ClimbsATowerInFarFewerSweeps) {
  const ContactProblem problem = tower(20);
  const int plain = solve("pgs", {}, FrictionLaw::cone, problem, to(1e-8)).report.iterations;
  const Answer nncg = solve("nncg", {}, FrictionLaw::cone, problem, to(1e-8));
  EXPECT_EQ(nncg.report.status, SolveStatus::converged);
  EXPECT_LE(4 * nncg.report.iterations, plain);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(nncg.r[3 * k], 20.0 - static_cast<double>(k), 1e-5);
}

/// While both contacts press, the sweep over two stacked points is affine and moves along a line (r_1 follows from
/// r_2): two differing sweeps tell its fixed point.
TEST(Anderson, SolvesTwoStackedPointsInFourSweeps) {
  const zoo::Specimen stack = zoo::specimen("h2_stack");
  const Answer plain = solve("pgs", {}, FrictionLaw::cone, stack.problem, to(1e-12));
  const Answer found = solve("anderson", {{"window", "1"}}, FrictionLaw::cone, stack.problem, to(1e-12));
  EXPECT_EQ(found.report.status, SolveStatus::converged);
  EXPECT_LE(found.report.iterations, 5);
  EXPECT_GT(plain.report.iterations, 60);  // (2/3)^k ≤ 1e-12 after 68 sweeps
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(found.r[i], stack.cone[i], 1e-11);
}

TEST(Anderson, CountsWhatItDoes) {
  const Answer found = solve("anderson", {}, FrictionLaw::cone, planted(1.0, 4), to(1e-8));
  EXPECT_EQ(found.report.status, SolveStatus::converged);
  EXPECT_EQ(found.report.counters.contact_sweeps, found.report.iterations);
}

/// y = A x + c in three dimensions: four pairs tell the fixed point, whatever the scale, also past an eigenvalue
/// of size two.
TEST(AndersonHistory, FindsTheFixedPointOfAnAffineMap) {
  Matrix3 A;
  A << 0.5, 0.3, 0.0, -0.2, 2.0, 0.1, 0.0, 0.4, -0.7;
  const Vector3 c(1.0, -2.0, 0.5);
  const Vector3 answer = (Matrix3::Identity() - A).inverse() * c;
  for (const Vector3& scale : {Vector3(1.0, 1.0, 1.0), Vector3(0.3, 1.0, 3.0)}) {
    AndersonHistory history;
    history.prepare(span_of(Vector(scale)), 3);
    Vector x = Vector::Zero(3);
    for (int pair = 0; pair < 4; ++pair) {
      const Vector y = A * x + c;
      history.append(span_of(y), span_of(Vector(y - x)));
      x = y;
      EXPECT_EQ(history.extrapolate(span_of(x)), pair > 0);
    }
    // the shift of 1e-12 of the normal equations, times their condition: 10 times the error observed
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], answer[i], 1e-7);
    history.forget();
    EXPECT_FALSE(history.extrapolate(span_of(x)));
  }
}

/// Longer than a piece that is worked on at once, and a window that has gone round: the least-squares property.
TEST(AndersonHistory, LeavesTheLeastDifferenceThatItsColumnsAllow) {
  constexpr Eigen::Index n = 3000;
  constexpr int window = 4;
  AndersonHistory history;
  const Vector scale = test::random_vector(n, 1).cwiseAbs() + Vector::Ones(n);
  history.prepare(span_of(scale), window);
  std::vector<Vector> y, f;
  for (int pair = 0; pair < 7; ++pair) {
    y.push_back(test::random_vector(n, 100 + pair));
    f.push_back(test::random_vector(n, 200 + pair));
    history.append(span_of(y.back()), span_of(f.back()));
  }
  Matrix columns(n, window);
  for (int j = 0; j < window; ++j) columns.col(j) = scale.cwiseProduct(f[6 - j] - f[5 - j]);
  const Vector gamma = columns.colPivHouseholderQr().solve(Vector(scale.cwiseProduct(f[6])));
  Vector expected = y[6];
  for (int j = 0; j < window; ++j) expected -= gamma[j] * (y[6 - j] - y[5 - j]);
  Vector x = y[6];
  ASSERT_TRUE(history.extrapolate(span_of(x)));
  EXPECT_LE((x - expected).cwiseAbs().maxCoeff(), 1e-10);  // shift 1e-12 and a condition of about 10
}

TEST(AndersonHistory, OffersNothingFromDifferencesThatVanish) {
  AndersonHistory history;
  history.prepare(span_of(Vector(Vector::Ones(3))), 2);
  const Vector y = Vector::Ones(3), f = Vector::Ones(3);
  history.append(span_of(y), span_of(f));
  history.append(span_of(y), span_of(f));
  Vector x = y;
  EXPECT_FALSE(history.extrapolate(span_of(x)));
  EXPECT_EQ(x, y);
}

TEST(StallGuard, LetsProgressGoOnAndAnswersStallsWithLongerAndLongerSpells) {
  StallGuard guard;
  double square = 1.0;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(guard.allows(square *= 0.999));
  EXPECT_EQ(guard.spells(), 0);
  std::vector<int> spells;
  int plain = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!guard.allows(1.0)) {
      ++plain;
    } else if (plain > 0) {
      spells.push_back(plain);
      plain = 0;
    }
  }
  ASSERT_GE(spells.size(), 3U);
  for (std::size_t i = 1; i < spells.size(); ++i) EXPECT_EQ(spells[i], 2 * spells[i - 1]);
}

TEST(AcceleratedOptions, RefuseWhatMeansNothing) {
  EXPECT_THROW(make_solver("nncg", {{"restart_above", "inf"}}), UsageError);
  EXPECT_THROW(make_solver("nncg", {{"restart_above", "-0.1"}}), UsageError);
  EXPECT_THROW(make_solver("nncg", {{"restart_above", "nan"}}), UsageError);
  EXPECT_THROW(make_solver("anderson", {{"window", "-1"}}), UsageError);
  EXPECT_THROW(make_solver("anderson", {{"window", "21"}}), UsageError);
}

}  // namespace
}  // namespace signorini::accelerated_test
