#include "harness/experiment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/check.h"
#include "base/text.h"

namespace signorini::experiment_test {
namespace {

namespace fs = std::filesystem;

class ExperimentTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_experiment_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& text) const {
    const fs::path path = folder_ / "trial_run.toml";
    std::ofstream(path) << text;
    return path;
  }
  /// The error line of a file, or "accepted".
  std::string error_of(const std::string& text) const {
    try {
      read_experiment(write(text), "quick");
    } catch (const UsageError& error) {
      return std::string("usage: ") + error.what();
    } catch (const InputError& error) {
      return std::string("input: ") + error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

const std::string kHead = "artefact = \"Table 1\"\nclaim = \"it holds\"\nscenes = [\"bucket\"]\n";
const std::string kSolver = "[[solvers]]\nname = \"pgs\"\n";

TEST_F(ExperimentTest, RecordingsMayBelongToSomeSizesOnly) {
  const fs::path path =
      write(kHead + kSolver +
            "[[recordings]]\nname = \"small\"\nscene = \"rings\"\nsizes = [\"quick\"]\n"
            "[[recordings]]\nname = \"large\"\nscene = \"rings\"\nsizes = [\"medium\", \"paper\"]\n"
            "[[recordings]]\nname = \"any\"\nscene = \"rings\"\n");
  const auto names = [&](const char* size) {
    std::vector<std::string> found;
    for (const SceneVariant& one : read_experiment(path, size).recordings) found.push_back(one.name);
    return found;
  };
  EXPECT_EQ(names("quick"), (std::vector<std::string>{"small", "any"}));
  EXPECT_EQ(names("medium"), (std::vector<std::string>{"large", "any"}));
  EXPECT_EQ(names("paper"), (std::vector<std::string>{"large", "any"}));
}

TEST_F(ExperimentTest, SizesOfMatricesAreKeptWhereAskedFor) {
  EXPECT_FALSE(read_experiment(write(kHead + kSolver), "quick").matrices);
  EXPECT_TRUE(read_experiment(write(kHead + "matrices = true\n" + kSolver), "quick").matrices);
  EXPECT_NE(error_of(kHead + "matrices = 1\n" + kSolver).find("'matrices': must be true or false"),
            std::string::npos);
}

TEST_F(ExperimentTest, TablesOfMethodsAreChecked) {
  const std::string block = "[methods]\nreference = \"pgs\"\nmethods = [\"pgs\"]\nscenes = [\"bucket\"]\n";
  const std::string one = "[[methods.tables]]\ntitle = \"a\"\n";
  EXPECT_EQ(error_of(kHead + kSolver + block + one + "target = 1e-3\nwhere = { threads = 1 }\n"), "accepted");
  EXPECT_FALSE(read_experiment(write(kHead + kSolver + block + one), "quick").steps);
  EXPECT_TRUE(read_experiment(write(kHead + kSolver + block + one + "rows = \"steps\"\n"), "quick").steps);
  EXPECT_NE(error_of(kHead + kSolver + block).find("tables"), std::string::npos);
  EXPECT_NE(error_of(kHead + kSolver + block + one + "colour = 1\n").find("colour"), std::string::npos);
  EXPECT_NE(error_of(kHead + kSolver + "[methods]\nmethods = [\"a\"]\n" + one).find("reference"),
            std::string::npos);
}

TEST_F(ExperimentTest, ReadsAWholeFileAndAppliesTheSize) {
  const fs::path path = write(
      "artefact = \"Table 1\"\nclaim = \"it holds\"\nscenes = [\"bucket\"]\nfiles = [\"a.hdf5\"]\n"
      "protocols = [\"converge\"]\nregions = [\"none\", \"points\"]\nthreads = [1, 4]\ntolerances = [1e-4, "
      "1e-8]\n"
      "repetitions = 7\nstride = 3\n"
      "[[solvers]]\nname = \"pgs\"\nlabel = \"PGS, pyramid\"\nlaw = \"pyramid\"\nwarm_start = true\n"
      "[sizes.quick]\nmax_steps = 5\nrepetitions = 3\n[sizes.paper]\nmax_steps = 500\n"
      "[[expect]]\nid = \"a\"\nclaim = \"b\"\nkind = \"fraction\"\ncolumn = \"residual\"\n");
  const Experiment e = read_experiment(path, "quick");
  EXPECT_EQ(e.id, "trial_run");
  EXPECT_EQ(e.artefact, "Table 1");
  EXPECT_EQ(e.files, std::vector<fs::path>{folder_ / "a.hdf5"});
  EXPECT_TRUE(e.converge);
  EXPECT_FALSE(e.time);
  EXPECT_EQ(e.regions, (std::vector<RegionMode>{RegionMode::none, RegionMode::points}));
  EXPECT_EQ(e.threads, (std::vector<int>{1, 4}));
  EXPECT_EQ(e.tolerances, (std::vector<double>{1e-4, 1e-8}));
  EXPECT_EQ(e.max_steps, 5);
  EXPECT_EQ(e.repetitions, 3);
  EXPECT_EQ(e.stride, 3);
  ASSERT_EQ(e.solvers.size(), 1U);
  EXPECT_EQ(e.solvers[0].label, "PGS, pyramid");
  EXPECT_EQ(e.solvers[0].options, (OptionMap{{"law", "pyramid"}, {"warm_start", "true"}}));
  EXPECT_EQ(read_experiment(path, "medium").repetitions, 7);
}

TEST_F(ExperimentTest, ReadsWhichSolversOnlyStopThemselves) {
  const Experiment e = read_experiment(
      write(kHead +
            "protocols = [\"time\"]\n[[solvers]]\nname = \"ica\"\nlabel = \"own stop\"\nself_stopped = "
            "true\nstop = \"paper5\"\n[[solvers]]\nname = \"ica\"\n"),
      "quick");
  ASSERT_EQ(e.solvers.size(), 2U);
  EXPECT_TRUE(e.solvers[0].self_stopped);
  EXPECT_EQ(e.solvers[0].options, (OptionMap{{"stop", "paper5"}}));
  EXPECT_FALSE(e.solvers[1].self_stopped);
}

TEST_F(ExperimentTest, ReadsWhatIsFollowedOverTheSteps) {
  const std::string text = "artefact = \"a\"\nclaim = \"b\"\nscenes = [\"rings\"]\nprotocols = []\n";
  const std::string claim =
      "[[expect]]\nid = \"a\"\nclaim = \"b\"\nkind = \"fraction\"\ncolumn = \"same\"\nrows = \"follow\"\n";
  const Experiment e =
      read_experiment(write(text + "[follow]\nregions = [\"points\", \"islands\"]\n" + claim), "quick");
  EXPECT_EQ(e.follow, (std::vector<RegionMode>{RegionMode::points, RegionMode::islands}));
  EXPECT_NE(error_of(text + claim).find("there is no table [follow]"), std::string::npos);
  EXPECT_NE(error_of(text + "[follow]\nregions = [\"none\"]\n").find("unknown 'none'"), std::string::npos);
  EXPECT_NE(error_of(text + "[follow]\n").find("follow.regions"), std::string::npos);
}

TEST_F(ExperimentTest, ReadsRecordingsAtOtherSettings) {
  const Experiment e = read_experiment(write("artefact = \"Table 1\"\nclaim = \"it holds\"\n" + kSolver +
                                             "[[recordings]]\nname = \"soft\"\nscene = \"cubes\"\nset = { "
                                             "\"a.b.young\" = 5e5, time.steps = 2 }\n"
                                             "[[recordings]]\nname = \"as_it_is\"\nscene = \"cubes\"\n"),
                                       "quick");
  ASSERT_EQ(e.recordings.size(), 2U);
  EXPECT_EQ(e.recordings[0].name, "soft");
  EXPECT_EQ(e.recordings[0].scene, "cubes");
  EXPECT_EQ(e.recordings[0].set, (OptionMap{{"a.b.young", exact_text(5e5)}, {"time.steps", "2"}}));
  EXPECT_TRUE(e.recordings[1].set.empty());
}

TEST_F(ExperimentTest, RecordingsAloneNeedNoSolver) {
  const std::string alone = kHead + "protocols = []\n";
  const Experiment e =
      read_experiment(write(alone + "[[over_time]]\ncolumn = \"contacts\"\nmost = 3\n"), "quick");
  EXPECT_FALSE(e.converge || e.time || e.self_stopped);
  EXPECT_TRUE(e.solvers.empty());
  EXPECT_TRUE(e.steps);  // the figure wants them
  EXPECT_FALSE(read_experiment(write(alone), "quick").steps);
  const std::string claim = "[[expect]]\nid = \"a\"\nclaim = \"b\"\nkind = \"slope\"\n";
  EXPECT_FALSE(read_experiment(write(alone + claim + "rows = \"runs\"\n"), "quick").steps);
  EXPECT_TRUE(read_experiment(write(alone + claim + "rows = \"steps\"\n"), "quick").steps);
}

TEST_F(ExperimentTest, MakesFamiliesOfProblemsAndThinsThemEvenly) {
  const std::string text = "artefact = \"Table 1\"\nclaim = \"it holds\"\n" + kSolver +
                           "[[problems]]\nname = \"net\"\nplanted = { contacts = 3, seed = 5 }\ncount = 11\n"
                           "most_contacts = 23\n[sizes.quick]\nmax_problems = 3\n"
                           "[cut]\nmin_contacts = 2\nmax_contacts = 9\n";
  const Experiment all = read_experiment(write(text), "medium");
  ASSERT_EQ(all.problems.size(), 11U);
  EXPECT_EQ(all.problems[0].name, "net_00");
  EXPECT_EQ(all.problems[10].name, "net_10");
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(all.problems[static_cast<std::size_t>(i)].problem.contacts(), 3 + 2 * i);
  const ContactProblem alone = make_planted_problem({.contacts = 7, .seed = 7}).problem;
  EXPECT_EQ(all.problems[2].problem.f, alone.f);
  EXPECT_EQ(all.problems[2].problem.w, alone.w);
  const Experiment few = read_experiment(write(text), "quick");
  ASSERT_EQ(few.problems.size(), 3U);
  EXPECT_EQ(few.problems[1].name, "net_05");
  EXPECT_EQ(few.problems[2].name, "net_10");
  ASSERT_TRUE(few.cut.has_value());
  EXPECT_EQ(few.cut->min_contacts, 2);
  EXPECT_EQ(few.cut->max_contacts, 9);
}

TEST_F(ExperimentTest, EveryMistakeNamesFileLineAndKey) {
  const struct {
    std::string text, kind, part;
  } cases[] = {
      {kHead + "solver = 1\n" + kSolver,
       "usage: ", "trial_run.toml:4: unknown key 'solver' (did you mean 'solvers'?)"},
      {kHead + kSolver + "omgea = 1.2\n", "usage: ", "trial_run.toml:6: key 'solvers.omgea': "},
      {kHead + kSolver + "[[recordings]]\nname = \"bucket\"\nscene = \"bucket\"\n",
       "usage: ", "trial_run.toml:7: key 'recordings.name': 'bucket' is recorded already"},
      {kHead + kSolver + "[[recordings]]\nname = \"../x\"\nscene = \"bucket\"\n",
       "usage: ", "trial_run.toml:7: key 'recordings.name': '../x' must be a plain file name"},
      {kHead + kSolver + "[[recordings]]\nname = \"soft\"\nscene = \"bucket\"\nvary = { seed = 1 }\n",
       "usage: ", "trial_run.toml:9: key 'recordings.vary.seed': must be a list with at least one entry"},
      {kHead + kSolver + "[cut]\nmin_contacts = 4\nmax_contacts = 3\n",
       "usage: ", "trial_run.toml:8: key 'cut.max_contacts': is less than min_contacts"},
      {kHead + kSolver + "[[problems]]\nname = \"a\"\nplanted = { contacts = 3 }\nmost_contacts = 9\n",
       "usage: ", "trial_run.toml:9: key 'problems.most_contacts': needs a 'count' of 2 or more"},
      {kHead + kSolver + "[ratios]\ncolumn = \"iterations\"\nnumerator = 1\n",
       "usage: ", "trial_run.toml:8: key 'ratios.numerator': must be a table"},
      {kHead + kSolver + "[sheet]\nrecordings = [\"cloth\"]\n", "usage: ",
       "trial_run.toml:7: key 'sheet.recordings': no scene or [[recordings]] 'cloth' in this experiment"},
      {kHead + kSolver + "[sheet]\nrecordings = [\"bucket\"]\nview = [1, 2, 3, 4]\n",
       "usage: ", "key 'sheet.view': must be [azimuth, elevation, zoom]"},
      {kHead + kSolver + "[growth]\nkey = \"a.b\"\n",
       "usage: ", "trial_run.toml:7: key 'growth.key': no [[recordings]] set 'a.b'"},
      {kHead + kSolver + "[[recordings]]\nname = \"soft\"\n", "usage: ", "key 'recordings.scene' is missing"},
      {kHead + kSolver + "[[recordings]]\nname = \"soft\"\nscene = \"bucket\"\nset = { a.b = [1] }\n",
       "usage: ", "trial_run.toml:9: key 'recordings.set.a.b': must be a text, a number, true or false"},
      {kHead + "[[solvers]]\nname = \"pgss\"\n", "usage: ", "pgss"},
      {kHead + "threads = [0]\n" + kSolver,
       "usage: ", "trial_run.toml:4: key 'threads': 0 must be between 1 and 1024"},
      {kHead + "threads = 2\n" + kSolver, "usage: ", "key 'threads': must be a list"},
      {kHead + "tolerances = [-1e-6]\n" + kSolver, "usage: ", "key 'tolerances'"},
      {kHead + "regions = [\"point\"]\n" + kSolver, "usage: ", "unknown value 'point'"},
      {kHead + "protocols = [\"scale\"]\n" + kSolver, "usage: ", "unknown protocol 'scale'"},
      {kHead + "stride = 1.5\n" + kSolver, "usage: ", "key 'stride': must be a whole number"},
      {kHead + "protocols = [\"converge\"]\n" + kSolver + "self_stopped = true\n",
       "usage: ", "key 'solvers.self_stopped': needs the protocol 'time' or 'self-stopped'"},
      {kHead + kSolver + "[sizes.huge]\nstride = 1\n", "usage: ", "unknown key 'sizes.huge'"},
      {kHead + kSolver + kSolver, "usage: ", "labels are unique"},
      {kHead + kSolver + "[[expect]]\nid = \"a\"\nclaim = \"b\"\nkind = \"magic\"\n",
       "usage: ", "unknown kind 'magic'"},
      {kHead + kSolver + "[[expect]]\nid = \"a\"\nclaim = \"b\"\nkind = \"ratio\"\nmaximum = 1\n",
       "usage: ", "expect.maximum"},
      {kHead, "usage: ", "key 'solvers' is missing"},
      {kHead + "protocols = []\n" + kSolver,
       "usage: ", "trial_run.toml:5: key 'solvers': there are no protocols to run them by"},
      {kHead + kSolver + "[histogram]\nlabel = \"x\"\n", "usage: ", "key 'histogram.column' is missing"},
      {kHead + kSolver + "[[scatter]]\nname = \"x\"\n", "usage: ", "key 'scatter.series' is missing"},
      {kHead + kSolver +
           "[[scatter]]\nname = \"x\"\nseries = [{ label = \"absent\", column = \"iterations\" }]\n",
       "usage: ", "'absent'"},
      {kHead + kSolver + "[over_contacts]\nlabel = \"x\"\n",
       "usage: ", "key 'over_contacts.panels' is missing"},
      {kHead + kSolver + "[over_contacts]\npanels = [{ lines = [{ words = \"x\" }] }]\n",
       "usage: ", "key 'over_contacts.lines.column' is missing"},
      {kHead + kSolver + "[[shares]]\ncolour = \"x\"\n",
       "usage: ", "trial_run.toml:7: unknown key 'shares.colour'"},
      {kHead + kSolver + "[[expect]]\nid = \"a\"\nclaim = \"b\"\nkind = \"ratio\"\nrows = \"step\"\n",
       "usage: ", "trial_run.toml:10: key 'expect.rows': unknown rows 'step'"},
      {"claim = \"x\"\nscenes = [\"bucket\"]\n" + kSolver, "usage: ", "key 'artefact' is missing"},
      {"artefact = \"x\"\nclaim = \"x\"\n" + kSolver,
       "usage: ", "'scenes', 'recordings', 'files' or 'problems'"},
      {kHead + "x = = 1\n", "input: ", "trial_run.toml:4: "},
      {kHead + std::string("\0\1\2", 3), "input: ", "trial_run.toml"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of(c.text);
    EXPECT_EQ(error.rfind(c.kind, 0), 0U) << error;
    EXPECT_NE(error.find(c.part), std::string::npos) << error << "\nexpected: " << c.part;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST_F(ExperimentTest, MissingFilesAndFoldersAreInputErrors) {
  EXPECT_THROW(read_experiment(folder_ / "absent.toml", "quick"), InputError);
  EXPECT_THROW(read_experiment(folder_, "quick"), InputError);
}

TEST_F(ExperimentTest, SelectsEverySnapshotWithContactsEvenlySpread) {
  Experiment e;
  const std::vector<int> contacts{0, 0, 3, 4, 0, 5, 6, 7, 8, 9};
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{2, 3, 5, 6, 7, 8, 9}));
  e.max_steps = 3;
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{2, 6, 9}));
  e.max_steps = 1;
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{9}));
  e.max_steps = 100;
  e.stride = 2;
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{2, 6, 8}));
  e.min_contacts = 100;
  EXPECT_TRUE(select_steps(contacts, e).empty());
}

