#include <cstring>

#include "base/available_cpus.h"
#include "base/text.h"
#include "contact/problem_zoo.h"
#include "program/program_fixture.h"
#include "record/trace_file.h"

namespace signorini::solve_test {
namespace {

class SolveTest : public ProgramTest {};

int cpus() { return available_cpus().count; }

/// "1,2,4", as far as this process may use so many.
std::string threads_up_to(int most) {
  std::string text = "1";
  for (int n = 2; n <= std::min(most, cpus()); n *= 2) text += fmt::format(",{}", n);
  return text;
}

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0;
}

TEST_F(SolveTest, EveryCombinationIsOneRowWithTheRefereesResidual) {
  const std::string a = planted("a.hdf5", {.contacts = 12, .regions = 3});
  const std::string b = planted("b.hdf5", {.contacts = 8, .stiffness = 5.0});
  const Outcome o = run({"solve", a, b, "--solver", "pgs,pcg,pcg-pgs,ca", "--regions", "none,points,islands",
                         "--threads", threads_up_to(2), "--repetitions", "2", "--csv", path("x.csv")});
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<RunRecord> rows = read_run_table(folder_ / "x.csv");
  const std::size_t runs = 2U * 4U * 3U * (cpus() > 1 ? 2U : 1U);
  ASSERT_EQ(rows.size(), runs * 2U);
  const std::vector<std::string> lines = split(o.out, '\n');
  const auto shows_run = [](const std::string& line) {
    return line.starts_with("pgs ") || line.starts_with("pcg") || line.starts_with("ca ");
  };
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(lines, shows_run)), runs)
      << "the screen shows medians over repetitions\n"
      << o.out;
  for (const RunRecord& row : rows) {
    if (row.file == b && row.region_mode == "points") {
      EXPECT_EQ(row.status, SolveStatus::unsupported) << "points are inexact on a coupled mass";
      EXPECT_FALSE(row.message.empty());
      continue;
    }
    EXPECT_EQ(row.status, SolveStatus::converged) << run_record_row(row);
    // 1 %: the solver's own residual and the referee's are summed in different orders
    EXPECT_LE(row.errors.residual, 1.01e-6) << run_record_row(row);
    EXPECT_EQ(row.regions, row.region_mode != "none" && row.file == a ? 3 : 1);
  }
  EXPECT_TRUE(fs::exists(folder_ / "x.csv.env.json"));
}

TEST_F(SolveTest, SecondRunGivesTheSameRowsApartFromTimes) {
  const std::string a = planted("a.hdf5", {.contacts = 30, .regions = 5});
  const std::vector<std::string> command{
      "solve", a, "--solver", "pgs,pcg-pgs", "--regions", "none,points", "--threads", threads_up_to(4)};
  std::vector<std::string> first = command, second = command;
  first.insert(first.end(), {"--csv", path("1.csv")});
  second.insert(second.end(), {"--csv", path("2.csv")});
  EXPECT_EQ(run(first).code, 0);
  EXPECT_EQ(run(second).code, 0);
  EXPECT_EQ(timeless_rows(folder_ / "1.csv"), timeless_rows(folder_ / "2.csv"));
}

TEST_F(SolveTest, SolutionHasTheSameBitsForAnyNumberOfThreads) {
  const std::string a = planted("a.hdf5", {.contacts = 60, .regions = 12});
  // more threads than CPUs are refused here; the library's tests compare up to 8
  const std::vector<std::string> counts = split(threads_up_to(4), ',');
  for (const std::string& threads : counts) {
    const Outcome o = run({"solve", a, "--solver", "pcg-pgs", "--regions", "points", "--threads", threads,
                           "--solution", path(fmt::format("s{}.hdf5", threads))});
    EXPECT_EQ(o.code, 0) << o.err;
  }
  const FclibFile one = read_fclib(folder_ / "s1.hdf5");
  ASSERT_TRUE(one.solution);
  EXPECT_GT(one.solution->r.norm(), 0.0);
  for (const std::string& threads : counts) {
    const std::string other = "s" + threads + ".hdf5";
    EXPECT_TRUE(same_bits(one.solution->r, read_fclib(folder_ / other).solution->r)) << other;
    EXPECT_EQ(file_text(folder_ / "s1.hdf5"), file_text(folder_ / other));
  }
}

