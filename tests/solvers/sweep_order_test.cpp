#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "linalg/random_blocks.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"
#include "solvers/relaxation/ordered_sweep.h"
#include "solvers/relaxation/sweep_plan.h"

// Orders of a sweep: colours are what they claim, nothing but the order changes, and the bits do not depend on threads.

namespace signorini::sweep_order_test {
namespace {

using test::random_rows;
using test::random_vector;
using test::view;

/// A connected net; 0.3 of the contacts close loops.
ContactProblem net(int contacts, std::uint64_t seed) {
  PlantedOptions options;
  options.contacts = contacts;
  options.sharing = 0.3;
  options.seed = seed;
  return make_planted_problem(options).problem;
}

/// W of the net as `prepare_island` takes it.
ReducedProblem reduced_net(int contacts, std::uint64_t seed) { return assemble_reduced(net(contacts, seed)); }

/// Unsymmetric pattern, diagonal present.
BlockSparseMatrix unsymmetric(Index contacts, std::uint64_t seed) {
  SparseRows rows = random_rows(contacts, contacts, 5.0, false, seed);
  SparseRows unit(3 * contacts, 3 * contacts);
  unit.setIdentity();
  return to_blocks(rows + 10.0 * unit);
}

void expect_independent(const BlockSparseMatrix& W, const SweepPlan& plan) {
  std::vector<Index> colour(W.block_rows, -1);
  for (Index c = 0; c < plan.colours(); ++c)
    for (Index p = plan.colour_begin[c]; p < plan.colour_begin[c + 1]; ++p) colour[plan.contact[p]] = c;
  EXPECT_EQ(std::count(colour.begin(), colour.end(), -1), 0) << "a contact has no place";
  for (Index k = 0; k < W.block_rows; ++k)
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
      const Index l = W.column[b];
      ASSERT_TRUE(l == k || colour[l] != colour[k]) << k << " and " << l;
    }
}

TEST(SweepPlan, ContactsOfAColourShareNoBlock) {
  const BlockSparseMatrix nets = reduced_net(800, 3).W, files = unsymmetric(300, 4);
  for (const BlockSparseMatrix* W : {&nets, &files}) {
    const SweepPlan plan = plan_sweeps(*W, SweepOrder::coloured);
    ASSERT_EQ(count(plan.contact), W->block_rows);
    expect_independent(*W, plan);
    std::vector<std::set<Index>> neighbours(W->block_rows);
    for (Index k = 0; k < W->block_rows; ++k)
      for (Index b = W->row_begin[k]; b < W->row_begin[k + 1]; ++b) {
        neighbours[k].insert(W->column[b]);
        neighbours[W->column[b]].insert(k);
      }
    Index most = 0;  // a contact is its own neighbour here: 1 + neighbours
    for (const auto& n : neighbours) most = std::max(most, count(n));
    EXPECT_LE(plan.colours(), most);
  }
}

TEST(SweepPlan, KnowsItsSimplestCases) {
  const BlockSparseMatrix nothing = to_blocks(SparseRows(0, 0));
  EXPECT_EQ(plan_sweeps(nothing, SweepOrder::coloured).colours(), 0);
  SparseRows unit(30, 30);
  unit.setIdentity();
  EXPECT_EQ(plan_sweeps(to_blocks(unit), SweepOrder::coloured).colours(), 1);
  const BlockSparseMatrix full = to_blocks(SparseRows(Matrix::Ones(12, 12).sparseView()));
  const SweepPlan one_by_one = plan_sweeps(full, SweepOrder::coloured);
  EXPECT_EQ(one_by_one.colours(), 4);
  EXPECT_EQ(one_by_one.contact, (std::vector<Index>{0, 1, 2, 3}));
}

TEST(SweepPlan, AutoColoursOnlyWhatIsLargeAndSparse) {
  SparseRows unit(3 * kColouredContacts, 3 * kColouredContacts);
  unit.setIdentity();
  EXPECT_EQ(plan_sweeps(to_blocks(unit), SweepOrder::automatic).colours(), 1);
  EXPECT_EQ(plan_sweeps(reduced_net(400, 1).W, SweepOrder::automatic).colours(), 0);
  EXPECT_TRUE(plan_sweeps(reduced_net(400, 1).W, SweepOrder::automatic).contact.empty());
}

TEST(SweepPlan, MovesRowsColumnsAndVectorsTogether) {
  const Index m = 60;
  const BlockSparseMatrix W = unsymmetric(m, 7);
  const Vector q = random_vector(3 * m, 8), mu = random_vector(m, 9), r = random_vector(3 * m, 10);
  const SweepPlan plan = plan_sweeps(W, SweepOrder::coloured);
  const ReducedProblem placed = in_order(ReducedProblem{W, q}, plan);
  const Vector placed_mu = in_order(mu, plan);
  const Matrix before = to_scalar(W), after = to_scalar(placed.W);
  for (Index p = 0; p < m; ++p) {
    const Index k = plan.contact[p];
    EXPECT_EQ(placed_mu[p], mu[k]);
    EXPECT_EQ((placed.q.segment<3>(3 * p)), (q.segment<3>(3 * k)));
    for (Index s = 0; s < m; ++s)
      ASSERT_EQ((after.block<3, 3>(3 * p, 3 * s)), (before.block<3, 3>(3 * k, 3 * plan.contact[s])));
    EXPECT_TRUE(std::is_sorted(placed.W.column.begin() + placed.W.row_begin[p],
                               placed.W.column.begin() + placed.W.row_begin[p + 1]));
  }
  Vector there(3 * m), back(3 * m);
  to_places(plan, view(r), view(there));
  from_places(plan, view(there), view(back));
  EXPECT_EQ(back, r);
}

// 3,000 contacts are a dozen chunks of rows.
TEST(SweepPlan, MovedRowsAreThoseOfTheProblemForAnyThreads) {
  const ContactProblem problem = net(3000, 5);
  const ReducedProblem reduced = assemble_reduced(problem);
  const BodyRows bodies = make_body_rows(problem);
  const SweepPlan plan = plan_sweeps(reduced.W, SweepOrder::coloured);
  ASSERT_GT(count(plan.contact), 4 * static_cast<Index>(kRowsOfATask));
  for (const int threads : {0, 1, 2, 4, 8, 16}) {
    SCOPED_TRACE(threads);
    std::optional<TaskArena> arena;
    if (threads > 0) arena.emplace(threads);
    TaskArena* const used = arena ? &*arena : nullptr;
    const BlockSparseMatrix W = in_order(reduced, plan, used).W;
    const BodyRows rows = in_order(bodies, plan.contact, used);
    ASSERT_EQ(W.column.size(), reduced.W.column.size());
    ASSERT_EQ(W.values.size(), reduced.W.values.size());
    ASSERT_EQ(rows.J.values.size(), bodies.J.values.size());
    ASSERT_EQ(rows.response.size(), bodies.response.size());
    for (Index p = 0; p < W.block_rows; ++p) {
      const Index k = plan.contact[p];
      ASSERT_EQ(W.row_begin[p + 1] - W.row_begin[p], reduced.W.row_begin[k + 1] - reduced.W.row_begin[k]);
      for (Index b = W.row_begin[p]; b < W.row_begin[p + 1]; ++b) {
        const Index old = find_block(reduced.W, k, plan.contact[W.column[b]]);
        ASSERT_GE(old, 0);
        ASSERT_TRUE(std::equal(W.block(b), W.block(b) + 9, reduced.W.block(old)));
      }
      const Index from = bodies.J.row_begin[k], to = rows.J.row_begin[p];
      const Index blocks = bodies.J.row_begin[k + 1] - from;
      ASSERT_EQ(rows.J.row_begin[p + 1] - to, blocks);
      for (Index b = 0; b < blocks; ++b) {
        ASSERT_EQ(rows.J.column[to + b], bodies.J.column[from + b]);
        for (Index e = 0; e < 9; ++e) {
          ASSERT_EQ(rows.J.block(to + b)[e], bodies.J.block(from + b)[e]);
          ASSERT_EQ(rows.response[9 * (to + b) + e], bodies.response[9 * (from + b) + e]);
        }
      }
      ASSERT_EQ(rows.diagonal[p], bodies.diagonal[k]);
      ASSERT_EQ((rows.w.segment<3>(3 * p)), (bodies.w.segment<3>(3 * k)));
    }
  }
}

struct Prepared {
  SweepPlan plan;
  GaussSeidelData data;
};

Prepared prepared(ReducedProblem problem, SweepOrder order, FrictionLaw law) {
  Prepared result;
  result.plan = plan_sweeps(problem.W, order);
  problem = in_order(std::move(problem), result.plan);
  const Vector mu = Vector::Constant(problem.W.block_rows, 0.4);
  result.data =
      make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), mu, law, TangentChoice::automatic);
  return result;
}

