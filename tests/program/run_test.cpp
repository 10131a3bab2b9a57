#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "base/available_cpus.h"
#include "program/program_fixture.h"
#include "record/trace_file.h"

namespace signorini::run_test {
namespace {

class RunTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (available_cpus().count < 2) GTEST_SKIP() << "rows of two threads need two CPUs";
  }
  /// Two problems, two solvers, two modes, two threads; small enough to be run a hundred times.
  std::string experiment(const std::string& more = "") const {
    planted("a.hdf5", {.contacts = 6, .regions = 2});
    planted("b.hdf5", {.contacts = 4, .seed = 2});
    std::ofstream(folder_ / "trial.toml")
        << "artefact = \"A trial\"\nfiles = [\"a.hdf5\", \"b.hdf5\"]\n"
           "protocols = [\"converge\", \"time\"]\nregions = [\"none\", \"points\"]\nthreads = [1, 2]\n"
           "repetitions = 2\nmax_iterations = 500\nminimum_time = 1e-5\n"
        << more << "[[solvers]]\nname = \"pgs\"\n[[solvers]]\nname = \"pcg-pgs\"\nlabel = \"combined\"\n";
    return path("trial.toml");
  }
  std::vector<std::string> command(bool resume) const {
    return with_flags(resume ? std::vector<std::string>{"--resume"} : std::vector<std::string>{});
  }
  std::vector<std::string> with_flags(const std::vector<std::string>& flags) const {
    std::vector<std::string> words{"run", path("trial.toml"), "--out", path("out")};
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }
  /// Runs that are killed at write call 1, 1 + stride, … and gone on with, up to the first that ends by itself.
  void kill_at_every(int stride) const;
  /// Three solvers to six tolerances: a second's work, several groups.
  /// Rows of a problem appear together: self-stopped runs take turns.
  void long_experiment() const {
    planted("long.hdf5", {.contacts = 30});
    planted("longer.hdf5", {.contacts = 40});
    planted("longest.hdf5", {.contacts = 50});
    std::ofstream(folder_ / "trial.toml")
        << "artefact = \"x\"\nfiles = [\"long.hdf5\", \"longer.hdf5\", \"longest.hdf5\"]\nminimum_time = "
           "0.01\n"
           "tolerances = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]\n[[solvers]]\nname = \"pgs\"\n"
           "[[solvers]]\nname = \"pcg-pgs\"\n[[solvers]]\nname = \"ca\"\n";
  }
  bool has_rows() const {
    return file_text(results() / "runs.csv").find("self-stopped") != std::string::npos;
  }
  fs::path results() const { return folder_ / "out" / "trial"; }
  std::set<std::string> rows() const {
    const std::vector<std::string> list = timeless_rows(results() / "runs.csv");
    const std::set<std::string> set(list.begin(), list.end());
    EXPECT_EQ(set.size(), list.size()) << "a row is there twice";
    return set;
  }
};

// per problem and solver: 2 converge rows (modes), 2 modes × 2 threads × 2 repetitions timed, 4 self-stopped
constexpr std::size_t kRows = 2 * 2 * (2 + 8 + 4);

TEST_F(RunTest, WritesARowPerRunWithCurvesProvenanceAndConfig) {
  experiment();
  const Outcome o = run(command(false));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(rows().size(), kRows);
  for (const RunRecord& row : read_run_table(results() / "runs.csv")) {
    EXPECT_EQ(row.experiment, "trial");
    EXPECT_EQ(row.status, SolveStatus::converged) << run_record_row(row);
    EXPECT_LE(row.errors.residual, 1.01e-6);  // 1 %: other order of summation than inside the solver
    EXPECT_GT(row.solve_seconds, 0.0);
    EXPECT_EQ(std::isnan(row.cpu_share), row.protocol == "converge") << run_record_row(row);
  }
  EXPECT_EQ(read_traces(results() / "trace.h5").size(), 2U * 2U * 2U);
  EXPECT_NE(file_text(results() / "env.json").find("\"xxh3\""), std::string::npos);
  EXPECT_NE(file_text(results() / "run.toml").find("artefact = \"A trial\""), std::string::npos);
  EXPECT_NE(file_text(results() / "regions.csv").find("a,0,points,3,2"), std::string::npos)
      << file_text(results() / "regions.csv");
  EXPECT_FALSE(fs::exists(results() / "trace.h5.parts"));
  EXPECT_NE(o.out.find("combined"), std::string::npos);
}