TEST_F(SolveTest, SolutionSatisfiesTheEquationsOfItsProblem) {
  const std::string a = planted("a.hdf5", {.contacts = 10, .stiffness = 2.0});
  EXPECT_EQ(run({"solve", a, "--solver", "pgs", "--tolerance", "1e-10", "--solution", path("s.hdf5")}).code,
            0);
  const FclibFile file = read_fclib(folder_ / "s.hdf5");
  const ContactProblem& p = file.problem;
  const FclibSolution& s = *file.solution;
  // a backward error: 1e-10 is far above the roundings of sums of some ten terms (1e-15) and far below any
  // wrong sign
  const Vector momentum = p.M * s.v - p.H * s.r - p.f;
  EXPECT_LE(momentum.lpNorm<Eigen::Infinity>(),
            1e-10 * p.f.lpNorm<Eigen::Infinity>() + 1e-10 * (p.M * s.v).lpNorm<Eigen::Infinity>());
  const Vector velocity = p.H.transpose() * s.v + p.w - s.u;
  EXPECT_LE(velocity.lpNorm<Eigen::Infinity>(), 1e-10 * (1.0 + s.v.lpNorm<Eigen::Infinity>()));
}

TEST_F(SolveTest, ExportedProblemSolvedAgainGivesTheSameBits) {
  const std::string a = planted("a.hdf5", {.contacts = 25, .regions = 5, .seed = 9});
  EXPECT_EQ(run({"export", a, "--step", "0", "-o", path("b.hdf5")}).code, 0);
  EXPECT_EQ(run({"solve", a, "--solver", "pgs", "--solution", path("sa.hdf5")}).code, 0);
  EXPECT_EQ(run({"solve", path("b.hdf5"), "--solver", "pgs", "--solution", path("sb.hdf5")}).code, 0);
  EXPECT_TRUE(
      same_bits(read_fclib(folder_ / "sa.hdf5").solution->r, read_fclib(folder_ / "sb.hdf5").solution->r));
  expect_error({"export", a, "-o", path("b.hdf5")}, 2, "--force");
  EXPECT_EQ(run({"export", a, "-o", path("b.hdf5"), "--force"}).code, 0);
}

TEST_F(SolveTest, NotConvergedIsFourOnlyWhenAsked) {
  const std::string a = planted("a.hdf5", {.contacts = 30});
  const std::vector<std::string> hopeless{"solve",       a,      "--solver", "pgs", "--max-iterations", "1",
                                          "--tolerance", "1e-12"};
  const Outcome o = run(hopeless);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("iteration_limit"), std::string::npos) << o.out;
  std::vector<std::string> strict = hopeless;
  strict.emplace_back("--require-converged");
  EXPECT_EQ(run(strict).code, 4);
  EXPECT_EQ(run({"solve", a, "--solver", "pgs", "--require-converged"}).code, 0);
}

TEST_F(SolveTest, PrintedFormThatFailsIsARowNotAGap) {
  const std::string a = planted("a.hdf5", {.contacts = 20, .stiffness = 1.0});
  const Outcome o = run({"solve", a, "--solver", "pcg", "--set", "pcg.form=printed", "--max-iterations",
                         "200", "--csv", path("x.csv")});
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<RunRecord> rows = read_run_table(folder_ / "x.csv");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NE(rows[0].status, SolveStatus::converged);
  EXPECT_GT(rows[0].errors.residual, 1e-6);
}

TEST_F(SolveTest, TraceHoldsTheConvergenceCurveOfEveryCombination) {
  const std::string a = planted("a.hdf5", {.contacts = 12, .regions = 3});
  EXPECT_EQ(
      run({"solve", a, "--solver", "pgs,pcg", "--regions", "none,points", "--trace", path("t.h5")}).code, 0);
  const std::vector<ConvergenceTrace> traces = read_traces(folder_ / "t.h5");
  ASSERT_EQ(traces.size(), 4U);
  for (const ConvergenceTrace& trace : traces) {
    ASSERT_GT(trace.residual.size(), 2U);
    EXPECT_EQ(trace.iteration.front(), 0);
    EXPECT_LE(trace.residual.back(), 1e-6);
    EXPECT_GT(trace.residual.front(), trace.residual.back());
  }
}

