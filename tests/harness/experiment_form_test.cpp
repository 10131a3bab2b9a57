// The file of an experiment as a whole: its id, its canonical content, and the earlier form that is refused.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "harness/experiment.h"

namespace signorini::experiment_form_test {
namespace {

namespace fs = std::filesystem;

class ExperimentFormTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_form_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string content(const std::string& text) const {
    return read_experiment(write("run.toml", text), "quick").content;
  }

  fs::path folder_;
};

const std::string kSmall =
    "artefact = \"Table 1\"\nfiles = [\"a.hdf5\"]\nrepetitions = 3\n"
    "solvers = [\n  { name = \"pgs\", law = \"cone\" },\n]\n";

TEST_F(ExperimentFormTest, IdIsThatOfTheFolder) {
  EXPECT_EQ(experiment_id("/x/configs/experiments/otaduy2009/fig5/run.toml"), "otaduy2009_fig5");
  EXPECT_EQ(experiment_id("/x/configs/experiments/otaduy2009/../otaduy2009/./fig5/run.toml"),
            "otaduy2009_fig5");
  EXPECT_EQ(experiment_id("/x/experiments/trial/run.toml"), "trial");
  EXPECT_EQ(experiment_id("/x/results/out/trial/run.toml"), "trial");
  EXPECT_EQ(experiment_id("trial/run.toml"), "trial");
  EXPECT_EQ(experiment_id("run.toml"), fs::current_path().filename().string());
  EXPECT_EQ(experiment_id("/x/experiments/otaduy2009/fig5/other.toml"), "other");
  const fs::path file = write("experiments/paper/fig1/run.toml", kSmall);
  EXPECT_EQ(read_experiment(file, "quick").id, "paper_fig1");
  EXPECT_EQ(read_experiment_summary(file).id, "paper_fig1");
  EXPECT_EQ(read_experiment_summary(file).artefact, "Table 1");
}

TEST_F(ExperimentFormTest, CommentsOrderOfKeysAndArtefactLeaveTheContent) {
  const std::string before = content(kSmall);
  EXPECT_EQ(before.find("Table 1"), std::string::npos);
  for (const std::string text :
       {"# why\nartefact = \"Table 1\"\nfiles = [ \"a.hdf5\", ] # one\nrepetitions = 3\n\n"
        "solvers = [ { name = \"pgs\", law = \"cone\" } ]\n",
        "artefact = \"Another title\"\nfiles = ['a.hdf5']\nrepetitions = 0x3\n[[solvers]]\nlaw = "
        "\"cone\"\nname = \"pgs\"\n",
        "repetitions = 3\nfiles = [\"a.hdf5\"]\nartefact = \"\"\n[[solvers]]\nname = \"pgs\"\nlaw = "
        "\"cone\"\n"})
    EXPECT_EQ(content(text), before) << text;
}

/// Every key of a run, each with another value or left out, is another content.
TEST_F(ExperimentFormTest, EveryKeyOfTheRunChangesTheContent) {
  const std::string head = "artefact = \"a\"\n";
  const std::vector<std::string> lines{
      "scenes = [\"rings\"]",
      "scenes = [\"rings\", \"bucket\"]",
      "scenes = [\"bucket\", \"rings\"]",
      "files = [\"a.hdf5\"]",
      "optional_files = [\"a.hdf5\"]",
      "recordings = [{ name = \"a\", scene = \"rings\" }]",
      "recordings = [{ name = \"a\", scene = \"rings\", set = { x = 1 } }]",
      "recordings = [{ name = \"a\", scene = \"rings\", set = { x = 2 } }]",
      "recordings = [{ name = \"a\", scene = \"rings\", set = { x = \"2\" } }]",
      "recordings = [{ name = \"a\", scene = \"rings\", sizes = [\"quick\"] }]",
      "recordings = [{ name = \"a\", scene = \"rings\", settings = [\"s\"] }]\nsettings.s = { x = 1 }",
      "recordings = [{ name = \"a\", scene = \"rings\", settings = [\"s\"] }]\nsettings.s = { x = 2 }",
      "problems = [{ name = \"n\", planted = { contacts = 3 } }]",
      "problems = [{ name = \"n\", planted = { contacts = 4 } }]",
      "matrices = true",
      "steps = true",
      "series = [\"contacts\"]",
      "follow = [\"points\"]",
      "accuracy = { over = \"x\" }",
      "accuracy = { over = \"x\", rest = 0.25 }",
      "cut = {}",
      "cut = { min_contacts = 3 }",
      "protocols = [\"time\"]",
      "regions = [\"points\"]",
      "threads = [2]",
      "tolerances = [1e-6]",
      "tolerances = [1.0000000000000002e-6]",
      "solvers = [{ name = \"ca\" }]",
      "solvers = [{ name = \"ca\", label = \"CA\" }]",
      "solvers = [{ name = \"ca\", self_stopped = true }]",
      "max_iterations = 7",
      "time_limit = 7.0",
      "min_contacts = 7",
      "max_steps = 7",
      "max_problems = 7",
      "repetitions = 7",
      "stride = 7",
      "minimum_time = 7.0",
      "sizes.quick = { stride = 7 }",
      "sizes.paper = { stride = 7 }"};
  std::set<std::string> seen;
  for (const std::string& line : lines) {
    std::string text = head + line + "\n";
    if (!line.starts_with("scenes")) text += "scenes = [\"cloth\"]\n";
    if (!line.starts_with("solvers")) text += "solvers = [{ name = \"pgs\" }]\n";
    EXPECT_TRUE(seen.insert(content(text)).second) << line;
  }
}

TEST_F(ExperimentFormTest, TheEarlierFormIsRefusedAtItsFirstKeyWithTheWayToTheNewOne) {
  const std::string said =
      "says what is judged or drawn, which stands beside run.toml now (claims.toml, figures.toml); "
      "scripts/migrate_experiment FILE FOLDER writes the new form";
  const auto expect = [&](const std::string& text, const std::string& place) {
    const fs::path path = write("old.toml", text);
    try {
      read_experiment(path, "quick");
      ADD_FAILURE() << "accepted:\n" << text;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), fmt::format("{}:{}: {}", path.string(), place, said));
    }
  };
  for (const std::string key : {"claim", "source"})
    expect(kSmall + key + " = \"x\"\n", "7: key '" + key + "'");
  expect(kSmall + "figures = [\"ratios\"]\n", "7: key 'figures'");
  for (const std::string key :
       {"methods", "table", "histories", "growth", "ratios", "ladder", "incline", "sheet", "histogram",
        "over_time", "against", "shares", "over_contacts", "series", "follow"})
    expect(kSmall + "[" + key + "]\nlabel = \"x\"\n", "7: key '" + key + "'");
  for (const std::string key : {"expect", "scatter", "rules", "histogram"})
    expect(kSmall + "[[" + key + "]]\nid = \"x\"\n[[" + key + "]]\nid = \"y\"\n", "7: key '" + key + "'");
  expect("artefact = \"a\"\nclaim = \"b\"\nsource = \"c\"\nfigures = []\n[[expect]]\nid = \"a\"\n",
         "2: key 'claim'");
  expect("[[expect]]\nid = \"a\"\n[against]\ncolumn = \"x\"\n", "1: key 'expect'");
}

/// One list with an entry per line, as the earlier tables of their own.
TEST_F(ExperimentFormTest, ListsOfTablesMayStandInOneList) {
  const Experiment e = read_experiment(
      write("run.toml",
            "artefact = \"a\"\nproblems = [\n  { name = \"one\", planted = { contacts = 3 } },\n"
            "  { name = \"two\", planted = { contacts = 4 } },\n]\n"
            "solvers = [\n  { name = \"pgs\", label = \"PGS, cone\", law = \"cone\" },\n  { name = \"ca\" "
            "},\n]\n"),
      "quick");
  ASSERT_EQ(e.problems.size(), 2U);
  EXPECT_EQ(e.problems[1].name, "two");
  ASSERT_EQ(e.solvers.size(), 2U);
  EXPECT_EQ(e.solvers[0].label, "PGS, cone");
  EXPECT_EQ(e.solvers[0].options, (OptionMap{{"law", "cone"}}));
  EXPECT_EQ(e.solvers[1].name, "ca");
}

}  // namespace
}  // namespace signorini::experiment_form_test