TEST_F(RunTest, CutsRegionsOutOfSnapshotsAsProblemsOfTheirOwn) {
  experiment("[cut]\nmin_contacts = 3\n");
  const Outcome o = run(command(false));
  EXPECT_EQ(o.code, 0) << o.err;
  std::map<std::string, int> contacts;  // of every problem
  for (const RunRecord& row : read_run_table(results() / "runs.csv")) {
    contacts[row.file] = row.contacts;
    EXPECT_EQ(row.status, SolveStatus::converged) << run_record_row(row);
    EXPECT_EQ(row.regions, 1) << row.file;
  }
  EXPECT_EQ(contacts, (std::map<std::string, int>{{"a_0_0", 3}, {"a_0_1", 3}, {"b_0_0", 4}}));
  // every one of them can be solved again
  EXPECT_EQ(run({"solve", (results() / "problems" / "a_0_1.hdf5").string(), "--solver", "pgs"}).code, 0);
  EXPECT_EQ(run(command(true)).code, 0);  // found again by a resume
}

TEST_F(RunTest, RefusesToCutWhereRegionsAreCoupled) {
  planted("a.hdf5", {.contacts = 6, .stiffness = 5.0});
  std::ofstream(folder_ / "trial.toml") << "artefact = \"A trial\"\nfiles = "
                                           "[\"a.hdf5\"]\n[cut]\n[[solvers]]\nname = \"pgs\"\n";
  const Outcome o = run(command(false));
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("key 'cut': step 0 of a couples mass points"), std::string::npos) << o.err;
}

TEST_F(RunTest, TimedRunNeedsNoMoreIterationsThanTheCurveShows) {
  experiment();
  ASSERT_EQ(run(command(false)).code, 0);
  std::map<std::string, int> first;
  for (const ConvergenceTrace& t : read_traces(results() / "trace.h5")) {
    for (std::size_t i = 0; i < t.residual.size(); ++i) {
      if (t.residual[i] > t.tolerance) continue;
      first[t.file + t.solver + t.region_mode] = t.iteration[i];
      break;
    }
  }
  for (const RunRecord& row : read_run_table(results() / "runs.csv")) {
    if (row.protocol != "time") continue;
    EXPECT_EQ(row.iterations, first.at(row.file + row.solver + row.region_mode));
  }
}

TEST_F(RunTest, AgainTakesAList) {
  experiment();
  ASSERT_EQ(run(command(false)).code, 0);
  const Outcome o = run(with_flags({"--resume", "--again", "iteration_limit,failed"}));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(run(with_flags({"--resume", "--again", "failed,tired"})).code, 2);
}

TEST_F(RunTest, ResumeMakesOnlyWhatIsMissing) {
  experiment();
  ASSERT_EQ(run(command(false)).code, 0);
  const std::string before = file_text(results() / "runs.csv");
  const std::string provenance = file_text(results() / "env.json");
  const Outcome again = run(command(true));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(file_text(results() / "runs.csv"), before) << "a finished experiment was run again";
  EXPECT_NE(again.err.find(fmt::format("{} rows ({} kept from before)", kRows, kRows)), std::string::npos)
      << again.err;

  EXPECT_EQ(file_text(results() / "env.json"), provenance) << "a session without rows left its provenance";

  fs::resize_file(results() / "runs.csv", before.size() / 2);
  EXPECT_EQ(run(command(true)).code, 0);
  const std::string resumed = file_text(results() / "env.json");
  const std::size_t earlier = resumed.find("\"earlier\"");
  ASSERT_NE(earlier, std::string::npos);
  EXPECT_LT(resumed.find("\"waited_seconds\""), earlier) << "of this run";
  EXPECT_NE(resumed.find("\"waited_seconds\"", earlier), std::string::npos) << "of the one before";
  EXPECT_EQ(rows().size(), kRows);
  EXPECT_EQ(file_text(results() / "runs.csv").substr(0, before.size() / 3),
            before.substr(0, before.size() / 3));

  experiment("stride = 1\n");
  const std::string full = file_text(results() / "runs.csv");
  expect_error(command(true), 2, "its rows were made from another version of the experiment file; --force");
  EXPECT_EQ(file_text(results() / "runs.csv"), full);
  const Outcome changed = run(with_flags({"--resume", "--force"}));
  EXPECT_EQ(changed.code, 0) << changed.err;
  EXPECT_NE(changed.err.find("starting again"), std::string::npos) << changed.err;
  EXPECT_EQ(rows().size(), kRows);
  EXPECT_FALSE(fs::exists(results() / "replaced"));
  // a problem file that changed is another input
  planted("b.hdf5", {.contacts = 4, .seed = 3});
  expect_error(command(true), 2, "its rows were made from other recordings or problem files; --force");
}