TEST_F(SolveTest, EmptyAndSingleContactProblemsAreNormalInput) {
  const std::string one = planted("one.hdf5", {.contacts = 1});
  const ContactProblem whole = make_planted_problem({.contacts = 1}).problem;
  FclibFile none;
  none.problem.M = whole.M;
  none.problem.f = whole.f;
  none.problem.H.resize(whole.dofs(), 0);
  write_fclib(folder_ / "none.hdf5", none);
  const Outcome o = run({"solve", one, path("none.hdf5"), "--solver", "pgs,pcg,pcg-pgs,ca,reference",
                         "--regions", "none,points,islands", "--csv", path("x.csv"), "--require-converged"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_EQ(read_run_table(folder_ / "x.csv").size(), 2U * 5U * 3U);
  EXPECT_EQ(run({"info", path("none.hdf5")}).code, 0);
}

TEST_F(SolveTest, InfoCountsRegionsAndIslands) {
  const std::string a = planted("a.hdf5", {.contacts = 12, .regions = 3});
  const Outcome table = run({"info", a});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.out.find("a.hdf5"), std::string::npos);
  const Outcome json = run({"info", a, "--json"});
  EXPECT_NE(json.out.find("\"regions\": 3"), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"largest_region\": 4"), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"contacts\": 12"), std::string::npos) << json.out;
}

TEST_F(SolveTest, InfoTellsAProblemInThePlane) {
  FclibFile file;
  file.problem = zoo::specimen("planar_wedge_moving").problem;
  write_fclib(path("wedge.hdf5"), file);
  EXPECT_NE(run({"info", path("wedge.hdf5")}).out.find("primal, 2D"), std::string::npos);
  EXPECT_NE(run({"info", path("wedge.hdf5"), "--steps"}).out.find("  2D"), std::string::npos);
  const Outcome json = run({"info", path("wedge.hdf5"), "--json"});
  EXPECT_NE(json.out.find("\"spacedim\": 2"), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"dofs\": 4"), std::string::npos) << json.out;
}

TEST_F(SolveTest, FclibCollectionGivesARowPerCombination) {
  const fs::path collection = fs::path(SIGNORINI_DATA_DIR) / "fclib" / "local";
  if (!fs::is_directory(collection)) GTEST_SKIP() << collection << " is absent";
  std::vector<std::string> command{"solve"};
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(collection)) {
    if (entry.file_size() > 60000 || entry.path().extension() != ".hdf5") continue;
    command.push_back(entry.path().string());
    ++files;
  }
  ASSERT_GT(files, 3U);
  command.insert(command.end(),
                 {"--solver", "pgs,pcg,pcg-pgs,ca", "--regions", "none,points,islands", "--threads",
                  threads_up_to(2), "--max-iterations", "300", "--csv", path("x.csv")});
  const Outcome o = run(command);
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<RunRecord> rows = read_run_table(folder_ / "x.csv");
  EXPECT_EQ(rows.size(), files * (cpus() > 1 ? 24U : 12U));
  for (const RunRecord& row : rows) EXPECT_FALSE(std::isnan(row.errors.residual)) << run_record_row(row);
}

TEST_F(SolveTest, NoOutputIsAnInputOrAnotherOutput) {
  const std::string a = planted("a.hdf5", {.contacts = 5});
  const std::string bytes = file_text(a);
  for (const char* option : {"--csv", "--solution", "--trace"}) {
    expect_error({"solve", a, "--solver", "pgs", option, a, "--force"}, 2, "is an input of this command");
    expect_error({"solve", a, "--solver", "pgs", option, a}, 2, "is an input of this command");
    expect_error({"solve", a, "--solver", "pgs", option, "/dev/null", "--force"}, 2,
                 "/dev/null: is a device");
  }
  EXPECT_EQ(file_text(a), bytes);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_error(
      {"solve", a, "--solver", "pgs", "--csv", path("z"), "--solution", path("z"), "--trace", path("z")}, 2,
      "are the same file");
  expect_error({"solve", a, "--solver", "pgs", "--csv", path("z"), "--trace", path("z.env.json")}, 2,
               "are the same file");
  expect_error({"export", a, "-o", a, "--force"}, 2, "is an input of this command");
  expect_error({"export", a, "-o", "/dev/null", "--force"}, 2, "is a device");
  EXPECT_EQ(file_text(a), bytes);
  for (const char* name : {"z", "z.env.json", "z.partial", "z.lock"})
    EXPECT_FALSE(fs::exists(path(name))) << name;
}

