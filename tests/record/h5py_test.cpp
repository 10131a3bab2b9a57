#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "record/fclib_file.h"
#include "record/record_test_tools.h"
#include "record/trace_file.h"

namespace signorini::h5py_test {
namespace {

/// Everything that a shell command prints; `code` is its exit status.
std::string output_of(const std::string& command, int& code) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  code = ::pclose(pipe);
  return text;
}

TEST(H5py, ReadsSolutionRecordingAndTraceAndFindsTheSolutionTrue) {
  const std::string python = "/usr/bin/python3";
  int code = 0;
  output_of(python + " -c 'import h5py' 2>/dev/null", code);
  if (code != 0) GTEST_SKIP() << python << " has no h5py (apt-get install python3-h5py)";

  const TemporaryFolder folder;
  PlantedOptions options;
  options.contacts = 8;
  options.stiffness = 50.0;
  PlantedProblem planted = make_planted_problem(options);
  ContactProblem& p = planted.problem;
  // Symmetric to the last bit, so that the recording holds the upper triangle only.
  const SparseRows transposed = p.M.transpose();
  p.M = SparseRows(0.5 * (p.M + transposed));
  FclibFile file;
  file.problem = p;
  file.info.title = "planted";
  const Vector v = Matrix(p.M).llt().solve(p.H * planted.r + p.f);
  file.solution = FclibSolution{planted.r, planted.u, v};
  write_fclib(folder.path() / "problem.hdf5", file);
  Frame frame;
  frame.id = "000001";
  frame.problem = p;
  frame.problem.v_minus = v;
  frame.problem.start_bounds = Vector::Zero(8);
  for (Index k = 0; k < 8; ++k) frame.problem.start_states.push_back(static_cast<FrictionState>(k % 4 - 1));
  RecordingWriter writer(folder.path() / "scene.h5", test_header(), false);
  writer.append(frame);
  StepTable table;
  table.columns = {"step", "contacts", "kinetic_energy"};
  table.units = {"1", "1", "J"};
  table.rows = {{1, 8, 0.25}, {2, 8, 0.125}};
  writer.finish(&table);
  ConvergenceTrace trace;
  trace.solver = "pgs";
  trace.iteration = {1, 2};
  trace.seconds = {0.1, 0.2};
  trace.residual = {1.0, 0.125};
  write_traces(folder.path() / "trace.h5", {trace});

  const std::string said = output_of(
      fmt::format("{} {}/tests/record/read_with_h5py.py {}/problem.hdf5 {}/scene.h5 {}/trace.h5 2>&1", python,
                  SIGNORINI_SOURCE_DIR, folder.path().string(), folder.path().string(),
                  folder.path().string()),
      code);
  ASSERT_EQ(code, 0) << said;
  const auto result = nlohmann::json::parse(said);
  EXPECT_EQ(result["contacts"], 8);
  // Two direct solves of an n = 24…72 system apart: n·cond(M)·ε with cond(M) below 1e4.
  EXPECT_LT(result["natural_map"].get<double>(), 1e-10);
  EXPECT_LT(result["u_difference"].get<double>(), 1e-10);
  EXPECT_LT(result["v_difference"].get<double>(), 1e-10);
  EXPECT_EQ(result["M_difference"].get<double>(), 0.0);
  EXPECT_EQ(result["H_difference"].get<double>(), 0.0);
  EXPECT_EQ(result["kinetic_energy"], nlohmann::json::parse("[0.25, 0.125]"));
  EXPECT_EQ(result["kinetic_energy_unit"], "J");
  EXPECT_EQ(result["solver"], "pgs");
  EXPECT_EQ(result["last_residual"], 0.125);
}

}  // namespace
}  // namespace signorini::h5py_test