TEST_F(RunTest, ResultsThatAreThereAreNotDeletedUnasked) {
  experiment();
  ASSERT_EQ(run(command(false)).code, 0);
  const std::string rows_before = file_text(results() / "runs.csv");
  expect_error(command(false), 2, fmt::format("holds results already ({} rows); --resume keeps them", kRows));
  EXPECT_EQ(file_text(results() / "runs.csv"), rows_before);
  expect_error({"reproduce", path("trial.toml"), "--out", path("out")}, 2, "--force starts again");
  // Of two experiments the second is looked at before the first runs.
  std::ofstream(folder_ / "first.toml") << file_text(folder_ / "trial.toml");
  expect_error({"run", path("first.toml"), path("trial.toml"), "--out", path("out")}, 2,
               "trial: holds results");
  EXPECT_FALSE(fs::exists(folder_ / "out" / "first"));
  expect_error({"run", path("first.toml"), path("first.toml"), "--out", path("out")}, 2, "have the id first");
  expect_error({"run", path("first.toml"), "--out", "/proc/foo"}, 3, "/proc/foo: the folder cannot be made");
  expect_error({"run", path("first.toml"), "--out", path("trial.toml")}, 3,
               "trial.toml: the folder cannot be made");
}

TEST_F(RunTest, ASecondProcessInAResultFolderIsRefused) {
  long_experiment();
  const pid_t child = start(command(false));
  ASSERT_TRUE(wait_until([&] { return has_rows(); }));
  for (const char* how : {"--resume", "--force"}) {
    const Outcome second = run(with_flags({how}));
    EXPECT_EQ(second.code, 3) << second.err;
    EXPECT_NE(second.err.find(fmt::format("trial: is being written by process {} on ", child)),
              std::string::npos)
        << second.err;
  }
  const Outcome first = finish(child);
  ASSERT_EQ(first.code, 0) << first.err;
  const std::size_t all = rows().size();
  EXPECT_EQ(run(command(true)).code, 0);
  EXPECT_EQ(rows().size(), all);
  EXPECT_FALSE(fs::exists(folder_ / "out" / "trial.lock"));
}

TEST_F(RunTest, ForcedRunsKeepTheEarlierRowsUntilTheyAreComplete) {
  long_experiment();
  ASSERT_EQ(run(command(false)).code, 0);
  const std::string before = file_text(results() / "runs.csv");
  const std::size_t all = rows().size();
  for (int kill = 0; kill < 2;
       ++kill) {  // the second one replaces the rows of the first, not the complete ones
    const pid_t child = start(with_flags({"--force"}));
    ASSERT_TRUE(
        wait_until([&] { return said(child).find("starting again") != std::string::npos && has_rows(); }));
    ::kill(child, SIGKILL);
    finish(child);
    EXPECT_EQ(file_text(results() / "replaced" / "runs.csv"), before);
  }
  expect_error(command(false), 2, "--resume");
  EXPECT_EQ(run(command(true)).code, 0);
  EXPECT_EQ(rows().size(), all);
  EXPECT_FALSE(fs::exists(results() / "replaced"));
}

