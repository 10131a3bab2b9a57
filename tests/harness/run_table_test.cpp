#include "harness/run_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/check.h"
#include "base/text.h"

namespace signorini::run_table_test {
namespace {

namespace fs = std::filesystem;

class RunTableTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_run_table_{}", ::getpid());
    fs::create_directories(folder_);
    path_ = folder_ / "runs.csv";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  fs::path folder_, path_;
};

RunRecord example(int repetition) {
  RunRecord record;
  record.experiment = "signorini_all";
  record.file = "a, \"quoted\" name.h5";
  record.step = "000120.2";
  record.contacts = 17;
  record.dofs = 300;
  record.regions = 4;
  record.largest_region = 9;
  record.solver = "pcg-pgs";
  record.options = "law=cone;omega=1.1";
  record.law = "cone";
  record.region_mode = "points";
  record.threads = 2;
  record.repetition = repetition;
  record.status = SolveStatus::stalled;
  record.iterations = 12;
  record.errors.residual = 0.1 + 0.2;
  record.errors.natural_map = std::numeric_limits<double>::quiet_NaN();
  record.errors.siconos_error = std::numeric_limits<double>::infinity();
  record.errors.equation = 5e-324;
  record.setup_seconds = 1.0 / 3.0;
  record.solve_seconds = 2e-7;
  record.tolerance = 1e-6;
  record.protocol = "time";
  record.phases = "cg=5";
  record.products = 123456789012345LL;
  record.message = "two\nlines, with \"quotes\"";
  record.label = "combined";
  record.counters = {1, 2, 3, 4, 10, 5, 6, 7, 8, 9};
  record.errors.fb_normal = 1e-6;
  record.errors.fb_static = 2e-6;
  record.errors.fb_kinetic = 3e-6;
  record.errors.island_residual = 0.5;
  record.cpu_share = 0.75;
  record.waited_share = 0.2;
  record.involuntary_switches = 17;
  record.solver_bytes = 4096;
  record.speedup_8 = 7.5;
  record.speedup_64 = 30.0;
  record.speedup_256 = 32.25;
  record.threads_used = 4;
  return record;
}

TEST_F(RunTableTest, HeaderOpensWithTheColumnsOfTheContractInTheirOrder) {
  const std::string contract =
      "experiment,file,step,contacts,dofs,regions,largest_region,solver,options,law,region_mode,threads,"
      "repetition,status,"
      "iterations,residual,natural_map,siconos_error,fischer_burmeister,penetration,cone_violation,"
      "dissipation_angle,"
      "equation,setup_seconds,solve_seconds,tolerance";
  EXPECT_EQ(run_record_header().substr(0, contract.size()), contract);
}

TEST_F(RunTableTest, ColumnsAreThoseOfTheHeaderEachWithAMeaning) {
  std::string header;
  for (const Column& column : run_columns()) {
    header += (header.empty() ? "" : ",") + std::string(column.name);
    EXPECT_GT(column.meaning.size(), 8U) << column.name;
    if (column.type == "text") {
      EXPECT_EQ(column.unit, "") << column.name;
    } else {
      EXPECT_TRUE(column.type == "integer" || column.type == "real") << column.type;
      EXPECT_NE(column.unit, "") << column.name;
    }
    if (column.name.ends_with("_seconds")) {
      EXPECT_EQ(column.type, "real") << column.name;
      EXPECT_EQ(column.unit, "s") << column.name;
    }
  }
  EXPECT_EQ(header, run_record_header());
}

/// A change of a key column is another run, a change of any other is not.
TEST_F(RunTableTest, KeyColumnsAreThoseThatTellRunsApart) {
  const std::vector<Column> columns = run_columns();
  std::vector<std::string> keys;
  for (std::size_t changed = 0; changed < columns.size(); ++changed) {
    std::string row, plain;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool status = columns[i].name == "status";
      const std::string value = status ? "failed" : "9", other = status ? "stalled" : "8";
      row += (i == 0 ? "" : ",") + (i == changed ? other : value);
      plain += (i == 0 ? "" : ",") + value;
    }
    write(run_record_header() + "\n" + row + "\n" + plain + "\n");
    const std::vector<RunRecord> rows = read_run_table(path_);
    EXPECT_EQ(run_key(rows[0]) != run_key(rows[1]), columns[changed].key) << columns[changed].name;
    if (columns[changed].key) keys.emplace_back(columns[changed].name);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"experiment", "file", "step", "solver", "options", "region_mode",
                                            "threads", "repetition", "tolerance", "protocol"}));
}

