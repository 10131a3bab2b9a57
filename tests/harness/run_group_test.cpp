#include "harness/run_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "contact/planted_problem.h"
#include "harness/repetitions.h"

namespace signorini::run_group_test {
namespace {

/// The rows and curves of a group on "disk": those of an earlier session and those that are kept now.
struct Disk {
  std::vector<std::string> rows;  ///< in the order in which they came
  std::set<std::string> curves;
  std::size_t cancel_after = 1000;  ///< rows kept
  CancelFlag cancelled{false};

  static std::string curve_of(const RunRecord& row) { return row.region_mode; }

  RunKeeper keeper() {
    RunKeeper out;
    out.has = [this](const RunRecord& row) {
      return std::ranges::find(rows, run_key(row)) != rows.end() &&
             (row.protocol != "converge" || curves.contains(curve_of(row)));
    };
    out.keep = [this](const RunRecord& row, const ConvergenceTrace* curve) {
      if (curve != nullptr) curves.insert(curve_of(row));
      put(row);
      if (rows.size() >= cancel_after) cancelled = true;
    };
    return out;
  }
  void put(const RunRecord& row) {
    if (std::ranges::find(rows, run_key(row)) == rows.end()) rows.push_back(run_key(row));
  }
  /// The end of a group.
  void put(const RunGroup& group) {
    for (const ConvergenceTrace& curve : group.curves) curves.insert(curve.region_mode);
    for (const RunRecord& row : group.rows) put(row);
  }
};

class RunGroupTest : public ::testing::Test {
 protected:
  RunGroupTest()
      : problem_(make_planted_problem({.contacts = 12, .regions = 3}).problem),
        referee_(make_referee(problem_)),
        target_(make_target(problem_, referee_, "trial", "a", "0")) {
    experiment_.id = "trial";
    experiment_.regions = {RegionMode::none, RegionMode::points, RegionMode::islands};
    experiment_.threads = {1};
    experiment_.max_iterations = 500;
    experiment_.repetitions = 1;
    experiment_.converge = experiment_.self_stopped = true;
    experiment_.time = false;
    variant_.name = variant_.label = "pgs";
  }

  RunGroup run(Disk& disk) {
    return run_group(experiment_, target_, variant_, 1e-6, &disk.cancelled, disk.keeper());
  }
  std::vector<std::string> whole() {
    Disk disk;
    disk.put(run(disk));
    return disk.rows;
  }

  ContactProblem problem_;
  Referee referee_;
  RunTarget target_;
  Experiment experiment_;
  SolverVariant variant_;
};

TEST_F(RunGroupTest, AnEndAtAnyRowLosesTheRunAtWorkAndNoOther) {
  const std::vector<std::string> rows = whole();
  ASSERT_EQ(rows.size(), 6U);  // a self-stopped and a traced run in each of three modes
  for (std::size_t kept = 1; kept < rows.size(); ++kept) {
    SCOPED_TRACE(kept);
    Disk disk;
    disk.cancel_after = kept;
    EXPECT_THROW(run(disk), Cancelled);
    EXPECT_EQ(disk.rows, std::vector(rows.begin(), rows.begin() + kept));
    disk.cancelled = false;
    disk.cancel_after = 1000;
    const RunGroup rest = run(disk);
    EXPECT_EQ(rest.rows.size(), rows.size() - kept) << "a run that is there was made again";
    EXPECT_EQ(rest.rows_there, static_cast<int>(kept));
    EXPECT_EQ(rest.curves_there, static_cast<int>(kept / 2));
    EXPECT_EQ(rest.curves.size(), 3U - kept / 2);
    disk.put(rest);
    EXPECT_EQ(disk.rows, rows) << "the order depends on where the run ended";
    EXPECT_EQ(disk.curves.size(), 3U);
    const RunGroup none = run(disk);
    EXPECT_TRUE(none.rows.empty() && none.curves.empty());
    EXPECT_EQ(none.rows_there, 6);
  }
}

/// Short runs are repeated at the end, so neither they nor what comes after them is kept before.
TEST_F(RunGroupTest, RowsThatMayStillChangeAreNotKept) {
  experiment_.repetitions = 5;
  Disk disk;
  RunGroup group = run(disk);
  EXPECT_TRUE(disk.rows.empty());
  EXPECT_EQ(self_stopped_runs(experiment_, target_, variant_, 1e-6, nullptr, group).size(), 3U);
  disk.put(group);
  EXPECT_EQ(disk.rows, whole()) << "the order depends on what is repeated";
}

/// They are measured in turns and need the traced runs of all modes.
TEST_F(RunGroupTest, TimingsAreMadeTogether) {
  experiment_.time = true;
  experiment_.minimum_time = 1e-6;
  const std::vector<std::string> rows = whole();
  ASSERT_EQ(rows.size(), 9U);
  Disk disk;
  disk.cancel_after = 4;
  EXPECT_THROW(run(disk), Cancelled);
  ASSERT_EQ(disk.rows.size(), 4U);
  disk.cancelled = false;
  disk.cancel_after = 1000;
  const RunGroup rest = run(disk);
  EXPECT_EQ(rest.rows_there, 2) << "two self-stopped runs";
  const auto timed = std::ranges::count(rest.rows, "time", &RunRecord::protocol);
  EXPECT_EQ(timed, 3);
  disk.put(rest);
  EXPECT_EQ(disk.rows, rows);
}

/// A curve that was lost is made again, its row with it.
TEST_F(RunGroupTest, ARowWithoutItsCurveIsMadeAgain) {
  Disk disk;
  disk.put(run(disk));
  disk.curves.erase("points");
  const RunGroup again = run(disk);
  ASSERT_EQ(again.rows.size(), 1U);
  EXPECT_EQ(again.rows.front().protocol, "converge");
  EXPECT_EQ(again.rows.front().region_mode, "points");
  EXPECT_EQ(again.curves.size(), 1U);
}

/// More threads than there are cannot run; the mode has its curve all the same, from those that can.
TEST_F(RunGroupTest, EveryModeHasACurve) {
  for (const std::vector<int>& threads : {std::vector{100000}, std::vector{100000, 1}}) {
    experiment_.threads = threads;
    Disk disk;
    const RunGroup group = run(disk);
    EXPECT_EQ(group.curves.size(), 3U);
    for (const ConvergenceTrace& curve : group.curves)
      EXPECT_EQ(curve.iteration.empty(), threads.size() == 1) << curve.region_mode;
    disk.put(group);
    EXPECT_EQ(run(disk).rows.size(), 0U);
  }
}

}  // namespace
}  // namespace signorini::run_group_test
