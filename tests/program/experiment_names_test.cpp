// How experiments are found: by id, by folder, by file; and what `signorini list` says of them and of columns.

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "program/program_fixture.h"

namespace signorini::experiment_names_test {
namespace {

class ExperimentNamesTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("configs/experiments/beta2001/fig2", "Beta 2001, Fig. 2");
    write("configs/experiments/beta2001/fig1", "Beta 2001, Fig. 1");
    write("configs/experiments/alpha1999/table", "Alpha 1999, Table 1");
    fs::create_directories(folder_ / "configs/experiments/alpha1999/notes");
    std::ofstream(folder_ / "configs/experiments/old.toml") << "artefact = \"no folder\"\n";
    write("mine", "My own");
  }
  void write(const std::string& folder, const std::string& artefact) const {
    fs::create_directories(folder_ / folder);
    std::ofstream(folder_ / folder / "run.toml")
        << "artefact = \"" << artefact
        << "\"\nprotocols = [\"self-stopped\"]\nproblems = [{ name = \"n\", planted = { contacts = 3 } }]\n"
           "solvers = [{ name = \"pgs\" }]\n";
  }
  Outcome with_configs(std::vector<std::string> arguments,
                       const std::vector<std::string>& variables = {}) const {
    arguments.insert(arguments.begin(), {"--configs", path("configs")});
    return run(arguments, variables);
  }
  /// Runs the experiment; the id is the folder of its results.
  void expect_id(const std::string& name, const std::string& id) const {
    fs::remove_all(folder_ / "out");
    const Outcome o = with_configs({"run", name, "--out", path("out")});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read_run_table(folder_ / "out" / id / "runs.csv").size(), 1U) << name;
  }
};

TEST_F(ExperimentNamesTest, AnIdAFolderAndAFileNameAnExperiment) {
  expect_id("beta2001_fig1", "beta2001_fig1");
  expect_id(path("configs/experiments/beta2001/fig2"), "beta2001_fig2");
  expect_id(path("configs/experiments/beta2001/fig2/"), "beta2001_fig2");
  expect_id(path("configs/experiments/beta2001/fig2/run.toml"), "beta2001_fig2");
  expect_id(path("mine"), "mine");
  fs::copy_file(folder_ / "mine/run.toml", folder_ / "mine/other.toml");
  expect_id(path("mine/other.toml"), "other");
}

TEST_F(ExperimentNamesTest, UnknownOnesAreErrorsThatHelp) {
  const auto expect = [this](const std::string& name, int code, const std::string& part) {
    expect_error({"--configs", path("configs"), "run", name, "--out", path("out")}, code, part);
  };
  expect("beta2001_fig3", 2, "unknown experiment 'beta2001_fig3' (did you mean 'beta2001_fig");
  expect("alpha1999_notes", 2, "unknown experiment 'alpha1999_notes'");
  expect(path("configs/experiments/alpha1999"), 3,
         path("configs/experiments/alpha1999") + ": is a folder without run.toml");
  expect(path("absent/run.toml"), 3, path("absent/run.toml") + ": no such experiment file");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(ExperimentNamesTest, ListShowsIdsAndArtefactsInTheOrderOfTheIds) {
  const auto json = nlohmann::json::parse(with_configs({"list", "experiments", "--json"}).out);
  EXPECT_EQ(json, nlohmann::json::parse(R"([{"name": "alpha1999_table", "artefact": "Alpha 1999, Table 1"},
    {"name": "beta2001_fig1", "artefact": "Beta 2001, Fig. 1"},
    {"name": "beta2001_fig2", "artefact": "Beta 2001, Fig. 2"}])"));
  const std::string text = with_configs({"list", "experiments"}).out;
  EXPECT_NE(text.find("alpha1999_table"), std::string::npos) << text;
  EXPECT_LT(text.find("Beta 2001, Fig. 1"), text.find("Beta 2001, Fig. 2")) << text;
}

TEST_F(ExperimentNamesTest, ListOfColumnsIsTheSchemaBesideTheTable) {
  ASSERT_EQ(with_configs({"run", "beta2001_fig1", "--out", path("out")}).code, 0);
  const auto schema = nlohmann::json::parse(file_text(folder_ / "out/beta2001_fig1/runs.schema.json"));
  EXPECT_EQ(nlohmann::json::parse(with_configs({"list", "columns", "--json"}).out), schema["runs.csv"]);
  const std::string text = with_configs({"list", "columns"}, {"COLUMNS=1000"}).out;
  for (const auto& column : schema["runs.csv"]) {
    EXPECT_NE(text.find(column["name"].get<std::string>()), std::string::npos) << text;
    EXPECT_NE(text.find(column["meaning"].get<std::string>()), std::string::npos) << text;
  }
}

/// The units of the measures are told twice, in the two lists.
TEST_F(ExperimentNamesTest, MeasuresAndColumnsAgreeOnUnits) {
  std::map<std::string, std::string> units;
  for (const auto& column : nlohmann::json::parse(run({"list", "columns", "--json"}).out))
    units[column["name"]] = column["unit"];
  int compared = 0;
  for (const auto& measure : nlohmann::json::parse(run({"list", "measures", "--json"}).out)) {
    const std::string unit = measure["unit"];
    if (unit == "unit-dependent") continue;  // siconos_error
    for (const std::string& name : split(measure["name"].get<std::string>(), ',')) {
      const std::string column(trim(name));
      ASSERT_TRUE(units.contains(column)) << column;
      EXPECT_EQ(units[column] == "deg" ? "degrees" : units[column], unit) << column;
      ++compared;
    }
  }
  EXPECT_GE(compared, 10);
}

}  // namespace
}  // namespace signorini::experiment_names_test
