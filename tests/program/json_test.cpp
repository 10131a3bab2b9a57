// --json: every command writes one JSON document to standard output and nothing else.

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "program/program_fixture.h"

namespace signorini::json_test {
namespace {

using Json = nlohmann::ordered_json;

class JsonTest : public ProgramTest {
 protected:
  /// Runs with --json; the whole of stdout must be one document.
  Json json_of(std::vector<std::string> arguments, int code = 0) const {
    arguments.emplace_back("--json");
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    Json document = Json::parse(o.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << fmt::format("{}", fmt::join(arguments, " ")) << "\n" << o.out;
    EXPECT_EQ(o.out.back(), '\n');
    return document;
  }
  /// An experiment of one small problem.
  std::string experiment() const {
    std::ofstream(folder_ / "small.toml") << R"(artefact = "a test"
protocols = ["self-stopped"]
[[problems]]
name = "net"
planted = { contacts = 5 }
[[solvers]]
name = "pgs"
[[solvers]]
name = "ca"
)";
    return path("small.toml");
  }
};

TEST_F(JsonTest, SolveGivesTheRowsOfItsTable) {
  const std::string file = planted("problem.hdf5");
  const Json rows = json_of({"solve", file, "--solver", "pgs,ca", "--csv", path("rows.csv")});
  ASSERT_TRUE(rows.is_array());
  ASSERT_EQ(rows.size(), 2U);
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows[0].items()) keys.push_back(key);
  EXPECT_EQ(fmt::format("{}", fmt::join(keys, ",")), run_record_header());
  const std::vector<RunRecord> table = read_run_table(folder_ / "rows.csv");
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(rows[i]["solver"], table[i].solver);
    EXPECT_EQ(rows[i]["status"], enum_name(table[i].status));
    EXPECT_TRUE(rows[i]["iterations"].is_number_integer());
    EXPECT_EQ(rows[i]["iterations"], table[i].iterations);
    EXPECT_EQ(rows[i]["residual"].get<double>(), table[i].errors.residual);
    EXPECT_TRUE(rows[i]["solve_seconds"].is_number_float());
  }
}

TEST_F(JsonTest, NumbersThatAreNoneAreNull) {
  RunRecord record;
  record.errors.residual = std::numeric_limits<double>::quiet_NaN();
  record.errors.equation = std::numeric_limits<double>::infinity();
  record.message = "with \"quotes\", commas\nand lines";
  const Json row = Json::parse(run_record_json(record));
  EXPECT_TRUE(row["residual"].is_null());
  EXPECT_TRUE(row["equation"].is_null());
  EXPECT_EQ(row["message"], record.message);
  EXPECT_TRUE(row["tolerance"].is_number());
}

TEST_F(JsonTest, RecordGivesTheSummaryWithUnitsAndTheFacts) {
  const std::vector<std::string> command{"record",  "bucket",
                                         "-o",      path("b.h5"),
                                         "--steps", "240",
                                         "--set",   "time.record_every=20",
                                         "--set",   "bodies.balls.level=1"};
  const Json summary = json_of(command);
  EXPECT_EQ(summary["file"], path("b.h5"));
  EXPECT_EQ(summary["steps"], 240);
  for (const char* key : {"snapshots", "bytes", "contacts_most", "deepest_point_most_m", "steps_intersecting",
                          "energy_last_step_J", "seconds"})
    EXPECT_TRUE(summary[key].is_number() || summary[key].is_null()) << key;
  EXPECT_TRUE(summary["clocks"].is_object());
  ASSERT_TRUE(summary["facts"].is_array());
  for (const Json& fact : summary["facts"]) EXPECT_TRUE(fact["holds"].is_boolean());
  std::vector<std::string> again = command;
  again.emplace_back("--resume");
  EXPECT_EQ(json_of(again)["complete_already"], true);
  EXPECT_NE(json_of({"record", "bucket", "--check"})["toml"].get<std::string>().find("[contact]"),
            std::string::npos);
  const Json files = json_of({"info", path("b.h5")});
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0]["steps"].size(), summary["snapshots"].get<std::size_t>());
  for (const auto& [field, unit] : std::vector<std::pair<std::string, std::string>>{
           {"warm_start", "N s"}, {"v_minus", "m/s"}, {"start_states", "1"}, {"start_bounds", "N s"}}) {
    EXPECT_EQ(files[0]["starts"][field]["unit"], unit) << field;
    EXPECT_GT(files[0]["starts"][field]["steps"], 0) << field;
  }
  EXPECT_TRUE(json_of({"info", path("b.h5"), "--facts"}).is_array());
  const Json vtk = json_of({"export", path("b.h5"), "--vtk", path("vtk")});
  EXPECT_EQ(vtk["kind"], "vtk");
  EXPECT_EQ(vtk["frames"], summary["snapshots"]);
}