TEST_F(RunTableTest, SchemaStandsBesideRunsCsvAlone) {
  RunTable(folder_ / "other.csv", OpenTable::fresh);
  EXPECT_FALSE(fs::exists(folder_ / "runs.schema.json"));
  RunTable(path_, OpenTable::fresh);
  std::ifstream in(folder_ / "runs.schema.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), run_schema_json());
  std::size_t at = 0;
  for (const Column& column : run_columns()) {
    at = run_schema_json().find(fmt::format("\"name\": \"{}\"", column.name), at);
    ASSERT_NE(at, std::string::npos) << column.name;
  }
  EXPECT_EQ(run_schema_json().rfind("{\n  \"runs.csv\": [", 0), 0U) << run_schema_json().substr(0, 40);
}

TEST_F(RunTableTest, RowComesBackToTheLastBit) {
  {
    RunTable table(path_, OpenTable::fresh);
    table.append(example(0));
  }
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(example(0)));
  EXPECT_EQ(back[0].file, "a, \"quoted\" name.h5");
  EXPECT_EQ(back[0].message, "two\nlines, with \"quotes\"");
  EXPECT_EQ(back[0].errors.residual, 0.1 + 0.2);
  EXPECT_EQ(back[0].errors.equation, 5e-324);
  EXPECT_TRUE(std::isnan(back[0].errors.natural_map));
  EXPECT_TRUE(std::isinf(back[0].errors.siconos_error));
  EXPECT_EQ(back[0].status, SolveStatus::stalled);
}

TEST_F(RunTableTest, RowCutAnywhereIsDroppedAndWrittenAgain) {
  const std::string whole =
      run_record_header() + "\n" + run_record_row(example(0)) + "\n" + run_record_row(example(1)) + "\n";
  for (std::size_t cut = 0; cut <= whole.size(); cut += 11) {
    write(whole.substr(0, cut));
    RunTable table(path_, OpenTable::resume);
    table.append(example(0));
    table.append(example(1));
    ASSERT_EQ(table.rows(), 2U) << "cut after byte " << cut;
    ASSERT_EQ(text(), whole) << "cut after byte " << cut;
  }
}

TEST_F(RunTableTest, ResumeKeepsKnownRowsAndRefusesToDoubleThem) {
  {
    RunTable table(path_, OpenTable::fresh);
    table.append(example(0));
  }
  const std::string before = text();
  RunTable table(path_, OpenTable::resume);
  EXPECT_EQ(table.resumed(), 1U);
  EXPECT_TRUE(table.contains(example(0)));
  EXPECT_FALSE(table.contains(example(1)));
  table.append(example(0));
  EXPECT_EQ(text(), before);
}

TEST_F(RunTableTest, BadRowsAreSetAsideWithAWordAndMayBeMadeAgain) {
  const std::string good = run_record_row(example(1));
  const std::string bad = "x" + good.substr(0, good.size() / 2);  // a line that misses its end
  const std::string whole = run_record_header() + "\n" + run_record_row(example(0)) + "\n" + bad + "\n" +
                            run_record_row(example(2)) + "\n";
  write(whole);
  EXPECT_THROW(read_run_table(path_), InputError);  // who only reads is told
  {
    RunTable table(path_, OpenTable::resume);
    EXPECT_EQ(table.resumed(), 2U);
    ASSERT_EQ(table.bad().size(), 1U);
    EXPECT_EQ(table.bad()[0].rfind("line 3: ", 0), 0U) << table.bad()[0];
    EXPECT_FALSE(table.contains(example(1)));
    EXPECT_TRUE(table.contains(example(2)));
    table.append(example(1));
  }
  std::ifstream kept(damaged_of(path_));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), whole);
  EXPECT_EQ(read_run_table(path_).size(), 3U);
  EXPECT_TRUE(RunTable(path_, OpenTable::resume).bad().empty());
}

