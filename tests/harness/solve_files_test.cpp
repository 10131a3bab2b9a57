// `solve` without its screen: what a request means, the runs in their order, files and what is kept of a run
// that ends early.

#include "harness/solve_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "record/record_test_tools.h"

namespace signorini::solve_files_test {
namespace {

namespace fs = std::filesystem;

template <class Call>
std::string mistake(Call&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string plan_mistake(const SolveRequest& request) {
  return mistake([&] { plan_solves(request); });
}

/// Writes down what it is told; raises `flag` after so many runs.
class Journal : public SolveObserver {
 public:
  void on_combination(std::size_t file, const std::string& what) override {
    combinations.push_back(fmt::format("{} {}", file, what));
  }
  void on_run(const RunRecord& run) override {
    runs.push_back(run);
    if (runs.size() == cancel_after) flag = true;
  }
  void on_repetitions(std::span<const RunRecord> of_one) override { groups.push_back(of_one.size()); }
  void on_note(const std::string& text) override { notes.push_back(text); }

  std::vector<std::string> combinations, notes;
  std::vector<RunRecord> runs;
  std::vector<std::size_t> groups;
  std::size_t cancel_after = 0;
  CancelFlag flag{false};
};

class SolveFilesTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string planted(const std::string& name, const PlantedOptions& options = {}) const {
    FclibFile file;
    file.problem = make_planted_problem(options).problem;
    file.info.title = name;
    write_fclib(path(name), file);
    return path(name);
  }
  /// Frames of one problem.
  std::string recording(const std::string& name, const std::vector<std::string>& ids) const {
    RecordingWriter writer(path(name), {.scene = "net", .config = "title = 'x'\n", .git = "", .seed = 0},
                           false);
    for (const std::string& id : ids) {
      Frame frame;
      frame.id = id;
      frame.problem = make_planted_problem({.contacts = 4}).problem;
      writer.append(frame);
    }
    writer.finish();
    return path(name);
  }
  SolveRequest request(const std::string& file) const {
    SolveRequest r;
    r.files = {file};
    r.solvers = {"pgs"};
    return r;
  }

  TemporaryFolder folder_;
};

TEST(SolvePlan, ListsAndRepeatedEntriesMeanTheSame) {
  EXPECT_EQ(list_entries({"a, b", "c"}, "--solver"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(mistake([] { list_entries({"a,,b"}, "--solver"); }), "--solver a,,b: has an empty entry");
  SolveRequest r;
  r.solvers = {"pgs,ca", "pcg"};
  r.settings = {"pgs.law=pyramid"};
  r.regions = {"none,islands"};
  r.threads = {"1", "2"};
  r.matrix = "as-stored";
  const SolvePlan plan = plan_solves(r);
  ASSERT_EQ(plan.variants.size(), 3U);
  EXPECT_EQ(plan.variants[2].label, "pcg");
  EXPECT_EQ(plan.variants[0].options, (OptionMap{{"law", "pyramid"}}));
  EXPECT_TRUE(plan.variants[1].options.empty());
  EXPECT_EQ(plan.modes, (std::vector<RegionMode>{RegionMode::none, RegionMode::islands}));
  EXPECT_EQ(plan.threads, (std::vector<int>{1, 2}));
  EXPECT_EQ(plan.matrix, MatrixReading::as_stored);
  EXPECT_EQ(plan.limits.time_limit, std::numeric_limits<double>::infinity()) << "0 is no limit";
}

TEST(SolvePlan, MistakesNameTheOptionAndTheValue) {
  SolveRequest good;
  good.files = {"a.h5"};
  good.solvers = {"pgs,ca"};
  EXPECT_EQ(plan_mistake(good), "no error");
  const auto with = [&good](auto change) {
    SolveRequest r = good;
    change(r);
    return plan_mistake(r);
  };
  EXPECT_EQ(with([](SolveRequest& r) { r.settings = {"pgs"}; }),
            "--set pgs: must look like SOLVER.option=value, e.g. --set pgs.law=pyramid");
  EXPECT_EQ(with([](SolveRequest& r) { r.settings = {"pgz.law=cone"}; }),
            "--set pgz.law=cone: solver 'pgz' is not among those asked for (did you mean 'pgs'?)");
  EXPECT_EQ(with([](SolveRequest& r) {
              r.settings = {"pgs.law=cone", "pgs.law=pyramid"};
            }),
            "--set: pgs.law is given twice (cone, pyramid); give it once");
  EXPECT_EQ(with([](SolveRequest& r) { r.threads = {"0"}; }),
            "--threads 0: must be at least 1, e.g. --threads 2");
  EXPECT_EQ(with([](SolveRequest& r) { r.solution = "s.hdf5"; }),
            "--solution s.hdf5: holds one answer; ask for one file and one solver");
  EXPECT_EQ(
      with([](SolveRequest& r) { r.regions = {"point"}; }),
      "--regions: unknown value 'point' (known: none, points, islands, auto, points-approx, points-inner)");
}

TEST(SolvePlan, EveryOutputHasItsCompanions) {
  SolveRequest r;
  r.files = {"a.h5"};
  r.csv = "rows.csv";
  r.solution = "s.hdf5";
  const OutputPlan plan = outputs_of(r);
  EXPECT_EQ(plan.inputs, (std::vector<fs::path>{"a.h5"}));
  ASSERT_EQ(plan.outputs.size(), 2U);
  EXPECT_EQ(plan.outputs[0].option, "--csv");
  EXPECT_EQ(plan.outputs[0].beside,
            (std::vector<fs::path>{"rows.csv.env.json", "rows.csv.partial", "rows.schema.json"}));
  EXPECT_EQ(plan.outputs[1].beside, (std::vector<fs::path>{"s.hdf5.env.json"}));
  EXPECT_EQ(plan.existing, ExistingOutput::refuse);
  r.replace = true;
  EXPECT_EQ(outputs_of(r).existing, ExistingOutput::replace);
}

TEST_F(SolveFilesTest, StepsAreChosenWithOrWithoutLeadingZeros) {
  const std::string path = recording("a.h5", {"000000", "000012", "000012.2", "000120"});
  const ProblemFile file(path);
  EXPECT_EQ(choose_steps(file, {}), file.steps());
  EXPECT_EQ(choose_steps(file, {"120,0", "12.2"}),
            (std::vector<std::string>{"000120", "000000", "000012.2"}));
  EXPECT_EQ(choose_steps(file, {"00012"}), (std::vector<std::string>{"000012"}));
  EXPECT_EQ(mistake([&] { choose_steps(file, {"7"}); }),
            fmt::format("--step 7: {} has no step '7'; it holds 4 from 000000 to 000120", path));
}

TEST(SolveTally, CountsByStatusAndAsksTheReferee) {
  SolveTally tally;
  RunRecord run;
  run.tolerance = 1e-6;
  const auto count = [&](SolveStatus status, double residual) {
    run.status = status;
    run.errors.residual = residual;
    tally.count(run);
  };
  count(SolveStatus::converged, 9e-7);
  EXPECT_EQ(tally.text(), "1 run: 1 converged");
  EXPECT_TRUE(tally.all_reached);
  count(SolveStatus::converged, 2e-6);
  EXPECT_FALSE(tally.all_reached) << "the solver says so, the referee does not";
  count(SolveStatus::stalled, 1.0);
  count(SolveStatus::unsupported, 0.0);
  count(SolveStatus::failed, 0.0);
  EXPECT_EQ(tally.text(), "5 runs: 2 converged, 1 did not, 1 unsupported, 1 failed");
}

TEST_F(SolveFilesTest, EveryCombinationIsRunAndPublished) {
  SolveRequest r = request(planted("a.hdf5", {.contacts = 6, .regions = 2}));
  r.files.push_back(planted("b.hdf5"));
  r.solvers = {"pgs,ca"};
  r.regions = {"none,points"};
  r.repetitions = 2;
  r.csv = path("rows.csv");
  r.trace = path("trace.h5");
  FileSolver solver(r, {"signorini", "solve"});
  Journal journal;
  solver.run(journal);
  EXPECT_TRUE(fs::exists(path("rows.csv.partial"))) << "rows are safe before the end";
  EXPECT_FALSE(fs::exists(path("rows.csv")));
  EXPECT_EQ(journal.groups, std::vector<std::size_t>(8, 2));
  ASSERT_EQ(journal.combinations.size(), 8U);
  EXPECT_EQ(journal.combinations.front(), fmt::format("0 {} step 0 pgs", r.files[0]));
  EXPECT_EQ(journal.combinations.back(), fmt::format("1 {} step 0 ca", r.files[1]));
  ASSERT_EQ(journal.runs.size(), 16U);
  EXPECT_EQ(journal.runs[1].repetition, 1);
  EXPECT_EQ(journal.runs[2].region_mode, "points");
  EXPECT_EQ(solver.tally().runs, 16U);

  const SolveOutputs outputs = solver.publish();
  EXPECT_EQ(outputs.written, (std::vector<std::string>{r.csv, r.trace}));
  EXPECT_FALSE(outputs.answer_missing) << "none was asked for";
  const std::vector<RunRecord> rows = read_run_table(r.csv);
  ASSERT_EQ(rows.size(), 16U);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(run_key(rows[i]), run_key(journal.runs[i]));
  EXPECT_EQ(read_traces(r.trace).size(), 8U) << "one for each combination";
  EXPECT_TRUE(fs::exists(path("rows.csv.env.json")) && fs::exists(path("trace.h5.env.json")));
  EXPECT_FALSE(fs::exists(path("rows.csv.partial")));
}

TEST_F(SolveFilesTest, TheAnswerIsThatOfTheLastRunThatGaveOne) {
  SolveRequest r = request(planted("a.hdf5"));
  r.solution = path("s.hdf5");
  FileSolver solver(r, {});
  Journal journal;
  solver.run(journal);
  EXPECT_EQ(solver.publish().written, std::vector<std::string>{r.solution});
  const FclibFile file = read_fclib(r.solution);
  ASSERT_TRUE(file.solution);
  const Vector& answer = file.solution->r;
  EXPECT_LE(Referee(file.problem).measure(span_of(answer), {}).residual, 1.01e-6);

  SolveRequest none = request(r.files[0]);
  none.solution = path("t.hdf5");
  none.solvers = {"ica"};
  none.regions = {"points"};
  none.files = {planted("coupled.hdf5", {.contacts = 8, .stiffness = 5.0})};
  FileSolver refused(none, {});
  refused.run(journal);
  EXPECT_EQ(refused.tally().unsupported, 1U);
  EXPECT_TRUE(refused.publish().answer_missing);
  EXPECT_FALSE(fs::exists(none.solution));
}

TEST_F(SolveFilesTest, TheAnswerInThePlaneStaysThere) {
  const zoo::Specimen wedge = zoo::specimen("planar_wedge_held");
  FclibFile file;
  file.problem = wedge.problem;
  write_fclib(path("wedge.hdf5"), file);
  SolveRequest r = request(path("wedge.hdf5"));
  r.solution = path("s.hdf5");
  r.tolerance = 1e-10;
  FileSolver solver(r, {});
  Journal journal;
  solver.run(journal);
  solver.publish();
  ASSERT_EQ(journal.runs.size(), 1U);
  EXPECT_EQ(journal.runs[0].dofs, 4) << "of the file";
  const FclibFile read = read_fclib(r.solution);
  EXPECT_EQ(read.problem.spacedim, 2);
  ASSERT_TRUE(read.solution);
  // cond(W) of the wedge is below 100
  EXPECT_LE((read.solution->r - wedge.cone).cwiseAbs().maxCoeff(), 1e-8 * wedge.cone.maxCoeff());
  EXPECT_EQ(read.solution->v.size(), read.problem.dofs());
}

TEST_F(SolveFilesTest, OneAnswerNeedsOneStep) {
  SolveRequest r = request(recording("a.h5", {"000001", "000002"}));
  r.solution = path("s.hdf5");
  FileSolver solver(r, {});
  Journal journal;
  EXPECT_EQ(mistake([&] { solver.run(journal); }),
            fmt::format("--solution {}: holds one answer; pick one of the 2 steps with --step", r.solution));
}

TEST_F(SolveFilesTest, WhatWasMadeBeforeASignalIsKeptUnderAnotherName) {
  Journal journal;
  journal.cancel_after = 3;
  SolveRequest r = request(planted("a.hdf5"));
  r.repetitions = 5;
  r.solvers = {"pgs,ca"};
  r.csv = path("rows.csv");
  r.trace = path("trace.h5");
  r.cancelled = &journal.flag;
  {
    FileSolver solver(r, {});
    EXPECT_THROW(solver.run(journal), Cancelled);
    solver.keep_partial(journal);
  }
  EXPECT_EQ(journal.runs.size(), 3U);
  EXPECT_TRUE(journal.groups.empty()) << "no combination ended";
  EXPECT_EQ(read_run_table(path("rows.csv.partial")).size(), 3U);
  EXPECT_EQ(read_traces(path("trace.h5.partial")).size(), 1U);
  EXPECT_EQ(journal.notes,
            (std::vector<std::string>{fmt::format("the 3 rows so far: {}", path("rows.csv.partial")),
                                      fmt::format("the 1 curves so far: {}", path("trace.h5.partial"))}));
  EXPECT_FALSE(fs::exists(r.csv) || fs::exists(r.trace));
}

TEST_F(SolveFilesTest, NothingIsLeftOfACommandThatMadeNothing) {
  SolveRequest r = request(path("absent.hdf5"));
  r.csv = path("rows.csv");
  Journal journal;
  {
    FileSolver solver(r, {});
    EXPECT_THROW(solver.run(journal), InputError);
    solver.keep_partial(journal);
  }
  EXPECT_TRUE(journal.notes.empty());
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace signorini::solve_files_test