TEST_F(RunTest, ASceneThatIsBeingRecordedIsWaitedFor) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nscenes = [\"bucket\"]\nprotocols = [\"converge\"]\nmax_steps = 1\n"
         "minimum_time = 1e-5\n[[solvers]]\nname = \"pgs\"\n";
  fs::create_directories(folder_ / "out" / "recordings");
  const fs::path recording = folder_ / "out" / "recordings" / "bucket-quick.h5";
  const pid_t recorder = start({"record", "bucket", "-o", recording.string()});
  ASSERT_TRUE(wait_until([&] { return fs::exists(recording.string() + ".parts"); }));
  ASSERT_EQ(::kill(recorder, SIGSTOP), 0);
  const std::string waiting = fmt::format("bucket-quick.h5: process {} on ", recorder);
  const pid_t impatient = start(command(false));
  EXPECT_TRUE(wait_until([&] { return said(impatient).find(waiting) != std::string::npos; }))
      << said(impatient);
  ::kill(impatient, SIGINT);
  EXPECT_EQ(finish(impatient).code, 130);
  const pid_t patient = start(command(false));
  EXPECT_TRUE(wait_until([&] { return said(patient).find(waiting) != std::string::npos; })) << said(patient);
  ASSERT_EQ(::kill(recorder, SIGCONT), 0);
  EXPECT_EQ(finish(recorder).code, 0);
  const Outcome o = finish(patient);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err.find("recording bucket", o.err.find(waiting)), std::string::npos)
      << "recorded again: " << o.err;
  EXPECT_EQ(rows().size(), 1U);
}

TEST_F(RunTest, ARecordingOfAnotherVersionIsReplacedOnlyWhenAsked) {
  const auto write = [&](int steps) {
    std::ofstream(folder_ / "trial.toml")
        << "artefact = \"x\"\nprotocols = []\nsteps = true\n"
           "[[recordings]]\nname = \"toy\"\nscene = \"springtoy\"\nset = { \"time.steps\" = "
        << steps << " }\n";
  };
  write(3);
  ASSERT_EQ(run(command(false)).code, 0);
  const fs::path recording = folder_ / "out" / "recordings" / "toy-quick.h5";
  const std::string before = file_text(recording);
  fs::remove_all(results());
  write(4);
  const Outcome refused = run(command(false));
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("toy-quick.h5: recorded with another configuration"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  EXPECT_TRUE(file_text(recording) == before);
  EXPECT_EQ(run(with_flags({"--force"})).code, 0);
  EXPECT_FALSE(file_text(recording) == before);
}

TEST_F(RunTest, RowsAndCurvesAreTheSameEveryTimeApartFromTimes) {
  experiment();
  ASSERT_EQ(run(command(false)).code, 0);
  const std::set<std::string> first = rows();
  std::vector<ConvergenceTrace> curves = read_traces(results() / "trace.h5");
  ASSERT_EQ(run(with_flags({"--force"})).code, 0);
  EXPECT_EQ(rows(), first);
  const std::vector<ConvergenceTrace> again = read_traces(results() / "trace.h5");
  ASSERT_EQ(again.size(), curves.size());
  for (std::size_t i = 0; i < curves.size(); ++i) EXPECT_EQ(again[i].residual, curves[i].residual);
}

/// The groups (problem and solver) whose three rows and whose curve are on disk: resuming does not run them
/// again. Every row there is must be one of `whole`; at most one group may be there in part.
std::set<std::string> finished_groups(const fs::path& results, const std::set<std::string>& whole) {
  std::map<std::string, int> pieces;
  if (fs::exists(results / "runs.csv")) {
    for (const std::string& row : timeless_rows(results / "runs.csv"))
      EXPECT_TRUE(whole.contains(row)) << row;
    for (const RunRecord& row : read_run_table(results / "runs.csv")) ++pieces[row.file + row.solver];
  }
  std::vector<fs::path> curves{results / "trace.h5"};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(results / "trace.h5.parts", none)) {
    if (entry.path().extension() == ".h5") curves.push_back(entry.path());
  }
  std::set<std::string> traced;  // a kill while the parts are cleared away leaves some of them twice
  for (const fs::path& file : curves) {
    if (!fs::exists(file)) continue;
    for (const ConvergenceTrace& t : read_traces(file)) traced.insert(t.file + t.solver);
  }
  for (const std::string& group : traced) ++pieces[group];
  std::set<std::string> finished;
  for (const auto& [group, number] : pieces) {
    if (number == 4) finished.insert(group);
  }
  EXPECT_LE(pieces.size(), finished.size() + 1) << "more than one group is there in part";
  return finished;
}

