#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "program/program_fixture.h"
#include "record/trace_file.h"

namespace signorini::compare_test {
namespace {

using Json = nlohmann::json;

class CompareTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    a_ = planted("a.hdf5", {.contacts = 6, .regions = 2});
    b_ = planted("b.hdf5", {.contacts = 4, .seed = 2});
  }
  /// compare FILES -o cmp with two solvers and no report.
  Outcome compare(std::vector<std::string> words, const std::string& solvers = "pgs,pcg-pgs") const {
    words.insert(words.begin(), "compare");
    words.insert(words.end(), {"--solver", solvers, "--no-report", "-o", path("cmp")});
    return run(words);
  }
  std::vector<RunRecord> rows() const { return read_run_table(folder_ / "cmp" / "runs.csv"); }
  std::set<std::string> column(std::string RunRecord::*member) const {
    std::set<std::string> values;
    for (const RunRecord& row : rows()) values.insert(row.*member);
    return values;
  }

  std::string a_, b_;
};

using Words = std::set<std::string>;

TEST_F(CompareTest, WritesRowsCurvesAndATableThatFitsEightyColumns) {
  const Outcome o = compare({a_, b_}, "p*,-pcg");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(column(&RunRecord::solver), (Words{"pgs", "pcg-pgs", "prox-newton"}));
  EXPECT_EQ(column(&RunRecord::file), (Words{"a", "b"}));
  EXPECT_EQ(read_traces(folder_ / "cmp" / "trace.h5").size(), 2U * 3U);
  EXPECT_NE(file_text(folder_ / "cmp" / "env.json").find("\"xxh3\""), std::string::npos);
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_NE(o.out.find("2/2"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("fastest"), std::string::npos) << o.out;
}

TEST_F(CompareTest, WithoutCurvesEveryRunStopsByItself) {
  const Outcome o = compare({a_, b_, "--no-curves", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(column(&RunRecord::protocol), (Words{"self-stopped"}));
  EXPECT_FALSE(fs::exists(folder_ / "cmp" / "trace.h5"));
  const Json told = Json::parse(o.out);
  ASSERT_EQ(told["comparison"]["solvers"].size(), 2U);
  std::size_t fastest = 0;
  for (const Json& line : told["comparison"]["solvers"]) {
    EXPECT_EQ(line["solved"], 2);
    fastest += line["fastest"].get<std::size_t>();
  }
  EXPECT_EQ(fastest, 2U);
  EXPECT_EQ(compare({a_, b_, "--resume"}).code, 2) << "the rows are of another comparison";
}

/// Every folder of a dataset holds such pairs; rows of one must not stand for those of the other.
TEST_F(CompareTest, TheSameProblemInTwoFormsHasTwoNames) {
  ASSERT_EQ(run({"export", a_, "-o", path("a.npz")}).code, 0);
  const Outcome o = compare({a_, path("a.npz"), b_});
  ASSERT_EQ(o.code, 0) << o.err;
  Words pairs;  // short runs have more rows than one
  for (const RunRecord& row : rows()) pairs.insert(row.file + " " + row.solver);
  EXPECT_EQ(pairs,
            (Words{"a.hdf5 pgs", "a.hdf5 pcg-pgs", "a.npz pgs", "a.npz pcg-pgs", "b pgs", "b pcg-pgs"}));
  EXPECT_NE(o.out.find("3/3"), std::string::npos) << o.out;
}

TEST_F(CompareTest, ResumesAndRepeatsByItsRunToml) {
  ASSERT_EQ(compare({a_, b_}).code, 0);
  const std::vector<std::string> before = timeless_rows(folder_ / "cmp" / "runs.csv");
  expect_error({"compare", a_, b_, "--solver", "pgs,pcg-pgs", "--no-report", "-o", path("cmp")}, 2,
               "holds results already");
  const Outcome again = compare({a_, b_, "--resume", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(timeless_rows(folder_ / "cmp" / "runs.csv"), before);
  const Json told = Json::parse(again.out);
  EXPECT_EQ(told["rows"], told["resumed"]);
  EXPECT_EQ(told["comparison"]["snapshots"], 2);
  EXPECT_EQ(told["comparison"]["solvers"].size(), 2U);
  std::size_t fastest = 0;
  for (const Json& line : told["comparison"]["solvers"]) fastest += line["fastest"].get<std::size_t>();
  EXPECT_EQ(fastest, 2U);
  EXPECT_EQ(compare({a_, "--resume"}).code, 2) << "rows of another comparison";
  const Outcome repeated = run({"run", path("cmp/run.toml"), "--out", path("out")});
  EXPECT_EQ(repeated.code, 0) << repeated.err;
  EXPECT_EQ(read_run_table(folder_ / "out" / "cmp" / "runs.csv").size(), before.size());
}

TEST_F(CompareTest, TablesThatScriptsMadeForTheRowsGoWithThem) {
  const std::vector<std::string> made{"siconos.csv", "siconos.schema.json", "siconos.partial.csv",
                                      "problems.csv"};
  ASSERT_EQ(compare({a_, b_}, "pgs").code, 0);
  for (const std::string& name : made) std::ofstream(folder_ / "cmp" / name) << "file,step\n";
  EXPECT_EQ(compare({a_, b_, "--resume"}, "pgs").code, 0);
  for (const std::string& name : made) EXPECT_TRUE(fs::exists(folder_ / "cmp" / name)) << name;
  EXPECT_EQ(compare({a_, "--force"}, "pgs").code, 0);
  EXPECT_EQ(column(&RunRecord::file), (Words{"a"}));
  for (const std::string& name : made) EXPECT_FALSE(fs::exists(folder_ / "cmp" / name)) << name;
  EXPECT_FALSE(fs::exists(folder_ / "cmp" / "replaced"));
}

TEST_F(CompareTest, GoesOnBesideADamagedFileAndSaysSo) {
  const std::string text = file_text(a_);
  std::ofstream(path("cut.hdf5"), std::ios::binary) << text.substr(0, text.size() / 2);
  std::ofstream(path("words.h5")) << "no recording";
  const Outcome o = compare({path("cut.hdf5"), a_, path("words.h5"), b_});
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(column(&RunRecord::file), (Words{"a", "b"}));
  for (const char* name : {"cut.hdf5", "words.h5"}) EXPECT_NE(o.err.find(name), std::string::npos) << o.err;
  fs::remove_all(folder_ / "cmp");
  EXPECT_EQ(compare({path("cut.hdf5")}).code, 3);
}

TEST_F(CompareTest, RefusesMistakesBeforeItWritesAnything) {
  const std::string out = path("cmp");
  expect_error({"compare", "-o", out}, 2, "FILE is missing");
  expect_error({"compare", a_}, 2, "--output is missing");
  expect_error({"compare", a_, "-o", out, "--solver", "pgz"}, 2,
               "unknown solver 'pgz' (did you mean 'pgs'?)");
  expect_error({"compare", a_, "-o", out, "--solver", "x*"}, 2, "no solver fits 'x*'");
  expect_error({"compare", a_, "-o", out, "--solver", "pgs,-pgs"}, 2, "leaves no solver");
  expect_error({"compare", a_, path("absent.h5"), "-o", out}, 3, "absent.h5: no such file");
  expect_error({"compare", a_, "-o", out, "--set", "pgs.lax=1"}, 2, "lax");
  EXPECT_FALSE(fs::exists(out));
  fs::create_directories(path("other"));
  std::ofstream(path("other/letter.txt")) << "dear reader";
  expect_error({"compare", a_, "-o", path("other"), "--force"}, 2, "holds other files and no results");
  expect_error({"solve", a_, "--report", path("other")}, 2, "holds other files and no results");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("other")), {}), 1);
  expect_error({"compare", a_, "-o", a_}, 2, "is a file");
}

TEST_F(CompareTest, FailuresAreRowsAndFilesOfOneNameStayApart) {
  fs::create_directories(path("x"));
  fs::create_directories(path("y"));
  fs::copy_file(a_, path("x/p.hdf5"));
  fs::copy_file(b_, path("y/p.hdf5"));
  const Outcome o = compare(
      {path("x/p.hdf5"), path("y/p.hdf5"), path("x/p.hdf5"), "--max-iterations", "1", "--tolerance", "1e-14"},
      "pgs");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(column(&RunRecord::file), (Words{"x/p", "y/p"}));
  EXPECT_NE(o.out.find("2 iteration_limit"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("2 solved by no solver"), std::string::npos) << o.out;
}

TEST_F(CompareTest, SolveAndRunTakeTheSamePatterns) {
  const Outcome o = run({"solve", a_, "--solver=-*", "--solver", "all"});
  EXPECT_EQ(o.code, 2) << o.err;
  const Outcome two = run({"solve", a_, "--solver", "c?,pgs,c?", "--csv", path("x.csv")});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(read_run_table(path("x.csv")).size(), 2U);
  EXPECT_NE(file_text(path("x.schema.json")).find("\"runs.csv\""), std::string::npos);
  std::ofstream(folder_ / "trial.toml")
      << "artefact = \"x\"\nfiles = [\"a.hdf5\"]\nprotocols = [\"self-stopped\"]\n"
         "[[solvers]]\nname = \"pgs\"\n[[solvers]]\nname = \"ca\"\n[[solvers]]\nname = \"pcg\"\n";
  const auto run_trial = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", path("trial.toml"), "--out", path("out")});
    return run(more);
  };
  EXPECT_EQ(run_trial({"--solver", "all,-p*"}).code, 0);
  EXPECT_EQ(read_run_table(path("out/trial/runs.csv")).size(), 1U);
  EXPECT_EQ(run_trial({"--resume"}).code, 0);
  EXPECT_EQ(read_run_table(path("out/trial/runs.csv")).size(), 3U);
  EXPECT_NE(run_trial({"--solver", "ica", "--resume"}).err.find("unknown solver 'ica'"), std::string::npos);
}

TEST_F(CompareTest, PagesAreWrittenOfWhatWasComparedAndSolved) {
  const Outcome one = run({"compare", a_, "--solver", "pgs,ca", "--repetitions", "1", "-o", path("cmp")});
  EXPECT_EQ(one.code, 0) << one.err;
  const Outcome two = run({"solve", a_, "--solver", "pgs,ca", "--report", path("page")});
  EXPECT_EQ(two.code, 0) << two.err;
  for (const char* folder : {"cmp", "page"}) {
    const std::string page = file_text(folder_ / folder / "index.html");
    EXPECT_NE(page.find("1 of 1"), std::string::npos) << folder;
    EXPECT_TRUE(fs::exists(folder_ / folder / "times_and_iterations.svg")) << folder;
  }
}

}  // namespace
}  // namespace signorini::compare_test
