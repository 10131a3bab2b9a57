#include "harness/repetitions.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace signorini::repetitions_test {
namespace {

TEST(Repetitions, ShortTimesAreTakenAgainAndTheirMedianCounts) {
  const std::vector<double> script{2e-4, 4e-3, 1e-4, 3e-4};
  std::size_t asked = 0;
  const auto again = [&] { return script.at(asked++); };
  EXPECT_EQ(repeated_seconds(5e-4, 5, again), 3e-4);
  EXPECT_EQ(asked, 4U);
  asked = 0;
  EXPECT_EQ(repeated_seconds(0.4, 5, again), 0.4);
  EXPECT_EQ(asked, 0U);
  EXPECT_EQ(repeated_seconds(5e-4, 1, again), 5e-4);
  EXPECT_EQ(asked, 0U);
}

RunRecord run_of(double setup, double solve, SolveStatus status = SolveStatus::converged) {
  RunRecord record;
  record.status = status;
  record.setup_seconds = setup;
  record.solve_seconds = solve;
  return record;
}

TEST(Repetitions, TheMedianRunIsTheRow) {
  const RunRecord cold = run_of(1.0, 1.0);  // makes caches warm, counts for nothing
  const std::vector<RunRecord> script{cold, run_of(1e-4, 2e-4), cold, run_of(4e-4, 1e-4),
                                      cold, run_of(1e-4, 1e-4), cold, run_of(8e-3, 1e-3)};
  std::size_t asked = 0;
  const auto again = [&] { return script.at(asked++); };
  // totals 4e-3, 3e-4, 5e-4, 2e-4, 9e-3: the median is the whole run of 4e-4 and 1e-4, not medians of the parts
  RunRecord row = run_of(2e-3, 2e-3);
  repeat_in_turns(std::vector<RepeatedRun>{{&row, again}}, 5);
  EXPECT_EQ(asked, 8U);
  EXPECT_EQ(row.setup_seconds, 4e-4);
  EXPECT_EQ(row.solve_seconds, 1e-4);
}

TEST(Repetitions, RunsTakeTurnsAndThoseThatWereNotMadeAreNotRepeated) {
  std::string order;
  RunRecord slow = run_of(0.05, 0.03), quick = run_of(1e-4, 1e-4),
            refused = run_of(0.0, 0.0, SolveStatus::unsupported),
            failed = run_of(1e-4, 0.0, SolveStatus::failed), once = run_of(0.3, 0.1);
  const auto again = [&order](RunRecord& row, char name) {
    return RepeatedRun{&row, [&order, &row, name] {
                         order += name;
                         return row;
                       }};
  };
  const std::vector<RepeatedRun> runs{again(slow, 's'), again(quick, 'q'), again(refused, 'r'),
                                      again(failed, 'f'), again(once, 'o')};
  repeat_in_turns(runs, 5);
  EXPECT_EQ(order, "sqqsqqqqqq")
      << "three runs of 80 ms, five of the short one, each after another that counts for nothing";
  EXPECT_EQ(once.setup_seconds, 0.3);
  order.clear();
  repeat_in_turns(runs, 1);
  EXPECT_EQ(order, "");
}

TEST(Repetitions, WhatTakesLongIsRepeatedLess) {
  EXPECT_EQ(repetitions_of(10e-3, 25), 25);
  EXPECT_EQ(repetitions_of(1e-6, 4), 4) << "what fits is made as often as asked";
  EXPECT_EQ(repetitions_of(60e-3, 25), 3) << "an odd number: the median is one of the runs";
  EXPECT_EQ(repetitions_of(50e-3, 25), 5);
  EXPECT_EQ(repetitions_of(84e-3, 25), 3) << "longer than 0.25 s, but no more than a second";
  EXPECT_EQ(repetitions_of(0.33, 25), 3);
  EXPECT_EQ(repetitions_of(0.34, 25), 1) << "three would take too long";
  EXPECT_EQ(repetitions_of(0.2, 2), 1) << "two have no median among them";
  EXPECT_EQ(repetitions_of(1e3, 25), 1);
  EXPECT_EQ(repetitions_of(10e-3, 1), 1);
  EXPECT_EQ(repetitions_of(std::numeric_limits<double>::infinity(), 5), 1);
}

TEST(Repetitions, ShortRunsAreMadeTwiceInTheirTurns) {
  EXPECT_EQ(runs_in_turns(1e-3, 7), 13) << "the first was made once";
  EXPECT_EQ(runs_in_turns(1e-3, 1), 1);
  EXPECT_EQ(runs_in_turns(kWarmBelow, 7), 7);
  EXPECT_EQ(runs_in_turns(60e-3, 25), 3);
}

}  // namespace
}  // namespace signorini::repetitions_test