TEST_F(ExperimentTest, EveryExperimentOfTheRepositoryReads) {
  int found = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(SIGNORINI_SOURCE_DIR) / "configs" / "experiments")) {
    if (entry.path().extension() != ".toml") continue;
    ++found;
    for (const char* size : {"quick", "medium", "paper"}) {
      const Experiment e = read_experiment(entry.path(), size);
      EXPECT_FALSE(e.artefact.empty() || e.claim.empty()) << entry.path();
    }
    EXPECT_FALSE(read_experiment_summary(entry.path()).claim.empty());
  }
  EXPECT_GT(found, 0);
}

TEST_F(ExperimentTest, MakesTheProblemsThatAnExperimentBringsAlong) {
  const Experiment e = read_experiment(
      write(
          "artefact = \"a\"\nclaim = \"b\"\nprotocols = [\"self-stopped\"]\noptional_files = "
          "[\"x/y.hdf5\"]\n" +
          kSolver +
          "[[problems]]\nname = \"net\"\nplanted = { contacts = 6, stiffness = 2.0, seed = 3 }\n"
          "[[problems]]\nname = \"one\"\nW = [[1, 0, 0], [0, 1, 0], [0, 0, 4]]\nq = [-1, 3, 4]\nmu = [0.5]\n"
          "[[problems]]\nname = \"pair\"\nA = [[2, -1], [-1, 2]]\ndirections = [[1, -1]]\nw = [-1, 0.5, "
          "0]\nmu = [0]\n"),
      "quick");
  EXPECT_TRUE(e.self_stopped);
  EXPECT_FALSE(e.time || e.converge);
  EXPECT_EQ(e.optional_files, std::vector<std::string>{"x/y.hdf5"});
  ASSERT_EQ(e.problems.size(), 3U);
  EXPECT_EQ(e.problems[0].problem.contacts(), 6);
  EXPECT_GT(e.problems[0].problem.dofs(), 0);
  EXPECT_EQ(e.problems[1].problem.W.coeff(2, 2), 4.0);
  EXPECT_EQ(e.problems[1].problem.q[1], 3.0);
  // A ⊗ 1₃: both nodes keep their axes apart; the contact sees their difference
  EXPECT_EQ(e.problems[2].problem.M.coeff(0, 3), -1.0);
  EXPECT_EQ(e.problems[2].problem.M.coeff(0, 4), 0.0);
  EXPECT_EQ(e.problems[2].problem.H.coeff(4, 1), -1.0);
}

