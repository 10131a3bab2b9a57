#include "campaign/scale_model.h"

#include <gtest/gtest.h>

#include <limits>

namespace signorini::scale_model_test {
namespace {

std::vector<PlannedCell> cells(int snapshots, int solvers, double seconds) {
  std::vector<PlannedCell> all;
  for (int i = 0; i < snapshots; ++i) {
    for (int j = 0; j < solvers; ++j) {
      PlannedCell one;
      one.experiment = "e";
      one.cell = {"f.h5", fmt::format("{:06}", i), 10, fmt::format("s{}", j), "", "", 1e-6};
      one.seconds = seconds;
      all.push_back(one);
    }
  }
  return all;
}

ScaleModel perfect(int nodes, int shards) {
  ScaleModel model;
  model.nodes = nodes;
  model.shards = shards;
  model.slow_share = 0.0;
  model.failure_hours = std::numeric_limits<double>::infinity();
  model.start_seconds = 0.0;
  return model;
}

TEST(ScaleModel, OneNodeTakesAllTheTimeThereIs) {
  const ScaleResult one = simulate_scale(cells(10, 3, 2.0), perfect(1, 1), 1);
  EXPECT_NEAR(one.makespan, 60.0, 1e-9);
  EXPECT_NEAR(one.efficiency, 1.0, 1e-12);
  EXPECT_EQ(one.failures, 0);
}

TEST(ScaleModel, ASnapshotBoundsWhatNodesCanGainAndACellBoundsItLess) {
  ScaleModel model = perfect(30, 30);
  EXPECT_NEAR(simulate_scale(cells(10, 3, 2.0), model, 1).makespan, 6.0, 1e-9);
  model.unit = ShardUnit::cell;
  EXPECT_NEAR(simulate_scale(cells(10, 3, 2.0), model, 1).makespan, 2.0, 1e-9);
}

TEST(ScaleModel, EveryTaskPaysItsStart) {
  ScaleModel model = perfect(1, 5);
  model.start_seconds = 7.0;
  EXPECT_NEAR(simulate_scale(cells(5, 1, 1.0), model, 1).makespan, 5 * 8.0, 1e-9);
}

TEST(ScaleModel, SlowNodesHoldUpOneTaskPerNodeMoreThanMany) {
  // 20 nodes, 2000 cells: with one task each a slow node doubles the makespan; with 20 tasks each the others take over
  ScaleModel model = perfect(20, 20);
  model.slow_share = 0.2;
  const std::vector<PlannedCell> work = cells(2000, 1, 1.0);
  const ScaleSummary coarse = summarise_scale(work, model, 50);
  model.shards = 400;
  const ScaleSummary fine = summarise_scale(work, model, 50);
  EXPECT_GT(coarse.makespan, 1.8 * 100.0);
  EXPECT_LT(fine.makespan,
            1.4 * 100.0);  // 4 of 20 nodes at half speed: 100 · 20 / 18 = 111, and the last tasks
}

TEST(ScaleModel, AFailureLosesTheCellAtWorkAndCostsARestart) {
  ScaleModel model = perfect(1, 1);
  model.failure_hours = 1.0;
  model.restart_seconds = 100.0;
  const std::vector<PlannedCell> work = cells(720, 1, 10.0);  // two hours: two failures are expected
  double failures = 0.0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const ScaleResult one = simulate_scale(work, model, seed);
    EXPECT_GE(one.makespan, 7200.0 + 100.0 * one.failures - 1e-6);
    EXPECT_LE(one.makespan, 7200.0 + 110.0 * one.failures + 1e-6);
    failures += one.failures / 200.0;
  }
  EXPECT_NEAR(failures, 2.0, 4.0 * std::sqrt(2.0 / 200.0));  // Poisson; four standard deviations of the mean
}

TEST(ScaleModel, ASeedIsAResult) {
  ScaleModel model;
  const std::vector<PlannedCell> work = cells(300, 2, 30.0);
  const ScaleResult one = simulate_scale(work, model, 3), two = simulate_scale(work, model, 3);
  EXPECT_EQ(one.makespan, two.makespan);
  EXPECT_EQ(one.failures, two.failures);
}

}  // namespace
}  // namespace signorini::scale_model_test
