// [[recordings]] and [settings.NAME] of an experiment.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/check.h"
#include "base/text.h"
#include "harness/experiment.h"

namespace signorini::experiment_recordings_test {
namespace {

namespace fs = std::filesystem;

class ExperimentRecordingsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_recordings_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// An experiment with `lines` from its third one on.
  fs::path write(const std::string& lines) const {
    const fs::path path = folder_ / "trial.toml";
    std::ofstream(path) << "artefact = \"x\"\nprotocols = []\n" << lines;
    return path;
  }
  std::vector<SceneVariant> recordings(const std::string& lines, const char* size = "quick") const {
    return read_experiment(write(lines), size).recordings;
  }
  std::vector<std::string> names(const std::string& lines, const char* size = "quick") const {
    std::vector<std::string> found;
    for (const SceneVariant& one : recordings(lines, size)) found.push_back(one.name);
    return found;
  }
  void expect_error(const std::string& lines, const std::string& part) const {
    try {
      read_experiment(write(lines), "quick");
      ADD_FAILURE() << "accepted:\n" << lines;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("trial.toml:" + part), std::string::npos)
          << error.what() << "\nexpected: " << part;
    }
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(ExperimentRecordingsTest, MayBelongToSomeSizesOnly) {
  const std::string lines =
      "[[recordings]]\nname = \"small\"\nscene = \"rings\"\nsizes = [\"quick\"]\n"
      "[[recordings]]\nname = \"large\"\nscene = \"rings\"\nsizes = [\"medium\", \"paper\"]\n"
      "[[recordings]]\nname = \"any\"\nscene = \"rings\"\n";
  EXPECT_EQ(names(lines, "quick"), (Names{"small", "any"}));
  EXPECT_EQ(names(lines, "medium"), (Names{"large", "any"}));
  EXPECT_EQ(names(lines, "paper"), (Names{"large", "any"}));
}

TEST_F(ExperimentRecordingsTest, SetKeysOfTheirScene) {
  const std::vector<SceneVariant> all = recordings(
      "[[recordings]]\nname = \"soft\"\nscene = \"cubes\"\nset = { \"a.b.young\" = 5e5, time.steps = 2 }\n"
      "[[recordings]]\nname = \"as_it_is\"\nscene = \"cubes\"\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "soft");
  EXPECT_EQ(all[0].scene, "cubes");
  EXPECT_EQ(all[0].set, (OptionMap{{"a.b.young", exact_text(5e5)}, {"time.steps", "2"}}));
  EXPECT_TRUE(all[1].set.empty());
}

const std::string kSettings =
    "[settings.cr]\n\"solver.name\" = \"cr-full\"\nsolver.options.judge = \"own\"\n"
    "[settings.sp]\n\"solver.name\" = \"sp-cr\"\n";

TEST_F(ExperimentRecordingsTest, ListsOfScenesAndSettingsAreCombinedScenesSlowestThenSettingsThenVary) {
  const std::string entry =
      "recordings = [\n"
      "  { name = \"{scene}_by_{settings}\", scene = [\"rings\", \"pyramid\"], settings = [\"sp\", \"cr\"], "
      "set = { \"time.steps\" = 3 }, vary = { \"contact.friction\" = [0.1, 0.6] } },\n]\n";
  const std::vector<SceneVariant> all = recordings(entry + kSettings);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(names(entry + kSettings),
            (Names{"rings_by_sp_0.1", "rings_by_sp_0.6", "rings_by_cr_0.1", "rings_by_cr_0.6",
                   "pyramid_by_sp_0.1", "pyramid_by_sp_0.6", "pyramid_by_cr_0.1", "pyramid_by_cr_0.6"}));
  EXPECT_EQ(all[0].set,
            (OptionMap{{"time.steps", "3"}, {"solver.name", "sp-cr"}, {"contact.friction", "0.1"}}));
  EXPECT_EQ(all[7].scene, "pyramid");
  EXPECT_EQ(all[7].set, (OptionMap{{"time.steps", "3"},
                                   {"solver.name", "cr-full"},
                                   {"solver.options.judge", "own"},
                                   {"contact.friction", "0.6"}}));
  const std::string file = (folder_ / "trial.toml").string();
  EXPECT_EQ(all[7].scene_place, file + ":4: key 'recordings.scene'");
  EXPECT_EQ(all[7].set_place, file + ":4: key 'recordings.set'");
  EXPECT_EQ(all[7].key_places.at("solver.options.judge"),
            file + ":8: key 'settings.cr.solver.options.judge'");
  EXPECT_EQ(all[7].key_places.at("contact.friction"), file + ":4: key 'recordings.vary.contact.friction'");
}

TEST_F(ExperimentRecordingsTest, ListsOfSettingsAreCombinedAndSetKeysOfTheirOwn) {
  const std::string entry =
      "[[recordings]]\nname = \"{scene}_{settings}\"\nscene = \"rings\"\n"
      "settings = [[\"small\", \"large\"], [\"sp\", \"cr\"]]\n";
  const std::string sizes = "[settings.small]\nscale = 0.5\n[settings.large]\nscale = 2.0\n";
  const std::vector<SceneVariant> all = recordings(entry + kSettings + sizes);
  EXPECT_EQ(names(entry + kSettings + sizes),
            (Names{"rings_small_sp", "rings_small_cr", "rings_large_sp", "rings_large_cr"}));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].set, (OptionMap{{"scale", "0.5"}, {"solver.name", "sp-cr"}}));
  EXPECT_EQ(all[3].set,
            (OptionMap{{"scale", "2"}, {"solver.name", "cr-full"}, {"solver.options.judge", "own"}}));
  expect_error(
      entry + kSettings + "[settings.small]\n\"solver.name\" = \"pgs\"\n[settings.large]\nscale = 2.0\n",
      "6: key 'recordings.settings': 'sp' sets 'solver.name', which 'small' sets too");
  const std::string list = "[[recordings]]\nname = \"{settings}\"\nscene = \"rings\"\nsettings = ";
  for (const char* wrong : {"[[\"cr\"], 1]\n", "[[\"cr\"], []]\n", "[\"cr\", [\"sp\"]]\n", "[1]\n"})
    expect_error(list + wrong + kSettings,
                 "6: key 'recordings.settings': must be a list of names, or of lists of names");
}

TEST_F(ExperimentRecordingsTest, OneSceneMayStandInThePlaceholderByItsPath) {
  EXPECT_EQ(names("[[recordings]]\nname = \"{scene}_again\"\nscene = \"my/own.toml\"\n"), Names{"own_again"});
  EXPECT_EQ(names("[settings.plain]\n[[recordings]]\nname = \"{settings}\"\nscene = \"rings\"\n"
                  "settings = [\"plain\"]\n"),
            Names{"plain"});
}

TEST_F(ExperimentRecordingsTest, MistakesNameFileLineAndKey) {
  const std::string entry = "[[recordings]]\nname = \"{scene}\"\nscene = [\"rings\", \"cloth\"]\n";
  expect_error(entry + "settings = [\"cr\",\n\"cra\"]\n" + kSettings,
               "7: key 'recordings.settings': no table [settings.cra] (did you mean 'cr'?)");
  expect_error(entry + "settings = [\"cr\"]\n", "6: key 'recordings.settings': no table [settings.cr]");
  expect_error(entry + kSettings, "6: key 'settings.cr': is in the 'settings' of no [[recordings]]");
  expect_error("scenes = [\"bucket\"]\n" + kSettings, "4: key 'settings.cr': is in the 'settings' of no");
  expect_error("scenes = [\"bucket\"]\nsettings = 1\n", "4: key 'settings': must be a table");
  expect_error("scenes = [\"bucket\"]\n[settings]\ncr = 1\n",
               "5: key 'settings.cr': must be a table of keys of a scene: [settings.cr]");
  expect_error(entry + "settings = [\"cr\"]\n[settings.cr]\na = [1]\n",
               "8: key 'settings.cr.a': must be a text, a number, true or false");
  expect_error(
      entry +
          "settings = [\"sp\"]\nset = { \"solver.name\" = \"pgs\" }\n[settings.sp]\nsolver.name = \"ica\"\n",
      "6: key 'recordings.settings': 'sp' sets 'solver.name', which stands in 'set' too");
  const std::string rings = "scene = \"rings\"\n";
  expect_error("[[recordings]]\nname = \"{secne}\"\n" + rings,
               "4: key 'recordings.name': unknown placeholder '{secne}' (did you mean 'scene'?)");
  expect_error("[[recordings]]\nname = \"a_{settings}\"\n" + rings,
               "4: key 'recordings.name': 'a_{settings}' needs the key 'settings'");
  expect_error("[[recordings]]\nname = \"a_{scene\"\n" + rings,
               "4: key 'recordings.name': 'a_{scene' has a brace");
  expect_error("[[recordings]]\nname = \"a_}\"\n" + rings, "4: key 'recordings.name': 'a_}' has a brace");
  expect_error("[[recordings]]\nname = \"a\"\nscene = [\"rings\", \"cloth\"]\n",
               "4: key 'recordings.name': 'a' is recorded already; let it hold {scene}");
  expect_error("[[recordings]]\nname = \"a\"\n" + rings + "settings = [\"cr\", \"sp\"]\n" + kSettings,
               "4: key 'recordings.name': 'a' is recorded already; let it hold {settings}");
  expect_error("[[recordings]]\nname = \"a\"\nscene = []\n",
               "5: key 'recordings.scene': must be a list with");
  expect_error("[[recordings]]\nname = \"a\"\nscene = 1\n", "5: key 'recordings.scene': must be a text");
  expect_error("[[recordings]]\nname = \"a\"\n" + rings + "vary = 1\n",
               "6: key 'recordings.vary': must be a table of lists");
}

}  // namespace
}  // namespace signorini::experiment_recordings_test
