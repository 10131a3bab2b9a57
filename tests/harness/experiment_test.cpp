#include "harness/experiment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "harness/problem_sources.h"
#include "scene/scene_config.h"

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

const std::string kHead = "artefact = \"Table 1\"\n# three lines\nscenes = [\"bucket\"]\n";
const std::string kSolver = "[[solvers]]\nname = \"pgs\"\n";

TEST_F(ExperimentTest, SizesOfMatricesAreKeptWhereAskedFor) {
  EXPECT_FALSE(read_experiment(write(kHead + kSolver), "quick").matrices);
  EXPECT_TRUE(read_experiment(write(kHead + "matrices = true\n" + kSolver), "quick").matrices);
  EXPECT_NE(error_of(kHead + "matrices = 1\n" + kSolver).find("'matrices': must be true or false"),
            std::string::npos);
}

TEST_F(ExperimentTest, ReadsAWholeFileAndAppliesTheSize) {
  const fs::path path = write(
      "artefact = \"Table 1\"\nscenes = [\"bucket\"]\nfiles = [\"a.hdf5\"]\n"
      "protocols = [\"converge\"]\nregions = [\"none\", \"points\"]\nthreads = [1, 4]\ntolerances = [1e-4, "
      "1e-8]\n"
      "repetitions = 7\nstride = 3\n"
      "[[solvers]]\nname = \"pgs\"\nlabel = \"PGS, pyramid\"\nlaw = \"pyramid\"\nwarm_start = true\n"
      "[sizes.quick]\nmax_steps = 5\nrepetitions = 3\n[sizes.paper]\nmax_steps = 500\n");
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

TEST_F(ExperimentTest, ReadsWhatIsKeptOfTheSteps) {
  const std::string text = "artefact = \"a\"\nscenes = [\"rings\"]\nprotocols = []\n";
  const Experiment e = read_experiment(
      write(text +
            "steps = true\nseries = [\"contacts\", \"energy\"]\nfollow = [\"points\",\n\"islands\"]\n"),
      "quick");
  EXPECT_EQ(e.follow, (std::vector<RegionMode>{RegionMode::points, RegionMode::islands}));
  EXPECT_EQ(e.series, (std::vector<std::string>{"contacts", "energy"}));
  EXPECT_EQ(e.series_place, (folder_ / "trial_run.toml").string() + ":5: key 'series'");
  EXPECT_TRUE(e.steps);
  EXPECT_FALSE(read_experiment(write(text), "quick").steps);
  EXPECT_FALSE(read_experiment(write(text + "steps = false\n"), "quick").steps);
  const auto expect = [this](const std::string& wrong, const char* words) {
    EXPECT_NE(error_of(wrong).find(words), std::string::npos) << error_of(wrong);
  };
  expect(text + "follow = [\"points\",\n\"none\"]\n", "trial_run.toml:5: key 'follow': unknown 'none'");
  expect(text + "follow = []\n", "key 'follow': must be a list with at least one entry");
  expect(text + "series = \"contacts\"\n", "key 'series': must be a list");
  expect(text + "steps = 1\n", "key 'steps': must be true or false");
  const std::string planted = "artefact = \"a\"\nproblems = [{ name = \"n\", planted = {} }]\n" + kSolver;
  for (const std::string key : {"steps = true", "series = [\"contacts\"]", "follow = [\"points\"]"})
    expect(key + "\n" + planted, "trial_run.toml:1: key '");
}

TEST_F(ExperimentTest, ReadsWhatIsComparedWithTheFinest) {
  const std::string text = "artefact = \"a\"\nscenes = [\"rings\"]\nprotocols = []\n[accuracy]\n";
  const Experiment e = read_experiment(
      write(text + "over = \"solver.tolerance\"\nrest = 0.25\nrest_speed_m_s = 1e-4\n"), "quick");
  ASSERT_TRUE(e.accuracy.has_value());
  EXPECT_EQ(e.accuracy->over, "solver.tolerance");
  EXPECT_EQ(e.accuracy->over_place, (folder_ / "trial_run.toml").string() + ":5: key 'accuracy.over'");
  EXPECT_EQ(e.accuracy->rest, 0.25);
  EXPECT_EQ(e.accuracy->rest_speed, 1e-4);
  EXPECT_FALSE(read_experiment(write(kHead + "protocols = []\n"), "quick").accuracy.has_value());
  const auto expect = [this](const std::string& wrong, const char* words) {
    EXPECT_NE(error_of(wrong).find(words), std::string::npos) << error_of(wrong);
  };
  expect(text, "key 'accuracy.over' is missing");
  expect(text + "over = \"x\"\nrest = 0.0\n",
         "trial_run.toml:6: key 'accuracy.rest': must be above 0 and at most 1");
  expect(text + "over = \"x\"\nrest_speed_m_s = 0.0\n", "key 'accuracy.rest_speed_m_s': 0 is not positive");
  expect(text + "over = \"x\"\nrests = 0.5\n", "unknown key 'accuracy.rests'");
  expect("artefact = \"a\"\nproblems = [{ name = \"n\", planted = {} }]\n" + kSolver +
             "[accuracy]\nover = \"x\"\n",
         "key 'accuracy': needs 'scenes' or 'recordings'");
}

TEST_F(ExperimentTest, RecordingsAloneNeedNoSolver) {
  const Experiment e = read_experiment(write(kHead + "protocols = []\n"), "quick");
  EXPECT_FALSE(e.converge || e.time || e.self_stopped);
  EXPECT_TRUE(e.solvers.empty());
}

TEST_F(ExperimentTest, MakesFamiliesOfProblemsAndThinsThemEvenly) {
  const std::string text = "artefact = \"Table 1\"\n" + kSolver +
                           "[[problems]]\nname = \"net\"\nplanted = { contacts = 3, seed = 5 }\ncount = 11\n"
                           "most_contacts = 23\n[sizes.quick]\nmax_problems = 3\n"
                           "[cut]\nmin_contacts = 2\nmax_contacts = 9\n";
  const Experiment all = read_experiment(write(text), "medium");
  ASSERT_EQ(all.problems.size(), 11U);
  EXPECT_EQ(all.problems[0].name, "net_00");
  EXPECT_EQ(all.problems[10].name, "net_10");
  for (int i = 0; i < 11; ++i) EXPECT_EQ(all.problems[i].make().contacts(), 3 + 2 * i);
  const ContactProblem alone = make_planted_problem({.contacts = 7, .seed = 7}).problem;
  EXPECT_EQ(all.problems[2].make().f, alone.f);
  EXPECT_EQ(all.problems[2].make().w, alone.w);
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
      {kHead + kSolver + "[[recordings]]\nname = \"soft\"\n", "usage: ", "key 'recordings.scene' is missing"},
      {kHead + kSolver + "[[recordings]]\nname = \"soft\"\nscene = \"bucket\"\nset = { a.b = [1] }\n",
       "usage: ", "trial_run.toml:9: key 'recordings.set.a.b': must be a text, a number, true or false"},
      {kHead + "[[solvers]]\nname = \"pgss\"\n", "usage: ", "pgss"},
      {kHead + "threads = [0]\n" + kSolver,
       "usage: ", "trial_run.toml:4: key 'threads': 0 must be between 1 and 1024"},
      {kHead + "threads = [1, 2, 1]\n" + kSolver,
       "usage: ", "key 'threads': 1 is there twice; leave one out"},
      {kHead + "regions = [\"none\", \"islands\", \"none\"]\n" + kSolver,
       "usage: ", "key 'regions': none is there twice; leave one out"},
      {kHead + "threads = 2\n" + kSolver, "usage: ", "key 'threads': must be a list"},
      {kHead + "tolerances = [-1e-6]\n" + kSolver, "usage: ", "key 'tolerances'"},
      {kHead + "regions = [\"point\"]\n" + kSolver, "usage: ", "unknown value 'point'"},
      {kHead + "protocols = [\"scale\"]\n" + kSolver, "usage: ", "unknown protocol 'scale'"},
      {kHead + "stride = 1.5\n" + kSolver, "usage: ", "key 'stride': must be a whole number"},
      {kHead + "protocols = [\"converge\"]\n" + kSolver + "self_stopped = true\n",
       "usage: ", "key 'solvers.self_stopped': needs the protocol 'time' or 'self-stopped'"},
      {kHead + kSolver + "[sizes.huge]\nstride = 1\n", "usage: ", "unknown key 'sizes.huge'"},
      {kHead + kSolver + kSolver, "usage: ", "labels are unique"},
      {kHead + "[[solvers]]\nname = \"pgs\"\n[[solvers]]\nname = \"pgs\"\norder = \"natural\"\nlabel = "
               "\"again\"\n",
       "usage: ", "'again' is solver and options of 'pgs'"},
      {kHead, "usage: ", "key 'solvers' is missing"},
      {kHead + "protocols = []\n" + kSolver,
       "usage: ", "trial_run.toml:5: key 'solvers': there are no protocols to run them by"},
      {"scenes = [\"bucket\"]\n" + kSolver, "usage: ", "key 'artefact' is missing"},
      {"artefact = \"x\"\n" + kSolver, "usage: ", "'scenes', 'recordings', 'files' or 'problems'"},
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

TEST_F(ExperimentTest, SelectsSnapshotsEvenlyOverTheirContacts) {
  Experiment e;
  e.spread_over = SpreadOver::contacts;
  e.max_steps = 4;
  // by steps: 0, 3, 6, 9 with 10, 12, 700 and 1000 contacts
  const std::vector<int> contacts{10, 310, 11, 12, 600, 13, 700, 990, 980, 1000};
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{0, 1, 6, 9}));
  e.max_steps = 1;
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{9}));
  e.max_steps = 100;
  EXPECT_EQ(select_steps(contacts, e).size(), contacts.size());
  e.max_steps = 2;
  e.min_contacts = 100;
  EXPECT_EQ(select_steps(contacts, e), (std::vector<std::size_t>{1, 9}));
}