TEST_F(ExperimentTest, RefusesWrongProblemsTablesAndRules) {
  const std::string head = "artefact = \"a\"\nclaim = \"b\"\n" + kSolver;
  const auto expect = [this](const std::string& text, const char* words) {
    EXPECT_NE(error_of(text).find(words), std::string::npos) << error_of(text);
  };
  expect(head + "[[problems]]\nname = \"n\"\nplanted = { contact = 3 }\n",
         "unknown key 'problems.planted.contact'");
  expect(head + "[[problems]]\nname = \"n\"\nW = [[1]]\nq = [1]\nmu = [0]\n", "1 contacts need 3");
  expect(head + "[[problems]]\nname = \"n\"\nW = [[1,0,0],[0,1],[0,0,1]]\nq = [1,0,0]\nmu = [0]\n",
         "row 2 has 2 entries instead of 3");
  expect(
      head + "[[problems]]\nname = \"n\"\nA = [[1, 2], [2, 1]]\ndirections = [[1, 0]]\nw = [0]\nmu = [0]\n",
      "has 1 entries instead of 3");
  expect(head + "[[problems]]\nname = \"a/b\"\nplanted = {}\n", "plain file name");
  expect(head + "[[problems]]\nname = \"n\"\nplanted = {}\n[[problems]]\nname = \"n\"\nplanted = {}\n",
         "used twice");
  const std::string whole = kHead + kSolver;
  expect(whole + "[table.numbers.pcg]\na = \"3\"\n", "'pcg' is no label of [[solvers]]");
  expect(whole +
             "[[rules]]\nid = \"C1\"\nsource = \"s\"\nprinted = \"p\"\nwrong = \"w\"\nchange = \"c\"\n"
             "as_printed = [\"pg\"]\n",
         "'pg' is no label of [[solvers]]");
  expect(whole + "[[rules]]\nid = \"C1\"\n", "key 'rules.source' is missing");
}

}  // namespace
}  // namespace signorini::experiment_test
