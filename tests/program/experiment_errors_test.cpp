// Wrong values in experiment and scene files: file, line, key and value, before anything has run.

#include "program/program_fixture.h"

namespace signorini::experiment_errors_test {
namespace {

class ExperimentErrorsTest : public ProgramTest {
 protected:
  /// An experiment with `lines` after its first two; line 3 is the first of them.
  void expect_experiment_error(const std::string& lines, int code, const std::string& part) const {
    std::ofstream(folder_ / "e.toml") << "artefact = \"a test\"\n# of errors\n" << lines;
    expect_error({"run", path("e.toml"), "--out", path("out")}, code, path("e.toml") + part);
    EXPECT_FALSE(fs::exists(folder_ / "out")) << lines;
  }
};

const std::string kSolver = "[[solvers]]\nname = \"pgs\"\n";

TEST_F(ExperimentErrorsTest, WrongNamesAndValuesOfExperimentsNameFileLineKeyAndValue) {
  expect_experiment_error("scenes = [\"bucket\",\n  \"ringss\"]\n" + kSolver, 2,
                          ":4: key 'scenes': unknown scene 'ringss' (did you mean 'rings'?)");
  expect_experiment_error("[[recordings]]\nname = \"a\"\nscene = \"buckt\"\n" + kSolver, 2,
                          ":5: key 'recordings.scene': unknown scene 'buckt' (did you mean 'bucket'?)");
  expect_experiment_error(
      "[[recordings]]\nname = \"a\"\nscene = \"bucket\"\nset = { \"contact.frictoin\" = 1 }\n" + kSolver, 2,
      ":6: key 'recordings.set': unknown key 'contact.frictoin' (did you mean 'contact.friction'?)");
  expect_experiment_error(
      "[[recordings]]\nname = \"a\"\nscene = \"bucket\"\nset = { \"contact.friction\" = -1 }\n" + kSolver, 2,
      ":6: key 'recordings.set': 'contact.friction' = -1");
  expect_experiment_error("[[recordings]]\nname = \"a\"\nscene = \"bucket\"\nsizes = [\"quik\"]\n" + kSolver,
                          2, ":6: key 'recordings.sizes': unknown size 'quik' (did you mean 'quick'?)");
  // keys that come from [settings.NAME] or `vary` are told where they stand
  const std::string soft = "[[recordings]]\nname = \"a\"\nscene = \"bucket\"\n";
  expect_experiment_error(
      soft + "settings = [\"soft\"]\n[settings.soft]\n\"contact.frictoin\" = 1\n" + kSolver, 2,
      ":8: key 'settings.soft.contact.frictoin': unknown key 'contact.frictoin' (did you mean");
  expect_experiment_error(soft + "vary = { \"contact.friction\" = [0.1,\n-1] }\n" + kSolver, 2,
                          ":7: key 'recordings.vary.contact.friction': 'contact.friction' = -1");
  expect_experiment_error("[[recordings]]\nname = \"{scene}\"\nscene = [\"bucket\",\n\"ringss\"]\n" + kSolver,
                          2, ":6: key 'recordings.scene': unknown scene 'ringss' (did you mean 'rings'?)");
  expect_experiment_error("files = [\n\"absent.hdf5\"]\n" + kSolver, 3, ":4: key 'files': ");
  const std::string problem = "[[problems]]\nname = \"n\"\nplanted = { contacts = 3 }\n";
  expect_experiment_error(problem + "[[solvers]]\nlabel = \"x\"\nname = \"pg\"\n", 2,
                          ":8: key 'solvers.name': unknown solver 'pg' (did you mean 'pgs'?)");
  expect_experiment_error(
      problem + kSolver + "law = \"cone\"\nforn = \"robust\"\n", 2,
      ":9: key 'solvers.forn': solver 'pgs': unknown option 'forn' (did you mean 'form'?)");
  expect_experiment_error(problem + kSolver + "n_max = 4\nlaw = \"square\"\n", 2, ":9: key 'solvers.law': ");
  expect_experiment_error(problem + kSolver + "law = \"cone\"\nmax_gib = 4\n", 2,
                          ":9: key 'solvers.max_gib': solver 'pgs': option 'max_gib' = 4 no longer exists: "
                          "leave it out; a dense W may take 4 GiB");
  expect_experiment_error("regions = [\"none\",\n\"point\"]\n" + problem + kSolver, 2,
                          ":4: key 'regions': unknown value 'point' (known: none, points");
  expect_experiment_error("protocols = [\"tme\"]\n" + problem + kSolver, 2,
                          ":3: key 'protocols': unknown protocol 'tme'");
  expect_experiment_error("threads = [1, 0]\n" + problem + kSolver, 2, ":3: key 'threads': 0 must be");
  expect_experiment_error("tolerances = [inf]\n" + problem + kSolver, 2, ":3: key 'tolerances': inf must be");
  expect_experiment_error("[[problems]]\nname = \"n\"\nplanted = { contacts = 3, law = \"x\" }\n" + kSolver,
                          2, ":5: key 'problems.planted.law': unknown value 'x'");
  expect_experiment_error(problem + kSolver + "[sizes.qick]\nstride = 2\n", 2,
                          ":8: unknown key 'sizes.qick'");
}

/// Solvers one per line in one list: errors name the line of the entry.
TEST_F(ExperimentErrorsTest, ListsOfTablesInOneListNameTheirLines) {
  const std::string problem = "problems = [\n  { name = \"n\", planted = { contacts = 3 } },\n]\n";
  expect_experiment_error(problem + "solvers = [\n  { name = \"pgs\" },\n  { name = \"pg\" },\n]\n", 2,
                          ":8: key 'solvers.name': unknown solver 'pg' (did you mean 'pgs'?)");
  expect_experiment_error(problem + "solvers = [\n  { name = \"pgs\", forn = \"robust\" },\n]\n", 2,
                          ":7: key 'solvers.forn': ");
  expect_experiment_error(
      "problems = [\n  { name = \"n\", planted = { contacts = 3 } },\n"
      "  { name = \"m\", planted = { contact = 3 } },\n]\n" +
          kSolver,
      2, ":5: unknown key 'problems.planted.contact'");
  expect_experiment_error(
      "recordings = [\n  { name = \"a\", scene = \"bucket\" },\n  { name = \"b\", scene = \"buckt\" },\n]\n" +
          kSolver,
      2, ":5: key 'recordings.scene': unknown scene 'buckt'");
}

TEST_F(ExperimentErrorsTest, TheEarlierFormIsRefusedWithTheWayToTheNewOne) {
  expect_experiment_error(
      "scenes = [\"bucket\"]\n" + kSolver + "[[expect]]\nid = \"a\"\n", 2,
      ":6: key 'expect': says what is judged or drawn, which stands beside run.toml now "
      "(claims.toml, figures.toml); scripts/migrate_experiment FILE FOLDER writes the new form");
}

TEST_F(ExperimentErrorsTest, EveryExperimentIsReadBeforeTheFirstRuns) {
  std::ofstream(folder_ / "good.toml")
      << "artefact = \"a\"\n[[problems]]\nname = \"n\"\nplanted = { contacts = 3 }\n"
      << kSolver;
  std::ofstream(folder_ / "bad.toml") << "artefact = \"a\"\nscenes = [\"buckt\"]\n" << kSolver;
  for (const char* command : {"run", "reproduce"}) {
    expect_error({command, path("good.toml"), path("bad.toml"), "--out", path("out")}, 2, "bad.toml:2");
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

TEST_F(ExperimentErrorsTest, WrongValuesOfScenesNameFileAndLine) {
  const std::string bucket = file_text(fs::path(SIGNORINI_SOURCE_DIR) / "configs/scenes/bucket.toml");
  const auto expect_scene_error = [&](const std::string& lines, const std::string& part) {
    std::ofstream(folder_ / "s.toml") << bucket << "\n" << lines;
    const auto line = std::count(bucket.begin(), bucket.end(), '\n') + 2;
    expect_error({"record", path("s.toml"), "--check"}, 2,
                 fmt::format("{}:{}: {}", path("s.toml"), line + 1, part));
  };
  expect_scene_error("[pins.p]\nbdy = \"balls\"\n", "'pins.p.body' is missing (known: balls)");
  expect_scene_error("[pins.p]\nbody = \"bals\"\n",
                     "'pins.p.body': no table [bodies.bals] (did you mean 'balls'?)");
  expect_scene_error("[pins.p]\nbody = \"balls\"\nmin_m = [9, 9, 9]\nmax_m = [10, 10, 10]\n",
                     "[pins.p]: no vertex");
}

}  // namespace
}  // namespace signorini::experiment_errors_test