TEST_F(ExperimentTest, ReadsWhatIsThinnedAndOverWhatSnapshotsAreSpread) {
  const std::string thinned = "[[thinned]]\nname = \"thin\"\nrecording = \"bucket\"\n";
  const Experiment e = read_experiment(
      write(kHead + "spread_over = \"contacts\"\n" + kSolver + thinned + "cosine = 0.8\nat_random = true\n"),
      "quick");
  EXPECT_EQ(e.spread_over, SpreadOver::contacts);
  ASSERT_EQ(e.thinned.size(), 1U);
  EXPECT_EQ(e.thinned[0].name, "thin");
  EXPECT_EQ(e.thinned[0].recording, "bucket");
  EXPECT_EQ(e.thinned[0].cosine, 0.8);
  EXPECT_TRUE(e.thinned[0].at_random);
  EXPECT_EQ(read_experiment(write(kHead + kSolver), "quick").spread_over, SpreadOver::steps);
  const auto refused = [&](const std::string& text) {
    try {
      read_experiment(write(text), "quick");
      return std::string("read");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(refused(kHead + kSolver + thinned + "cosine = 1.0\n")
                .find("key 'thinned.cosine': must be between 0 and 1"),
            std::string::npos);
  EXPECT_NE(refused(kHead + kSolver + "[[thinned]]\nname = \"thin\"\nrecording = \"dress\"\n")
                .find("'dress' is no scene"),
            std::string::npos);
  EXPECT_NE(refused(kHead + "spread_over = \"time\"\n" + kSolver).find("spread_over"), std::string::npos);
}

TEST_F(ExperimentTest, EveryExperimentOfTheRepositoryReads) {
  int found = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(SIGNORINI_SOURCE_DIR) / "configs" / "experiments")) {
    if (entry.path().filename() != "run.toml") continue;
    ++found;
    for (const char* size : {"quick", "medium", "paper"}) {
      const Experiment e = read_experiment(entry.path(), size);
      EXPECT_FALSE(e.artefact.empty()) << entry.path();
    }
    EXPECT_FALSE(read_experiment_summary(entry.path()).artefact.empty());
  }
  EXPECT_GT(found, 0);
}