TEST_F(JsonTest, RecordNamesThePrelude) {
  std::vector<std::string> command{"record", "springtoy", "-o", path("s.h5"), "--steps", "4"};
  EXPECT_FALSE(json_of(command).contains("prelude_steps"));
  command[3] = path("p.h5");
  command.insert(command.end(), {"--set", "prelude.steps=3"});
  const Json summary = json_of(command);
  EXPECT_EQ(summary["steps"], 4);
  EXPECT_EQ(summary["prelude_steps"], 3);
  EXPECT_GE(summary["prelude_seconds"], 0.0);
}

TEST_F(JsonTest, ExportSaysWhatItWrote) {
  const std::string file = planted("problem.hdf5", {.contacts = 7});
  const Json written = json_of({"export", file, "-o", path("e.hdf5")});
  EXPECT_EQ(written["file"], path("e.hdf5"));
  EXPECT_EQ(written["step"], "0");
  EXPECT_EQ(written["kind"], "fclib_global");
  EXPECT_EQ(written["contacts"], 7);
  EXPECT_TRUE(written["dofs"].is_number_integer());
  EXPECT_EQ(written["bytes"], fs::file_size(path("e.hdf5")));
}

TEST_F(JsonTest, RunAndReproduceGiveEveryExperimentWithItsSummary) {
  const std::vector<std::string> runs[] = {
      {"run", experiment(), "--out", path("out")},
      {"run", experiment(), "--out", path("out"), "--resume"},
      {"reproduce", experiment(), "--out", path("out"), "--no-report", "--force"}};
  for (const std::vector<std::string>& command : runs) {
    const Json document = json_of(command);
    ASSERT_EQ(document["experiments"].size(), 1U);
    const Json& one = document["experiments"][0];
    EXPECT_EQ(one["id"], "small");
    EXPECT_EQ(one["folder"], path("out/small"));
    EXPECT_EQ(one["rows"], 2);
    EXPECT_EQ(one["resumed"], command.back() == "--resume" ? 2 : 0);
    EXPECT_EQ(one["failed"], 0);
    EXPECT_TRUE(one["seconds"].is_number());
    ASSERT_EQ(one["summary"].size(), 2U);
    EXPECT_EQ(one["summary"][0]["solver"], "pgs");
    EXPECT_EQ(one["summary"][0]["runs"], 1);
    EXPECT_TRUE(one["summary"][0]["median_solve_seconds"].is_number());
    EXPECT_EQ(document.contains("claims"), command[0] == "reproduce");
  }
}

TEST_F(JsonTest, ReproduceAddsTheClaimsAndTheReportTalksElsewhere) {
  const Json document = json_of({"reproduce", experiment(), "--out", path("out")});
  EXPECT_EQ(document["experiments"][0]["id"], "small");
  ASSERT_TRUE(document.contains("claims"));
  EXPECT_TRUE(fs::exists(path("out/claims.json")) ? !document["claims"].is_null() : true);
}

TEST_F(JsonTest, ListsAreListsAndAllOfThemAnObject) {
  const Json all = json_of({"list"});
  for (const char* kind : {"solvers", "scenes", "shapes", "experiments", "measures", "columns"}) {
    ASSERT_TRUE(all[kind].is_array()) << kind;
    EXPECT_EQ(all[kind], json_of({"list", kind})) << kind;
    EXPECT_FALSE(all[kind].empty()) << kind;
  }
}

TEST_F(JsonTest, ErrorsLeaveStandardOutputEmpty) {
  EXPECT_TRUE(run({"solve", path("absent.h5"), "--solver", "pgs", "--json"}).out.empty());
  EXPECT_TRUE(run({"solve", "--json"}).out.empty());
}

}  // namespace
}  // namespace signorini::json_test