void RunTest::kill_at_every(int stride) const {
  // four groups of three rows (converge, time, self-stopped) and a curve; a run makes some fifty write calls
  planted("a.hdf5", {.contacts = 3});
  planted("b.hdf5", {.contacts = 2, .seed = 2});
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"A trial\"\nfiles = [\"a.hdf5\", \"b.hdf5\"]\n"
         "protocols = [\"converge\", \"time\"]\nrepetitions = 1\nmax_iterations = 500\nminimum_time = 1e-6\n"
         "[[solvers]]\nname = \"pgs\"\n[[solvers]]\nname = \"pcg-pgs\"\n";
  ASSERT_EQ(run(command(false)).code, 0);
  const std::set<std::string> whole = rows();
  ASSERT_EQ(whole.size(), 12U);
  const std::size_t curves = read_traces(results() / "trace.h5").size();
  std::set<std::string> before;
  for (int at = 1;; at += stride) {
    SCOPED_TRACE(fmt::format("killed at write call {}", at));
    fs::remove_all(folder_ / "out");
    const Outcome o = run(command(true), killed_at(at));
    if (o.code == 0) {
      // the calls before the first row and after the last one (the curves into one file, env.json) included
      EXPECT_GT(at, 30) << "the shim does not see the writes";
      EXPECT_GE(static_cast<int>(before.size()), 4 - stride + 1);
      break;
    }
    ASSERT_EQ(o.code, 137) << o.err;
    // what was finished by the kill before is still there, and no two groups become safe by one write
    const std::set<std::string> kept = finished_groups(results(), whole);
    EXPECT_TRUE(std::includes(kept.begin(), kept.end(), before.begin(), before.end()));
    EXPECT_LE(kept.size(), before.size() + static_cast<std::size_t>(stride));
    before = kept;
    const std::size_t kept_rows = fs::exists(results() / "runs.csv") ? rows().size() : 0;
    const Outcome resumed = run(command(true));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find(fmt::format("({} kept from before)", kept_rows)), std::string::npos)
        << resumed.err;
    ASSERT_EQ(rows(), whole);
    ASSERT_EQ(read_traces(results() / "trace.h5").size(), curves);
    if (HasFailure()) break;
  }
}

// An odd stride: torn writes and missing ones take turns.
TEST_F(RunTest, KillAtAnySeventhWriteLosesAtMostTheRunInFlight) { kill_at_every(7); }
TEST_F(RunTest, SlowKillAtAnyWriteLosesAtMostTheRunInFlight) { kill_at_every(1); }

TEST_F(RunTest, InterruptKeepsWhatIsFinishedAndResumes) {
  long_experiment();
  const pid_t child = start(command(false));
  for (int i = 0; i < 2000 && file_text(results() / "runs.csv").find("self-stopped") == std::string::npos;
       ++i)
    ::usleep(5000);
  ::kill(child, SIGINT);
  const Outcome o = finish(child);
  ASSERT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("--resume"), std::string::npos);
  const std::size_t kept = rows().size();
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(run(command(true)).code, 0);
  EXPECT_GT(rows().size(), kept);
}

TEST_F(RunTest, InterruptedRecordingGoesOnFromItsCheckpointToTheSameBytes) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nscenes = [\"bucket\"]\nprotocols = [\"converge\"]\nmax_steps = 1\n"
         "minimum_time = 1e-5\n[[solvers]]\nname = \"pgs\"\n";
  const fs::path recording = folder_ / "out" / "recordings" / "bucket-quick.h5";
  const auto frames = [&] {
    std::error_code none;
    return std::distance(fs::directory_iterator(recording.string() + ".parts", none), {});
  };
  const pid_t child = start(command(false));
  for (int i = 0; i < 4000 && frames() < 3; ++i) ::usleep(2000);
  ::kill(child, SIGTERM);
  const Outcome interrupted = finish(child);
  ASSERT_EQ(interrupted.code, 130) << interrupted.err;
  ASSERT_TRUE(fs::exists(recording.string() + ".parts/checkpoint"));
  const Outcome resumed = run(command(true));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("bucket: going on after step "), std::string::npos) << resumed.err;
  ASSERT_EQ(run({"record", "bucket", "-o", path("whole.h5")}).code, 0);
  EXPECT_TRUE(file_text(recording) == file_text(folder_ / "whole.h5"));
}

