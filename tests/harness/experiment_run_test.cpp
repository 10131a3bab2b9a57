#include "harness/experiment_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "harness/run_record.h"
#include "harness/text_file.h"
#include "record/fclib_file.h"
#include "record/guarded.h"
#include "record/problem_file.h"
#include "record/trace_file.h"

namespace signorini::experiment_run_test {
namespace {

namespace fs = std::filesystem;

/// Keeps what is said; ends the work when `cancel_at` parts are done, or throws when `throw_at` are.
class Listener : public RunMonitor {
 public:
  void message(std::string_view line) override { said_ += std::string(line) + "\n"; }
  void begin_progress(const std::string&, long long total) override { total_ = total; }
  void progress(long long done, std::string_view) override {
    if (done >= throw_at_) throw std::runtime_error("the terminal is gone");
    if (done >= cancel_at_) cancelled_ = true;
  }
  void end_progress() override { ++ended_; }
  const CancelFlag* cancelled() const override { return &cancelled_; }

  void cancel_at(long long parts) { cancel_at_ = parts; }
  void throw_at(long long parts) { throw_at_ = parts; }
  const std::string& said() const { return said_; }
  long long total() const { return total_; }
  int ended() const { return ended_; }

 private:
  std::string said_;
  static constexpr long long kNever = std::numeric_limits<long long>::max();
  long long total_ = 0, cancel_at_ = kNever, throw_at_ = kNever;
  int ended_ = 0;
  CancelFlag cancelled_{false};
};

/// "Records" planted problems of 2, 4, 6, … contacts, one per step.
class Planted : public RecordingProvider {
 public:
  explicit Planted(fs::path folder) : folder_(std::move(folder)) {}

  fs::path provide(const SceneVariant& wanted, bool) override {
    ++asked;
    if (broken) throw InputError("the scene cannot be recorded");
    const fs::path path = folder_ / (wanted.name + "-quick.h5");
    if (fs::exists(path)) return path;
    RecordingWriter writer(path, {wanted.scene, "", "test", 1}, false);
    StepTable statistics{{"step", "contacts"}, {"1", "1"}, {}};
    for (int step = 1; step <= 3; ++step) {
      writer.append({fmt::format("{:06}", step),
                     make_planted_problem({.contacts = 2 * step, .regions = 2}).problem, nullptr});
      statistics.rows.push_back({static_cast<double>(step), 2.0 * step});
    }
    writer.finish(&statistics);
    return path;
  }
  std::vector<std::pair<std::string, double>> facts(const RecordingHeader&, const StepTable& statistics,
                                                    const fs::path&) const override {
    return {{"steps_taken", static_cast<double>(statistics.rows.size())}};
  }
  std::vector<std::string> statistics_columns() const override { return {"step", "contacts"}; }
  std::vector<std::string> clock_columns() const override { return {"solve_seconds"}; }

  int asked = 0;
  bool broken = false;

 private:
  fs::path folder_;
};

enum class Rows { fresh, resume, force };

class ExperimentRunTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("signorini_run_{}_{}", info->name(), ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "recordings");
  }
  void TearDown() override { fs::remove_all(folder_); }

  static constexpr const char* kTitle = "artefact = \"A trial\"\n";
  static constexpr const char* kSolvers =
      "[[solvers]]\nname = \"pgs\"\n[[solvers]]\nname = \"pcg-pgs\"\nlabel = \"combined\"\n";