// 9,000 contacts have colours of more than 2 kPiece, so that there are pieces to share.
TEST(OrderedSweep, ColouredSweepIsTheSweepOfTheMovedProblemForAnyThreads) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    const Prepared p = prepared(reduced_net(9000, 5), SweepOrder::coloured, law);
    ASSERT_GT(p.plan.colour_begin[1], 4 * OrderedSweep::kPiece);
    Vector expected = Vector::Zero(p.data.q.size());
    double correction = 0.0;
    for (int i = 0; i < 3; ++i) correction = gauss_seidel_sweep(p.data, view(expected));
    for (const int threads : {0, 1, 2, 4, 8, 16}) {
      std::optional<TaskArena> arena;
      if (threads > 0) arena.emplace(threads);
      OrderedSweep sweep;
      sweep.prepare(p.data, p.plan);
      Vector r = Vector::Zero(p.data.q.size());
      double last = 0.0;
      for (int i = 0; i < 3; ++i) last = sweep.run(view(r), arena ? &*arena : nullptr);
      EXPECT_EQ(r, expected) << threads << " threads";
      EXPECT_EQ(last, correction) << threads << " threads";
    }
  }
}

TEST(OrderedSweep, SmallColoursStayOnOneThread) {
  const auto used = [](Index contacts) {
    const Prepared p = prepared(reduced_net(contacts, 5), SweepOrder::coloured, FrictionLaw::cone);
    TaskArena arena(2);
    OrderedSweep sweep;
    sweep.prepare(p.data, p.plan);
    const WorkAndSpan on_two = sweep.work_and_span(2);
    Vector r = Vector::Zero(p.data.q.size());
    sweep.run(view(r), &arena);
    return std::pair(on_two.time / on_two.work, arena.busiest());
  };
  const auto [small_share, small_threads] = used(1000);
  EXPECT_GT(small_share, SweepStages::kWorthSharing);
  EXPECT_EQ(small_threads, 1);
  const auto [large_share, large_threads] = used(9000);
  EXPECT_LT(large_share, SweepStages::kWorthSharing);
  EXPECT_EQ(large_threads, 2);
}

