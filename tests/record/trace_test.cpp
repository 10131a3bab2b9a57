#include "record/trace_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "record/fclib_file.h"
#include "record/record_test_tools.h"

namespace signorini::trace_test {
namespace {

TEST(TraceFile, GivesCurvesAndTheirNamesBack) {
  const TemporaryFolder folder;
  ConvergenceTrace trace;
  trace.file = "scenes/bucket.h5";
  trace.step = "000120";
  trace.solver = "pgs";
  trace.options = "law=cone;relaxation=1";
  trace.law = "cone";
  trace.region_mode = "points";
  trace.threads = 2;
  trace.tolerance = 1e-4;
  trace.iteration = {1, 2, 3};
  trace.seconds = {0.1, 0.2, 0.4};
  trace.residual = {1.0, 0.5, 1e-17};
  trace.natural_map = {std::numeric_limits<double>::quiet_NaN(), 0.5, 0.25};
  trace.active = {5, 4, 4};
  ConvergenceTrace empty;
  write_traces(folder.path() / "trace.h5", {trace, empty});
  const auto again = read_traces(folder.path() / "trace.h5");
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].file, trace.file);
  EXPECT_EQ(again[0].step, trace.step);
  EXPECT_EQ(again[0].solver, trace.solver);
  EXPECT_EQ(again[0].options, trace.options);
  EXPECT_EQ(again[0].law, trace.law);
  EXPECT_EQ(again[0].region_mode, trace.region_mode);
  EXPECT_EQ(again[0].threads, 2);
  EXPECT_EQ(again[0].tolerance, 1e-4);
  EXPECT_EQ(again[0].iteration, trace.iteration);
  EXPECT_EQ(again[0].seconds, trace.seconds);
  EXPECT_EQ(again[0].residual, trace.residual);
  EXPECT_TRUE(std::isnan(again[0].natural_map[0]));
  EXPECT_EQ(again[0].natural_map[2], 0.25);
  EXPECT_EQ(again[0].active, trace.active);
  EXPECT_TRUE(again[0].sliding.empty());
  EXPECT_TRUE(again[1].iteration.empty());
}

/// Memory may run out between two columns of an iteration.
TEST(TraceFile, ACurveThatEndsWithinAnIterationIsCutToWholeOnes) {
  const TemporaryFolder folder;
  ConvergenceTrace trace;
  trace.iteration = {0, 1, 2};
  trace.seconds = {0.0, 0.1};
  trace.residual = trace.natural_map = {1.0, 0.5};
  trace.active = trace.sliding = {3, 3};
  trace.plain = trace.preconditioned = {1.0, 0.5, 0.25};
  trace.constraint = {1.0};
  cut_to_whole_iterations(trace);
  write_traces(folder.path() / "trace.h5", {trace});
  const ConvergenceTrace again = read_traces(folder.path() / "trace.h5").at(0);
  EXPECT_EQ(again.iteration, (std::vector<int>{0, 1}));
  EXPECT_EQ(again.plain, (std::vector<double>{1.0, 0.5}));
  EXPECT_TRUE(again.constraint.empty() && again.guards.empty());
}

TEST(TraceFile, KeepsWhatSolversSayOfThemselves) {
  const TemporaryFolder folder;
  ConvergenceTrace trace;
  trace.solver = "cr-full";
  trace.iteration = {0, 1};
  trace.seconds = {0.0, 0.1};
  trace.residual = {1.0, 0.5};
  trace.plain = {std::numeric_limits<double>::quiet_NaN(), 0.25};
  trace.preconditioned = {2.0, 1.0};
  trace.constraint = {3.0, 1e-300};
  trace.state_changes = {0, 7};
  trace.restarts = {0, 1};
  trace.relinearisations = {0, 2};
  trace.guards = {0, 3};
  trace.contact_sweeps = {0, 12};
  write_traces(folder.path() / "trace.h5", {trace});
  const auto again = read_traces(folder.path() / "trace.h5");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(std::isnan(again[0].plain[0]));
  EXPECT_EQ(again[0].plain[1], 0.25);
  EXPECT_EQ(again[0].preconditioned, trace.preconditioned);
  EXPECT_EQ(again[0].constraint, trace.constraint);
  EXPECT_EQ(again[0].state_changes, trace.state_changes);
  EXPECT_EQ(again[0].restarts, trace.restarts);
  EXPECT_EQ(again[0].relinearisations, trace.relinearisations);
  EXPECT_EQ(again[0].guards, trace.guards);
  EXPECT_EQ(again[0].contact_sweeps, trace.contact_sweeps);
}

/// Older files, and curves of solvers that tell nothing, have no such columns at all.
TEST(TraceFile, ReadsCurvesWithoutThem) {
  const TemporaryFolder folder;
  ConvergenceTrace trace;
  trace.iteration = {0, 1};
  trace.seconds = {0.0, 0.1};
  trace.residual = {1.0, 0.5};
  write_traces(folder.path() / "trace.h5", {trace});
  const auto again = read_traces(folder.path() / "trace.h5");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].residual, trace.residual);
  EXPECT_TRUE(again[0].plain.empty());
  EXPECT_TRUE(again[0].guards.empty());
}

TEST(TraceFile, RefusesOtherFiles) {
  const TemporaryFolder folder;
  FclibFile problem;
  problem.problem = rich_frame("000001", 1, 0.0).problem;
  write_fclib(folder.path() / "problem.hdf5", problem);
  EXPECT_THROW(read_traces(folder.path() / "problem.hdf5"), InputError);
  EXPECT_THROW(read_traces(folder.path() / "missing.h5"), InputError);
  put_bytes(folder.path() / "text.h5", "not HDF5 at all");
  EXPECT_THROW(read_traces(folder.path() / "text.h5"), InputError);
}

}  // namespace
}  // namespace signorini::trace_test