/// So that results of several may share a folder, and with it the recordings that several ask for.
TEST_F(ExperimentTest, RecordingsOfOneNameAreTheSameInEveryExperimentOfTheRepository) {
  for (const SceneSize size : {SceneSize::quick, SceneSize::medium, SceneSize::paper}) {
    const auto scene_of = [&](const SceneVariant& variant) {
      RecordRequest request;
      request.scene_path = fmt::format("{}/configs/scenes/{}.toml", SIGNORINI_SOURCE_DIR, variant.scene);
      request.size = size;
      request.overrides = variant.set;
      return scene_text(read_scene(request), size);
    };
    std::map<std::string, std::pair<SceneVariant, std::string>> known;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SIGNORINI_SOURCE_DIR) / "configs" / "experiments")) {
      if (entry.path().filename() != "run.toml") continue;
      for (const SceneVariant& wanted : wanted_recordings(read_experiment(entry.path(), enum_name(size)))) {
        const auto [found, first] = known.try_emplace(wanted.name, wanted, entry.path().string());
        const SceneVariant& other = found->second.first;
        if (other.scene == wanted.scene && other.set == wanted.set) continue;
        EXPECT_TRUE(scene_of(other) == scene_of(wanted))
            << wanted.name << " at size " << enum_name(size) << " differs between " << found->second.second
            << " and " << entry.path();
      }
    }
    EXPECT_FALSE(known.empty());
  }
}