TEST(OrderedSweep, StepsTellTheSameForAnyThreadsAndWhatTheyChanged) {
  for (const SweepOrder order : {SweepOrder::natural, SweepOrder::coloured, SweepOrder::symmetric}) {
    const Prepared p = prepared(reduced_net(9000, 6), order, FrictionLaw::cone);
    const Vector along = random_vector(p.data.q.size(), 2);
    Vector first;
    SweepStep told;
    for (const int threads : {1, 2, 4}) {
      TaskArena arena(threads);
      OrderedSweep sweep;
      sweep.prepare(p.data, p.plan);
      Vector r = Vector::Zero(p.data.q.size()), change(p.data.q.size()), before = r;
      for (int i = 0; i < 2; ++i) {
        before = r;
        const SweepStep step = sweep.step(view(along), view(r), view(change), &arena);
        if (threads == 1) told = step;
        if (i == 0) continue;
        if (threads == 1) first = r;
        EXPECT_EQ(r, first) << threads << " threads";
        EXPECT_EQ(step.correction, told.correction);
        EXPECT_EQ(step.square, told.square);
        EXPECT_EQ(step.along, told.along);
        EXPECT_EQ(change, r - before);
        double square = 0.0, product = 0.0;
        for (Index k = 0; k < p.data.contacts(); ++k)
          for (int j = 0; j < 3; ++j) {
            const double e = change[3 * k + j] * p.data.contact[k].inverse_mass[j];
            square += e * change[3 * k + j];
            product += e * along[3 * k + j];
          }
        // Sums of 27,000 terms in another order: √27,000 roundings of the sum of magnitudes, a hundredfold.
        EXPECT_NEAR(step.square, square, 2e-12 * square);
        EXPECT_NEAR(step.along, product, 2e-12 * square * 1e3);
      }
    }
  }
}