/// The first solver stalls at rounding. The second would go on for hours, ten times the limit as traced runs may:
/// it never reaches its tolerance. A signal ends it; the row of the first stays, it leaves none.
TEST_F(RunTest, TerminationInsideALongSolveLosesThatSolveOnly) {
  const std::string file = planted("a.hdf5", {.contacts = 6});
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nfiles = [\"" << file
      << "\"]\nprotocols = [\"converge\"]\nregions = [\"none\"]\nthreads = [1]\ntolerances = [1e-300]\n"
         "max_iterations = 2000000000\ntime_limit = 5000.0\n[[solvers]]\nname = \"cr-full\"\n"
         "[[solvers]]\nname = \"pgs\"\n";
  const fs::path table = results() / "runs.csv";
  const auto lines = [&] {
    const std::string text = file_text(table);
    return std::count(text.begin(), text.end(), '\n');
  };
  const pid_t child = start(command(false));
  for (int i = 0; i < 5000 && lines() < 2; ++i) ::usleep(2000);
  ::usleep(300000);  // into the second solve
  ::kill(child, SIGTERM);
  const Outcome interrupted = finish(child);
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  const std::vector<RunRecord> rows = read_run_table(table);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().status, SolveStatus::stalled) << run_record_row(rows.front());
  EXPECT_EQ(rows.front().solver, "cr-full");
}

/// The table of steps has the statistics of every recording, probes of both, and the clocks that lie beside
/// them.
TEST_F(RunTest, KeepsTheStepsOfRecordingsWhereAskedTo) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nprotocols = []\nsteps = true\n"
         "[[recordings]]\nname = \"toy\"\nscene = \"springtoy\"\nset = { \"time.steps\" = 3 }\n"
         "[[recordings]]\nname = \"push\"\nscene = \"incline\"\nset = { \"time.steps\" = 4 }\n";
  const Outcome o = run(command(false));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_run_table(results() / "runs.csv").size(), 0U);
  const std::string steps = file_text(results() / "steps.csv");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 1 + 3 + 4) << steps;
  EXPECT_EQ(steps.rfind("file,step,time,contacts", 0), 0U);
  const std::string head = steps.substr(0, steps.find('\n'));
  const auto cells = std::count(head.begin(), head.end(), ',');
  std::istringstream lines(steps);
  for (std::string line; std::getline(lines, line);)
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), cells) << line;
  EXPECT_NE(head.find("solve_seconds"), std::string::npos);
  EXPECT_NE(steps.back(), ',');
  // without the file of clocks their cells are empty, the statistics stay
  fs::remove(folder_ / "out" / "recordings" / "toy-quick.steps.csv");
  ASSERT_EQ(run(command(true)).code, 0);
  const std::string later = file_text(results() / "steps.csv");
  EXPECT_NE(later.find(",,,,,\n"), std::string::npos) << later;
  EXPECT_EQ(std::count(later.begin(), later.end(), '\n'), 1 + 3 + 4);
}

/// A driver that cannot solve a step ends its recording, not the experiment.
TEST_F(RunTest, RecordingWhoseSolverFailsIsARowOfItsOwn) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nprotocols = []\nsteps = true\n"
         "[[recordings]]\nname = \"toy\"\nscene = \"springtoy\"\nset = { \"time.steps\" = 3 }\n"
         "[[recordings]]\nname = \"hopeless\"\nscene = \"rings\"\nset = { \"time.steps\" = 40, "
         "\"solver.max_iterations\" = 1, \"solver.accepted_residual\" = 1e-9 }\n";
  const Outcome o = run(command(false));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("ended early: step "), std::string::npos) << o.err;
  const std::string table = file_text(results() / "recordings.csv");
  EXPECT_NE(table.find("toy-quick.h5,status,failed,0\n"), std::string::npos) << table;
  EXPECT_NE(table.find("toy-quick.h5,status,steps,3\n"), std::string::npos) << table;
  EXPECT_NE(table.find("hopeless-quick.h5,status,failed,1\n"), std::string::npos) << table;
  EXPECT_NE(table.find("hopeless-quick.h5,status,message,\"step "), std::string::npos) << table;
  const std::size_t at = table.find("hopeless-quick.h5,status,steps,") + 31;
  const int steps = std::atoi(table.c_str() + at);
  EXPECT_GT(steps, 0);
  EXPECT_LT(steps, 40);
  // It is kept: nothing is recorded again, and the table says the same.
  const Outcome again = run(command(true));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.err.find("recording hopeless"), std::string::npos) << again.err;
  EXPECT_EQ(file_text(results() / "recordings.csv"), table);
}