  void write(const std::string& text) const { std::ofstream(folder_ / "trial.toml") << text; }
  /// Two problems, two solvers, two modes.
  void write_planted(const std::string& before = "",
                     const std::string& keys = "max_iterations = 500\n") const {
    write(before + kTitle + "protocols = [\"converge\", \"time\"]\nregions = [\"none\", \"points\"]\n" +
          "repetitions = 2\nminimum_time = 1e-5\n" + keys +
          "[[problems]]\nname = \"a\"\nplanted = { contacts = 6, regions = 2 }\n"
          "[[problems]]\nname = \"b\"\nplanted = { contacts = 4, seed = 2 }\n" +
          kSolvers);
  }
  /// A recording of three snapshots, and a file.
  void write_recorded(const std::string& keys = "") const {
    FclibFile file;
    file.problem = make_planted_problem({.contacts = 5, .seed = 3}).problem;
    write_fclib(folder_ / "c.hdf5", file);
    write(kTitle + keys +
          "files = [\"c.hdf5\"]\nprotocols = [\"converge\"]\nregions = [\"none\", \"points\"]\n"
          "tolerances = [1e-3, 1e-6]\n[[recordings]]\nname = \"toy\"\nscene = \"springtoy\"\n"
          "set = { \"time.steps\" = 3 }\n" +
          kSolvers);
  }