TEST(OrderedSweep, BackwardsIsTheSweepOfTheReversedProblem) {
  const Index m = 120;
  const ReducedProblem problem = reduced_net(m, 9);
  SweepPlan reversed;
  reversed.contact.resize(m);
  std::iota(reversed.contact.rbegin(), reversed.contact.rend(), 0);
  const Vector mu = Vector::Constant(m, 0.4);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    const ReducedProblem other = in_order(problem, reversed);
    const auto data = make_gauss_seidel_data(problem.W, problem.q, mu, law, TangentChoice::automatic);
    const auto mirror = make_gauss_seidel_data(other.W, other.q, mu, law, TangentChoice::automatic);
    Vector r = Vector::Zero(3 * m), s = r, back(3 * m);
    for (int i = 0; i < 5; ++i) {
      gauss_seidel_sweep(data, {0, m, true}, view(r));
      gauss_seidel_sweep(mirror, view(s));
    }
    from_places(reversed, view(s), view(back));
    // Rows are summed in another order: a few roundings per row and sweep, which the sweep does not enlarge.
    EXPECT_LE((r - back).lpNorm<Eigen::Infinity>(), 1e-13 * r.lpNorm<Eigen::Infinity>());
    EXPECT_GT(r.lpNorm<Eigen::Infinity>(), 0.0);
  }
}

struct Remembered : IterationObserver {
  Vector last;
  void on_iteration(int, std::span<const double> r, std::string_view) override {
    last = Eigen::Map<const Vector>(r.data(), static_cast<Eigen::Index>(r.size()));
  }
};

class SweepOrders : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(SweepOrders, ArriveAtTheAnswerAndShowIteratesInTheProblemsNumbers) {
  const auto [name, order, law] = GetParam();
  const ContactProblem problem = net(400, 12);
  const auto solver = make_solver(name, {{"order", order}, {"law", law}});
  solver->prepare(problem);
  Vector r = Vector::Zero(3 * problem.contacts());
  StopRule stop;
  stop.residual = 1e-8;
  stop.max_iterations = 20000;
  Remembered seen;
  const SolveReport report = solver->solve(view(r), stop, &seen);
  EXPECT_EQ(report.status, SolveStatus::converged);
  const double residual = Referee(problem).measure(view(r), solver->common().spec()).residual;
  EXPECT_LE(residual, 1e-8 * (1 + 1e-6));  // another factor of M: roundings beside 1e-8
  EXPECT_EQ(seen.last, r);
}

INSTANTIATE_TEST_SUITE_P(Solvers, SweepOrders,
                         testing::Combine(testing::Values("pgs", "nsgs", "nncg", "anderson"),
                                          testing::Values("natural", "coloured", "symmetric", "auto"),
                                          testing::Values("cone", "pyramid")));

TEST(SweepOrders, OneIslandOnSeveralThreadsGivesTheBitsOfOne) {
  const ContactProblem problem = net(9000, 15);
  for (const char* name : {"pgs", "nsgs", "nncg", "anderson", "auto"}) {
    Vector first;
    int iterations = 0;
    const OptionMap options =
        std::string_view(name) == "auto" ? OptionMap{} : OptionMap{{"order", "coloured"}};
    for (const int threads : {1, 2, 4, 8, 16}) {
      const auto solver = make_region_solver(
          name, options, {.mode = RegionMode::islands, .threads = threads, .head_start = 0.0});
      solver->prepare(problem);
      Vector r = Vector::Zero(3 * problem.contacts());
      StopRule stop;
      stop.residual = 1e-3;
      const SolveReport report = solver->solve(view(r), stop, nullptr);
      if (threads == 1) first = r, iterations = report.iterations;
      EXPECT_EQ(r, first) << name << ", " << threads << " threads";
      EXPECT_EQ(report.iterations, iterations);
      EXPECT_EQ(report.status, SolveStatus::converged) << name;
    }
  }
}

TEST(SweepOrders, PrintedSweepsHaveNoOrder) {
  EXPECT_THROW(make_solver("pgs", {{"form", "printed"}, {"order", "coloured"}}), UsageError);
}

}  // namespace
}  // namespace signorini::sweep_order_test