/// Two recordings, one explicit and one implicit, that keep every step: regions are followed in both.
TEST_F(RunTest, FollowsRegionsOverTheStepsOfRecordings) {
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nprotocols = []\nrepetitions = 1\nminimum_time = 1e-6\n"
         "follow = [\"points\", \"islands\"]\n"
         "[[recordings]]\nname = \"balls\"\nscene = \"bucket\"\n"
         "set = { \"time.record_every\" = 1, \"time.steps\" = 150 }\n"
         "[[recordings]]\nname = \"push\"\nscene = \"rings\"\n"
         "set = { \"time.record_every\" = 1, \"time.steps\" = 60 }\n";
  const Outcome o = run(command(false));
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string text = file_text(results() / "follow.csv");
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line.rfind("file,step,region_mode,contacts", 0), 0U) << line;
  int balls = 0, rings = 0;
  while (std::getline(lines, line)) {
    EXPECT_NE(line.find(",1,"), std::string::npos) << line;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 15U) << line;
    EXPECT_EQ(cells[12], "1") << "the labels of a rebuild: " << line;
    EXPECT_EQ(std::stoi(cells[6]) + std::stoi(cells[7]), std::stoi(cells[3])) << line;
    balls += cells[0] == "balls-quick.h5";
    rings += cells[0] == "push-quick.h5" && cells[2] == "islands";
  }
  EXPECT_GT(balls, 10) << text;
  EXPECT_GT(rings, 5) << text;
  // a second run keeps the table
  ASSERT_EQ(run(command(true)).code, 0);
  EXPECT_EQ(file_text(results() / "follow.csv"), text);
}

/// Problems that an experiment brings along are files of its results, whatever min_contacts says; optional
/// files are used where they are, and left out with a word where not.
TEST_F(RunTest, BringsProblemsAlongAndLeavesOutWhatIsNotThere) {
  fs::create_directories(folder_ / "data" / "some");
  planted("data/some/there.hdf5", {.contacts = 5});
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\noptional_files = [\"some/there.hdf5\", \"some/gone.hdf5\"]\n"
         "protocols = [\"self-stopped\"]\nthreads = [1, 2]\nmin_contacts = 3\n"
         "[[problems]]\nname = \"net\"\nplanted = { contacts = 2, stiffness = 1.0 }\n[[solvers]]\nname = "
         "\"pgs\"\n";
  const std::string data = fmt::format("SIGNORINI_DATA={}", (folder_ / "data").string());
  const Outcome o = finish(start(command(false), {data}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("some/gone.hdf5: left out"), std::string::npos) << o.err;
  std::map<std::string, int> found;
  for (const RunRecord& row : read_run_table(results() / "runs.csv")) {
    EXPECT_EQ(row.protocol, "self-stopped");
    EXPECT_EQ(row.status, SolveStatus::converged);
    EXPECT_GT(row.counters.contact_sweeps, 0);
    ++found[row.file];
  }
  EXPECT_EQ(found, (std::map<std::string, int>{{"net", 2}, {"there", 2}}));
  // the same answer from the file alone
  const Outcome again = run({"solve", (results() / "problems" / "net.hdf5").string(), "--solver", "pgs",
                             "--csv", path("again.csv"), "--verbose"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("sweeps over contacts"), std::string::npos) << again.out;
  const RunRecord first = read_run_table(results() / "runs.csv").front();
  const RunRecord second = read_run_table(folder_ / "again.csv").front();
  EXPECT_EQ(second.errors.residual, first.errors.residual);
  EXPECT_EQ(second.counters.contact_sweeps, first.counters.contact_sweeps);
  // nothing is left to do
  const Outcome resumed = finish(start(command(true), {data}));
  EXPECT_NE(resumed.err.find("4 rows (4 kept from before)"), std::string::npos) << resumed.err;
}

}  // namespace
}  // namespace signorini::run_test
