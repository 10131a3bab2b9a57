#include "solvers/work_and_span.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "contact/planted_problem.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"
#include "solvers/relaxation/sweep_stages.h"

namespace signorini::work_and_span_test {
namespace {

SweepPlan plan_of(const std::vector<Index>& colours) {
  SweepPlan plan;
  plan.colour_begin.push_back(0);
  for (const Index contacts : colours) plan.colour_begin.push_back(plan.colour_begin.back() + contacts);
  return plan;
}

/// 3 | 2; the second core is free first and takes 2, the first takes 1: both end at 4.
TEST(WorkAndSpan, TheCoreThatIsFreeFirstTakesTheNextPiece) {
  const std::vector<double> pieces{3.0, 2.0, 2.0, 1.0};
  EXPECT_EQ(list_schedule(pieces, 1), 8.0);
  EXPECT_EQ(list_schedule(pieces, 2), 4.0);
  EXPECT_EQ(list_schedule(pieces, 3), 3.0);
  EXPECT_EQ(list_schedule(pieces, 64), 3.0);
  EXPECT_EQ(list_schedule({}, 2), 0.0);
}

TEST(WorkAndSpan, BarriersStandBehindStagesOfSeveralPieces) {
  WorkAndSpan sum;
  add_stage(std::vector<double>{4.0, 4.0, 4.0}, 2, 0.5, sum);
  add_stage(std::vector<double>{5.0}, 2, 0.5, sum);
  EXPECT_EQ(sum.work, 17.0);
  EXPECT_EQ(sum.span, 9.0);
  EXPECT_EQ(sum.time, 13.5);
  EXPECT_EQ(sum.speedup(), 17.0 / 13.5);
  EXPECT_EQ(WorkAndSpan{}.speedup(), 1.0);
}

/// Colours of 200 (64, 64, 64, 8), 130 (64, 64, 2), and 60 and 10, which are less than two pieces: one stage of 70.
TEST(WorkAndSpan, OfASweepInColours) {
  SweepStages stages;
  stages.prepare(400, plan_of({200, 130, 60, 10}), SweepStages::kWorthSharing);
  constexpr double b = SweepStages::kBarrier;
  for (const auto& [cores, time] : {std::pair{1, 400.0},
                                    {2, 128.0 + 66.0 + 70.0 + 2 * b},
                                    {3, 72.0 + 64.0 + 70.0 + 2 * b},
                                    {8, 64.0 + 64.0 + 70.0 + 2 * b}}) {
    const WorkAndSpan found = stages.work_and_span(cores);
    EXPECT_EQ(found.work, 400.0);
    EXPECT_EQ(found.span, 198.0);
    EXPECT_EQ(found.time, time) << cores;
  }
}

/// Two threads need 0.71 times the time of one: worth it over W, not on bodies.
TEST(SweepStages, AreSharedWhereTwoThreadsNeedAtMostTheAskedShare) {
  for (const auto& [asked, threads] :
       {std::pair{SweepStages::kWorthSharing, 2}, {SweepStages::kWorthSharingOnBodies, 1}}) {
    SweepStages stages;
    stages.prepare(400, plan_of({200, 130, 60, 10}), asked);
    TaskArena arena(2);
    std::vector<Index> partial(stages.pieces());
    const Index contacts = stages.run(
        &arena, partial, [](SweepRange range) { return range.end - range.begin; }, std::plus<>());
    EXPECT_EQ(contacts, 400);
    EXPECT_EQ(arena.busiest(), threads) << asked;
  }
}

TEST(WorkAndSpan, OfANaturalOrderIsSerial) {
  SweepStages stages;
  stages.prepare(1000, {}, SweepStages::kWorthSharing);
  const WorkAndSpan found = stages.work_and_span(8);
  EXPECT_EQ(found.work, 1000.0);
  EXPECT_EQ(found.span, 1000.0);
  EXPECT_EQ(found.speedup(), 1.0);
}

/// W of four islands with 3, 1, 1 and 1 contacts: 9, 1, 1 and 1 blocks, each a task of its own on two cores.
ContactProblem four_islands() {
  constexpr Index kContacts = 6;
  Matrix W = Matrix::Identity(3 * kContacts, 3 * kContacts);
  W.topLeftCorner<9, 9>().array() += 0.1;
  ContactProblem problem;
  problem.W = W.sparseView();
  problem.W.makeCompressed();
  problem.q = Vector::Constant(3 * kContacts, -1.0);
  problem.mu = Vector::Constant(kContacts, 0.5);
  return problem;
}

TEST(WorkAndSpan, OfRegionsIsThatOfTheirTasks) {
  const ContactProblem problem = four_islands();
  const auto solver = make_region_solver("pcg", {}, {RegionMode::islands, 1});
  solver->prepare(problem);
  const WorkAndSpan two = solver->work_and_span(2);
  EXPECT_EQ(two.work, 12.0);
  EXPECT_EQ(two.span, 9.0);
  EXPECT_EQ(two.time, 9.0);
  EXPECT_EQ(solver->work_and_span(1).speedup(), 1.0);
}

/// An island that holds everything and gets the threads for itself: what its solver counts, in blocks.
TEST(WorkAndSpan, OfOneLargeIslandIsThatOfItsSweeps) {
  PlantedOptions options;
  options.contacts = 3000;
  options.sharing = 0.3;
  const ContactProblem problem = make_planted_problem(options).problem;
  const OptionMap coloured{{"order", "coloured"}, {"matrix", "bodies"}};
  const auto whole = make_solver("pgs", coloured);
  whole->prepare(problem);
  const auto islands = make_region_solver("pgs", coloured, {RegionMode::islands, 1});
  islands->prepare(problem);
  for (const int cores : {1, 8, 64}) {
    const double expected = whole->work_and_span(cores).speedup();
    EXPECT_NEAR(islands->work_and_span(cores).speedup(), expected, 1e-12 * expected) << cores;
  }
  EXPECT_GT(whole->work_and_span(8).speedup(), 1.5);
  EXPECT_LE(whole->work_and_span(8).speedup(), 8.0);
  EXPECT_GE(whole->work_and_span(64).speedup(), whole->work_and_span(8).speedup());
  // one thread by definition, whatever the order
  const auto none = make_region_solver("pgs", coloured, {RegionMode::none, 1});
  none->prepare(problem);
  EXPECT_EQ(none->work_and_span(8).speedup(), 1.0);
}

TEST(WorkAndSpan, IsUnknownWhereThreadsAreUsedAndNotCounted) {
  const ContactProblem problem = make_planted_problem({.contacts = 10}).problem;
  const auto ica = make_solver("ica", {});
  ica->prepare(problem);
  EXPECT_TRUE(std::isnan(ica->work_and_span(8).speedup()));
  const auto pcg = make_solver("pcg", {});
  pcg->prepare(problem);
  EXPECT_TRUE(std::isnan(pcg->work_and_span(8).speedup()));
  const auto newton = make_solver("newton", {});
  newton->prepare(problem);
  EXPECT_EQ(newton->work_and_span(8).speedup(), 1.0);
}

}  // namespace
}  // namespace signorini::work_and_span_test