TEST_F(RunTableTest, FreshTableForgetsTheOldRows) {
  write(run_record_header() + "\n" + run_record_row(example(0)) + "\n");
  RunTable table(path_, OpenTable::fresh);
  EXPECT_EQ(text(), run_record_header() + "\n");
}

TEST_F(RunTableTest, ForeignTablesAreRefusedWithTheLine) {
  write("a,b,c\n1,2,3\n");
  EXPECT_THROW(read_run_table(path_), InputError);
  write(run_record_header() + "\n1,2,3\n");
  try {
    read_run_table(path_);
    FAIL() << "a short line was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read_run_table(folder_ / "absent.csv"), InputError);
  EXPECT_THROW(read_run_table(folder_), InputError);
}

/// A line without its last columns.
std::string shortened(std::string line, int columns) {
  for (int column = 0; column < columns; ++column) line.erase(line.rfind(','));
  return line;
}

/// The columns that versions before this one did not have: threads in use, before them speed-ups, before them the error of the worst island, the number of
/// factors, the solver's memory, how busy the machine was, errors by class, and the other counters.
constexpr int kThreads = 1, kSpeedups = kThreads + 3, kIslands = kSpeedups + 1, kFactors = kIslands + 1,
              kMemory = kFactors + 1, kUse = kMemory + 3, kClasses = kUse + 3, kCounters = 9;

RunRecord without_threads_used(RunRecord record) {
  record.threads_used = -1;
  return record;
}

RunRecord without_speedups(RunRecord record) {
  record = without_threads_used(record);
  record.speedup_8 = record.speedup_64 = record.speedup_256 = std::numeric_limits<double>::quiet_NaN();
  return record;
}

RunRecord without_islands(RunRecord record) {
  record = without_speedups(record);
  record.errors.island_residual = std::numeric_limits<double>::quiet_NaN();
  return record;
}

RunRecord without_factors(RunRecord record) {
  record = without_islands(record);
  record.counters.factorisations = -1;
  return record;
}

RunRecord without_memory(RunRecord record) {
  record = without_factors(record);
  record.solver_bytes = -1;
  return record;
}

RunRecord without_use(RunRecord record) {
  record = without_memory(record);
  record.cpu_share = record.waited_share = std::numeric_limits<double>::quiet_NaN();
  record.involuntary_switches = -1;
  return record;
}

RunRecord without_classes(RunRecord record) {
  record = without_use(record);
  record.errors.fb_normal = record.errors.fb_static = record.errors.fb_kinetic =
      std::numeric_limits<double>::quiet_NaN();
  return record;
}

TEST_F(RunTableTest, TableWithoutThreadsInUseIsRead) {
  ASSERT_TRUE(shortened(run_record_header(), kThreads).ends_with(",speedup_256"));
  RunRecord before = example(0);
  before.solver = "admm";
  write(shortened(run_record_header(), kThreads) + "\n" + shortened(run_record_row(before), kThreads) + "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_threads_used(before)));
}

TEST_F(RunTableTest, TableWithoutSpeedUpsIsRead) {
  ASSERT_TRUE(shortened(run_record_header(), kSpeedups).ends_with(",island_residual"));
  RunRecord before = example(0);
  before.solver = "admm";
  write(shortened(run_record_header(), kSpeedups) + "\n" + shortened(run_record_row(before), kSpeedups) +
        "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_speedups(before)));
}

TEST_F(RunTableTest, TableWithoutTheErrorOfTheWorstIslandIsRead) {
  ASSERT_TRUE(shortened(run_record_header(), kIslands).ends_with(",factorisations"));
  RunRecord before = example(0);
  before.solver = "admm";
  write(shortened(run_record_header(), kIslands) + "\n" + shortened(run_record_row(before), kIslands) + "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_islands(before)));
}

TEST_F(RunTableTest, TableWithoutFactorisationsIsRead) {
  ASSERT_TRUE(shortened(run_record_header(), kFactors).ends_with(",solver_bytes"));
  write(shortened(run_record_header(), kFactors) + "\n" + shortened(run_record_row(example(0)), kFactors) +
        "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_factors(example(0))));
}

/// They stood in the column `restarts`, and those that failed in `guards` as now.
TEST_F(RunTableTest, EarlierRowsOfAdmmTellTheirFactorisations) {
  for (const char* solver : {"admm", "admm-global"}) {
    RunRecord before = example(0);
    before.solver = solver;
    before.counters.restarts = 5;
    before.counters.guards = 2;
    write(shortened(run_record_header(), kFactors) + "\n" + shortened(run_record_row(before), kFactors) +
          "\n");
    const SolveCounters counters = read_run_table(path_).at(0).counters;
    EXPECT_EQ(counters.factorisations, 7) << solver;
    EXPECT_EQ(counters.restarts, 0) << solver;
    EXPECT_EQ(counters.guards, 2) << solver;
  }
}

TEST_F(RunTableTest, TableWithoutTheSolversMemoryIsRead) {
  ASSERT_TRUE(shortened(run_record_header(), kMemory).ends_with(",involuntary_switches"));
  write(shortened(run_record_header(), kMemory) + "\n" + shortened(run_record_row(example(0)), kMemory) +
        "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_memory(example(0))));
}

TEST_F(RunTableTest, TableThatDoesNotTellHowBusyTheMachineWasIsRead) {
  ASSERT_TRUE(shortened(run_record_header(), kUse).ends_with(",fb_kinetic"));
  write(shortened(run_record_header(), kUse) + "\n" + shortened(run_record_row(example(0)), kUse) + "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_use(example(0))));
}

TEST_F(RunTableTest, TableWithoutErrorsByClassIsReadWithoutThem) {
  ASSERT_TRUE(shortened(run_record_header(), kClasses).ends_with(",relinearisations"));
  write(shortened(run_record_header(), kClasses) + "\n" + shortened(run_record_row(example(0)), kClasses) +
        "\n");
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without_classes(example(0))));
}

TEST_F(RunTableTest, TableWithoutCountersIsReadAndContinued) {
  const auto earlier = [](const std::string& line) { return shortened(line, kClasses + kCounters); };
  ASSERT_TRUE(earlier(run_record_header()).ends_with(",label"));
  write(earlier(run_record_header()) + "\n" + earlier(run_record_row(example(0))) + "\n");
  RunRecord without = without_classes(example(0));
  without.counters = {};
  without.counters.factorisations = -1;
  const std::vector<RunRecord> back = read_run_table(path_);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(run_record_row(back[0]), run_record_row(without));
  {
    RunTable table(path_, OpenTable::resume);
    EXPECT_TRUE(table.contains(example(0)));
    table.append(example(1));
  }
  EXPECT_EQ(text(),
            run_record_header() + "\n" + run_record_row(without) + "\n" + run_record_row(example(1)) + "\n");
}

TEST_F(RunTableTest, TableWithOnlySomeOfTheCountersIsRefused) {
  const std::string header = shortened(run_record_header(), kMemory);
  write(header.substr(0, header.rfind(',')) + "\n");
  EXPECT_THROW(read_run_table(path_), InputError);
  EXPECT_THROW(RunTable(path_, OpenTable::resume), InputError);
}

TEST_F(RunTableTest, KeyTellsRunsApart) {
  const RunRecord record = example(0);
  for (const auto change :
       {+[](RunRecord& r) { r.threads = 1; }, +[](RunRecord& r) { r.protocol = "converge"; },
        +[](RunRecord& r) { r.tolerance = 1e-8; }, +[](RunRecord& r) { r.region_mode = "none"; },
        +[](RunRecord& r) { r.options = "law=pyramid"; }, +[](RunRecord& r) { r.step = "1"; }}) {
    RunRecord other = record;
    change(other);
    EXPECT_NE(run_key(record), run_key(other));
  }
  RunRecord other = record;
  other.solve_seconds = 1.0;
  other.label = "renamed";
  EXPECT_EQ(run_key(record), run_key(other));
}

TEST_F(RunTableTest, SmallFilesAreReplacedWholeAndLeaveNoTemporary) {
  const fs::path file = folder_ / "env.json";
  write_text_file(file, "old");
  write_text_file(file, "new");
  std::ifstream in(file);
  std::string word;
  in >> word;
  EXPECT_EQ(word, "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  EXPECT_THROW(write_text_file(folder_ / "absent" / "env.json", "x"), InputError);
}

}  // namespace
}  // namespace signorini::run_table_test