  ExperimentRequest request(Rows rows) const {
    ExperimentRequest request;
    request.config = folder_ / "trial.toml";
    request.experiment = read_experiment(request.config, "quick");
    request.output = folder_ / "out";
    request.resume = rows == Rows::resume;
    request.force = rows == Rows::force;
    request.command_line = {"test"};
    return request;
  }
  ExperimentResult run(Rows rows, Listener& listener) {
    const ExperimentRequest wanted = request(rows);
    return run_experiment(wanted, ResultFolder(wanted), provider(), listener);
  }
  ExperimentResult run(Rows rows) {
    Listener listener;
    return run(rows, listener);
  }
  Planted& provider() {
    if (!provider_) provider_.emplace(folder_ / "recordings");
    return *provider_;
  }
  std::string refusal(Rows rows) {
    try {
      run(rows);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path results() const { return folder_ / "out" / "trial"; }
  std::string text(const char* name) const { return text_or_nothing(results() / name); }
  /// What does not depend on clocks, sorted.
  std::vector<std::string> rows() const {
    std::vector<std::string> list;
    for (const RunRecord& row : read_run_table(results() / "runs.csv"))
      list.push_back(fmt::format("{} {} {} {}", run_key(row), enum_name(row.status), row.iterations,
                                 row.errors.residual));
    std::sort(list.begin(), list.end());
    return list;
  }

  fs::path folder_;
  std::optional<Planted> provider_;
};

// per problem and solver: 2 converge rows (modes), 2 modes × 2 repetitions timed, 2 self-stopped
constexpr std::size_t kGroup = 2 + 4 + 2;
constexpr std::size_t kRows = 2 * 2 * kGroup;

TEST_F(ExperimentRunTest, PlantedProblemsRunEndToEnd) {
  write_planted();
  Listener listener;
  const ExperimentResult result = run(Rows::fresh, listener);
  EXPECT_EQ(result.folder, results());
  EXPECT_EQ(result.rows, kRows);
  EXPECT_EQ(result.resumed, 0U);
  EXPECT_EQ(result.failed, 0U);
  EXPECT_EQ(listener.total(), 4);
  EXPECT_EQ(listener.ended(), 1);
  EXPECT_EQ(listener.said(), "");
  EXPECT_EQ(provider().asked, 0);
  for (const RunRecord& row : read_run_table(results() / "runs.csv")) {
    EXPECT_EQ(row.experiment, "trial");
    EXPECT_EQ(row.status, SolveStatus::converged) << run_record_row(row);
    EXPECT_LE(row.errors.residual, 1.01e-6);
  }
  EXPECT_EQ(read_traces(results() / "trace.h5").size(), 2U * 2U * 2U);
  EXPECT_EQ(text("regions.csv"), "file,step,region_mode,size,count\na,0,points,3,2\nb,0,points,4,1\n");
  EXPECT_EQ(text("recordings.csv"), "file,kind,key,value\n");
  EXPECT_TRUE(fs::exists(results() / "problems" / "a.hdf5"));
  const std::string head = text("run.toml");
  EXPECT_EQ(head.rfind("# size: quick\n# program: ", 0), 0U) << head;
  EXPECT_NE(head.find("\n# experiment: "), std::string::npos) << head;
  EXPECT_NE(head.find("\n# input: a "), std::string::npos) << head;
  EXPECT_EQ(head.substr(head.find("artefact")), text_or_nothing(folder_ / "trial.toml"));
  EXPECT_NE(text("env.json").find(fmt::format("\"definition\": \"{}\"", folder_.string())), std::string::npos)
      << text("env.json");
}

TEST_F(ExperimentRunTest, ResumeAddsNothingAndDecodesNothing) {
  write_planted();
  run(Rows::fresh);
  const std::string table = text("runs.csv"), regions = text("regions.csv"), provenance = text("env.json");
  std::uint64_t decoded = problems_decoded();
  EXPECT_EQ(run(Rows::resume).resumed, kRows);
  EXPECT_EQ(problems_decoded(), decoded);
  EXPECT_EQ(text("runs.csv"), table);
  EXPECT_EQ(text("regions.csv"), regions);
  EXPECT_EQ(text("env.json"), provenance);
  // sizes that are gone are counted again, and rows that are there are not made again for that
  fs::remove(results() / "regions.csv");
  decoded = problems_decoded();
  EXPECT_EQ(run(Rows::resume).resumed, kRows);
  EXPECT_EQ(problems_decoded(), decoded + 2);
  EXPECT_EQ(text("regions.csv"), regions);
  EXPECT_EQ(text("runs.csv"), table);
}

/// Rows that a resume keeps: all but timings of groups that lack some. Here four belong to a group, and all runs converge.
std::vector<RunRecord> kept_of(const std::vector<RunRecord>& rows) {
  constexpr int kTimings = 4;
  std::map<std::string, int> timings;
  const auto group = [](const RunRecord& row) { return row.file + row.solver; };
  for (const RunRecord& row : rows) timings[group(row)] += row.protocol == "time" ? 1 : 0;
  std::vector<RunRecord> kept;
  std::ranges::copy_if(rows, std::back_inserter(kept), [&](const RunRecord& row) {
    return row.protocol != "time" || timings[group(row)] == kTimings;
  });
  return kept;
}

/// Wherever it stood in its group.
TEST_F(ExperimentRunTest, ARowThatCannotBeReadIsMadeAgain) {
  write_planted();
  run(Rows::fresh);
  const std::vector<RunRecord> made = read_run_table(results() / "runs.csv");
  const std::vector<std::string> wanted = rows();
  for (std::size_t damaged = 0; damaged < made.size(); ++damaged) {
    std::string table = run_record_header() + "\n";
    for (std::size_t i = 0; i < made.size(); ++i)
      table +=
          (i == damaged ? "damaged " : "") + run_record_row(made[i]).substr(i == damaged ? 20 : 0) + "\n";
    std::ofstream(results() / "runs.csv") << table;
    Listener listener;
    std::vector<RunRecord> left = made;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(damaged));
    EXPECT_EQ(run(Rows::resume, listener).resumed, kept_of(left).size());
    EXPECT_NE(listener.said().find("the run is made again"), std::string::npos) << listener.said();
    EXPECT_EQ(rows(), wanted) << damaged;
  }
}

/// A kill may leave the first rows of a write on disk: those of a group, without its last timings.
TEST_F(ExperimentRunTest, RowsThatAKillToreOffAreMadeAgain) {
  write_planted();
  run(Rows::fresh);
  const std::vector<RunRecord> made = read_run_table(results() / "runs.csv");
  const std::vector<std::string> wanted = rows();
  std::string table = run_record_header() + "\n";
  for (std::size_t left = 0; left < made.size(); ++left) {
    const std::string next = run_record_row(made[left]) + "\n";
    std::ofstream(results() / "runs.csv") << table << next.substr(0, next.size() / 2);
    EXPECT_EQ(run(Rows::resume).resumed,
              kept_of({made.begin(), made.begin() + static_cast<std::ptrdiff_t>(left)}).size());
    EXPECT_EQ(rows(), wanted) << left;
    table += next;
  }
}

/// Times of one group are compared with each other: none of an earlier session stays beside those made anew.
TEST_F(ExperimentRunTest, TimingsOfAGroupComeFromOneSession) {
  write_planted();
  run(Rows::fresh);
  std::string table = run_record_header() + "\n";
  int left_out = 0;
  for (RunRecord row : read_run_table(results() / "runs.csv")) {
    if (row.protocol == "time" && row.repetition == 1 && row.region_mode == "points" && left_out++ == 0)
      continue;
    if (row.protocol == "time") row.solve_seconds = 123.0;
    table += run_record_row(row) + "\n";
  }
  std::ofstream(results() / "runs.csv") << table;
  EXPECT_EQ(run(Rows::resume).resumed, kRows - 4);
  std::map<std::string, std::set<bool>> old;
  for (const RunRecord& row : read_run_table(results() / "runs.csv"))
    if (row.protocol == "time") old[row.file + row.solver].insert(row.solve_seconds == 123.0);
  EXPECT_EQ(old.size(), 4U);
  for (const auto& [group, sessions] : old) EXPECT_EQ(sessions.size(), 1U) << group;
}

TEST_F(ExperimentRunTest, ProblemsOfOneNameAreRefused) {
  FclibFile file;
  file.problem = make_planted_problem({.contacts = 5, .seed = 3}).problem;
  write_fclib(folder_ / "a.hdf5", file);
  write(std::string(kTitle) + "files = [\"a.hdf5\"]\nprotocols = [\"converge\"]\n" + kSolvers +
        "[[problems]]\nname = \"a\"\nplanted = { contacts = 6, regions = 2 }\n");
  EXPECT_THAT(refusal(Rows::fresh), testing::HasSubstr("two problems have the name a: "));
}

TEST_F(ExperimentRunTest, CommentsAndTitleMayChangeWithoutThrowingRowsAway) {
  write_planted();
  run(Rows::fresh);
  write_planted("# why this is measured\n");
  EXPECT_EQ(run(Rows::resume).resumed, kRows);
  EXPECT_NE(text("run.toml").find("# why this is measured"), std::string::npos);
  std::string renamed = text_or_nothing(folder_ / "trial.toml");
  renamed.replace(renamed.find("A trial"), 7, "Another name");
  write(renamed);
  EXPECT_EQ(run(Rows::resume).resumed, kRows);
  EXPECT_NE(text("run.toml").find("Another name"), std::string::npos);
}

TEST_F(ExperimentRunTest, ProvenanceFollowsAnExperimentThatIsMoved) {
  write_planted();
  run(Rows::fresh);
  ExperimentRequest moved = request(Rows::resume);
  moved.config = folder_ / "elsewhere" / "trial.toml";
  Listener listener;
  EXPECT_EQ(run_experiment(moved, ResultFolder(moved), provider(), listener).resumed, kRows);
  const std::string provenance = text("env.json");
  const std::size_t now = provenance.find(fmt::format("\"{}\"", (folder_ / "elsewhere").string()));
  EXPECT_LT(now, provenance.find("\"earlier\"")) << provenance;
}

TEST_F(ExperimentRunTest, OtherSettingsAreRefusedUnderResumeUnlessForced) {
  write_planted();
  run(Rows::fresh);
  const std::string table = text("runs.csv");
  write_planted("", "max_iterations = 400\n");
  EXPECT_NE(refusal(Rows::resume).find("made from another version of the experiment file; --force replaces"),
            std::string::npos)
      << refusal(Rows::resume);
  EXPECT_NE(refusal(Rows::fresh).find(fmt::format("holds results already ({} rows)", kRows)),
            std::string::npos);
  EXPECT_EQ(text("runs.csv"), table);
  Listener listener;
  EXPECT_EQ(run(Rows::force, listener).resumed, 0U);
  EXPECT_NE(listener.said().find("starting again"), std::string::npos) << listener.said();
  EXPECT_FALSE(fs::exists(results() / "replaced"));
}

TEST_F(ExperimentRunTest, ResultsOfTheEarlierFormAreRefusedUnderResumeUnlessForced) {
  write_planted();
  run(Rows::fresh);
  fs::rename(results() / "run.toml", results() / "config.toml");
  EXPECT_NE(refusal(Rows::resume).find("earlier form (config.toml instead of run.toml); --force replaces"),
            std::string::npos)
      << refusal(Rows::resume);
  EXPECT_TRUE(fs::exists(results() / "config.toml"));
  EXPECT_EQ(run(Rows::force).resumed, 0U);
  EXPECT_FALSE(fs::exists(results() / "config.toml"));
  EXPECT_EQ(run(Rows::resume).resumed, kRows);
}

TEST_F(ExperimentRunTest, AnotherProblemFileIsAnotherInput) {
  write_recorded();
  run(Rows::fresh);
  FclibFile file;
  file.problem = make_planted_problem({.contacts = 5, .seed = 4}).problem;
  write_fclib(folder_ / "c.hdf5", file);
  EXPECT_NE(refusal(Rows::resume).find("made from other recordings or problem files"), std::string::npos)
      << refusal(Rows::resume);
}

TEST_F(ExperimentRunTest, ProviderThatThrowsLeavesResultsAndLock) {
  write_recorded();
  provider().broken = true;
  EXPECT_THROW(run(Rows::fresh), InputError);
  EXPECT_FALSE(fs::exists(results() / "runs.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "out" / "trial.lock"));
  provider().broken = false;
  const std::size_t all = run(Rows::fresh).rows;
  EXPECT_EQ(all, 4U * 2U * 2U * 2U);  // snapshots × solvers × tolerances × modes
  provider().broken = true;
  EXPECT_THROW(run(Rows::force), InputError);
  EXPECT_EQ(read_run_table(results() / "replaced" / "runs.csv").size(), all);
}

TEST_F(ExperimentRunTest, InterruptKeepsWholeGroupsAndTheResumeEndsWithTheSameRows) {
  write_planted();
  run(Rows::fresh);
  const std::vector<std::string> whole = rows();
  const std::string regions = text("regions.csv");
  for (const long long groups : {0, 1, 3}) {
    fs::remove_all(folder_ / "out");
    Listener listener;
    listener.cancel_at(groups);
    EXPECT_THROW(run(Rows::fresh, listener), Cancelled);
    EXPECT_EQ(rows().size(), groups * kGroup);
    EXPECT_EQ(run(Rows::resume).resumed, groups * kGroup);
    EXPECT_EQ(rows(), whole);
    EXPECT_EQ(text("regions.csv"), regions);
    EXPECT_EQ(read_traces(results() / "trace.h5").size(), 8U);
  }
}

/// Runs take turns, so groups are held back for a while; an error in one does not cost the others.
TEST_F(ExperimentRunTest, AnErrorKeepsTheGroupsThatWereMadeBefore) {
  write_planted();
  run(Rows::fresh);
  const std::vector<std::string> whole = rows();
  fs::remove_all(folder_ / "out");
  Listener listener;
  listener.throw_at(3);
  EXPECT_THROW(run(Rows::fresh, listener), std::runtime_error);
  EXPECT_EQ(rows().size(), 3U * kGroup);
  EXPECT_EQ(run(Rows::resume).resumed, 3U * kGroup);
  EXPECT_EQ(rows(), whole);
}

/// A group with one row that ended so is made again as a whole, its curves too, and no other is.
TEST_F(ExperimentRunTest, AResumeMakesRunsAgainThatEndedAsAsked) {
  write_planted("", "max_iterations = 6\n");
  run(Rows::fresh);
  const std::vector<std::string> whole = rows();
  const std::vector<RunRecord> table = read_run_table(results() / "runs.csv");
  const auto group = [](const RunRecord& row) { return row.file + " " + row.solver; };
  std::set<std::string> groups, ended;
  for (const RunRecord& row : table) {
    groups.insert(group(row));
    if (row.status == SolveStatus::iteration_limit) ended.insert(group(row));
  }
  ASSERT_GT(ended.size(), 0U);
  ASSERT_LT(ended.size(), groups.size());
  const auto outdated =
      std::ranges::count_if(table, [&](const RunRecord& row) { return ended.contains(group(row)); });
  ExperimentRequest wanted = request(Rows::resume);
  const auto resume = [&](SolveStatus status, Listener& listener) {
    wanted.again = {status};
    return run_experiment(wanted, ResultFolder(wanted), provider(), listener);
  };
  Listener listener;
  EXPECT_EQ(resume(SolveStatus::time_limit, listener).resumed, table.size()) << "none ended so";
  EXPECT_FALSE(fs::exists(results() / "runs.outdated.csv"));
  EXPECT_EQ(resume(SolveStatus::iteration_limit, listener).resumed, table.size() - outdated);
  EXPECT_NE(listener.said().find(fmt::format("{} rows of groups that ended as --again says", outdated)),
            std::string::npos)
      << listener.said();
  EXPECT_EQ(rows(), whole);
  EXPECT_EQ(read_run_table(results() / "runs.outdated.csv").size(), table.size());
  EXPECT_EQ(read_traces(results() / "trace.h5").size(), 8U);
  // without the solvers of those groups nothing is made again
  std::erase_if(wanted.experiment.solvers, [&](const SolverVariant& variant) {
    return ended.contains("a " + variant.name) || ended.contains("b " + variant.name);
  });
  EXPECT_EQ(resume(SolveStatus::iteration_limit, listener).resumed, table.size());
}

TEST_F(ExperimentRunTest, EverySnapshotIsDecodedOnceAndEveryFileCheckedOnce) {
  write_recorded();
  provider().provide({"toy", "springtoy", {}, {}, {}}, true);
  const std::uint64_t decoded = problems_decoded(), children = children_started();
  EXPECT_EQ(run(Rows::fresh).rows, 32U);
  EXPECT_EQ(problems_decoded() - decoded, 4U);
  EXPECT_EQ(children_started() - children, 2U);
  EXPECT_EQ(
      text("regions.csv"),
      "file,step,region_mode,size,count\ntoy-quick.h5,000001,points,1,2\ntoy-quick.h5,000002,points,2,2\n"
      "toy-quick.h5,000003,points,3,2\nc,0,points,5,1\n");
  EXPECT_EQ(text("recordings.csv"),
            "file,kind,key,value\ntoy-quick.h5,recording,scene,springtoy\ntoy-quick.h5,setting,time.steps,"
            "3\ntoy-quick.h5,status,failed,0\n"
            "toy-quick.h5,status,steps,3\ntoy-quick.h5,fact,steps_taken,3\n");
}

TEST_F(ExperimentRunTest, SnapshotsAreChosenByContactsWithoutDecodingTheOthers) {
  write_recorded("min_contacts = 6\n");
  const std::uint64_t decoded = problems_decoded();
  Listener listener;
  run(Rows::fresh, listener);
  EXPECT_EQ(problems_decoded() - decoded, 1U);
  EXPECT_EQ(listener.said(), "  c: none of 1 snapshots has 6 contacts or more; nothing to solve\n");
  for (const RunRecord& row : read_run_table(results() / "runs.csv")) {
    EXPECT_EQ(row.step, "000003");
    EXPECT_EQ(row.contacts, 6);
  }
}

}  // namespace
}  // namespace signorini::experiment_run_test