TEST_F(ExperimentTest, MakesTheProblemsThatAnExperimentBringsAlong) {
  const Experiment e = read_experiment(
      write(
          "artefact = \"a\"\nprotocols = [\"self-stopped\"]\noptional_files = "
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
  EXPECT_EQ(e.problems[0].make().contacts(), 6);
  EXPECT_GT(e.problems[0].make().dofs(), 0);
  EXPECT_EQ(e.problems[1].make().W.coeff(2, 2), 4.0);
  EXPECT_EQ(e.problems[1].make().q[1], 3.0);
  // A ⊗ 1₃: both nodes keep their axes apart; the contact sees their difference
  EXPECT_EQ(e.problems[2].make().M.coeff(0, 3), -1.0);
  EXPECT_EQ(e.problems[2].make().M.coeff(0, 4), 0.0);
  EXPECT_EQ(e.problems[2].make().H.coeff(4, 1), -1.0);
}

TEST_F(ExperimentTest, MakesPilesAtTheSizesThatAskForThem) {
  const std::string text =
      "artefact = \"a\"\n" + kSolver +
      "[[problems]]\nname = \"s\"\npile = { of = \"spheres\", contacts = 40, seed = 3 }\ncount = "
      "2\nmost_contacts = 90\n"
      "[[problems]]\nname = \"b\"\npile = { of = \"bricks\", contacts = 50 }\nsizes = [\"medium\"]\n";
  const Experiment quick = read_experiment(write(text), "quick");
  ASSERT_EQ(quick.problems.size(), 2U);
  EXPECT_EQ(quick.problems[1].name, "s_1");
  const ContactProblem alone = make_pile_problem({.contacts = 90, .seed = 4});
  EXPECT_EQ(quick.problems[1].make().bodies, alone.bodies);
  const Experiment medium = read_experiment(write(text), "medium");
  ASSERT_EQ(medium.problems.size(), 3U);
  EXPECT_GE(medium.problems[2].make().contacts(), 50);
}

TEST_F(ExperimentTest, SolversMayHaveThreadsOfTheirOwn) {
  const std::string head =
      "artefact = \"a\"\nproblems = [{ name = \"n\", planted = { contacts = 3 } }]\nthreads = [1]\n";
  const Experiment e = read_experiment(
      write(head + "solvers = [{ name = \"pcg\" }, { name = \"pgs\", threads = [1, 2] }]\n"), "quick");
  ASSERT_EQ(e.solvers.size(), 2U);
  EXPECT_EQ(e.threads_of(e.solvers[0]), std::vector<int>{1});
  EXPECT_EQ(e.threads_of(e.solvers[1]), (std::vector<int>{1, 2}));
  EXPECT_TRUE(e.solvers[1].options.empty());  // no option of the solver
  EXPECT_NE(error_of(head + "solvers = [{ name = \"pgs\", threads = [0] }]\n")
                .find("key 'solvers.threads': 0 must be between"),
            std::string::npos);
}

TEST_F(ExperimentTest, RefusesWrongProblems) {
  const std::string head = "artefact = \"a\"\n" + kSolver;
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
  expect(head + "[[problems]]\nname = \"n\"\npile = { contacts = 3 }\n", "key 'problems.pile.of' is missing");
  expect(head + "[[problems]]\nname = \"n\"\npile = { of = \"sphere\" }\n", "key 'problems.pile.of'");
  expect(head + "[[problems]]\nname = \"n\"\npile = { of = \"bricks\", layers = 1 }\n",
         "key 'problems.pile': pile: layers = 1, need 2 or more");
  expect(head + "[[problems]]\nname = \"n\"\nplanted = {}\nsizes = [\"large\"]\n", "unknown size 'large'");
  expect(head + "[[problems]]\nname = \"n\"\nplanted = {}\n[[problems]]\nname = \"n\"\nplanted = {}\n",
         "used twice");
}

}  // namespace
}  // namespace signorini::experiment_test