TEST_F(SolveTest, ExistingOutputsAreReplacedOnlyWhenAsked) {
  const std::string a = planted("a.hdf5", {.contacts = 5});
  for (const auto& [option, file] : std::vector<std::pair<std::string, std::string>>{
           {"--csv", "x.csv"}, {"--solution", "s.hdf5"}, {"--trace", "t.h5"}}) {
    std::ofstream(folder_ / file) << "mine";
    expect_error({"solve", a, "--solver", "pgs", option, path(file)}, 2,
                 file + ": exists already; --force replaces it");
    EXPECT_EQ(file_text(folder_ / file), "mine");
    EXPECT_EQ(run({"solve", a, "--solver", "pgs", option, path(file), "--force"}).code, 0);
    EXPECT_NE(file_text(folder_ / file), "mine");
    // a failure leaves what is there
    const std::string made = file_text(folder_ / file);
    EXPECT_EQ(run({"solve", a, path("absent.hdf5"), "--solver", "pgs", option, path(file), "--force"}).code,
              option == "--solution" ? 2 : 3);
    EXPECT_EQ(file_text(folder_ / file), made);
  }
  expect_error({"solve", a, "--solver", "pgs", "--csv", "/proc/x.csv"}, 3, "/proc/x.csv");
}

TEST_F(SolveTest, RowsOfAnInterruptedRunAreKeptAndNamed) {
  const std::string a = planted("a.hdf5", {.contacts = 8}), b = planted("b.hdf5", {.contacts = 40});
  std::ofstream(folder_ / "x.csv") << "mine";
  const pid_t child =
      start({"solve", a, b, "--solver", "pgs", "--tolerance", "1e-300", "--max-iterations", "1000",
             "--repetitions", "100000", "--csv", path("x.csv"), "--trace", path("t.h5"), "--force"});
  const auto lines = [&] {
    const std::string text = file_text(folder_ / "x.csv.partial");
    return std::count(text.begin(), text.end(), '\n');
  };
  ASSERT_TRUE(wait_until([&] { return lines() > 3; }));
  ::kill(child, SIGTERM);
  const Outcome o = finish(child);
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("rows so far: " + path("x.csv.partial")), std::string::npos) << o.err;
  EXPECT_GE(read_run_table(folder_ / "x.csv.partial").size(), 3U);
  EXPECT_EQ(read_traces(folder_ / "t.h5.partial").size(), 1U);
  EXPECT_EQ(file_text(folder_ / "x.csv"), "mine");
  // the next run does not take them away unasked
  expect_error({"solve", a, "--solver", "pgs", "--trace", path("t.h5")}, 2, "t.h5.partial: exists already");
  EXPECT_EQ(run({"solve", a, "--solver", "pgs", "--csv", path("x.csv"), "--force"}).code, 0);
  EXPECT_EQ(read_run_table(folder_ / "x.csv").size(), 1U);
  EXPECT_FALSE(fs::exists(folder_ / "x.csv.partial"));
}

TEST_F(SolveTest, NoAnswerIsNoSolutionFile) {
  const std::string a = planted("a.hdf5", {.contacts = 8, .stiffness = 5.0});
  const Outcome o = run({"solve", a, "--solver", "pgs", "--regions", "points", "--solution", path("s.hdf5")});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.out.find("unsupported"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("not written, no run gave an answer"), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(folder_ / "s.hdf5"));
  EXPECT_FALSE(fs::exists(folder_ / "s.hdf5.env.json"));
}

}  // namespace
}  // namespace signorini::solve_test
