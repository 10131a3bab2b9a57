#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "base/check.h"
#include "campaign/campaign.h"
#include "campaign/campaign_parts.h"
#include "campaign/campaign_status.h"
#include "campaign/cell_cost.h"
#include "harness/run_record.h"
#include "harness/text_file.h"

namespace signorini::campaign_files_test {
namespace {

namespace fs = std::filesystem;

class CampaignFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("signorini_campaign_{}_{}", info->name(), ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    campaign_.folder = folder_;
    campaign_.program = "abc";
    campaign_.unit = ShardUnit::cell;
    campaign_.threads = 4;
    campaign_.experiments = {{"e", "e"}, {"none", "/a \"quoted\" place/run.toml"}};
  }
  void TearDown() override { fs::remove_all(folder_); }

  static PlannedCell cell(const std::string& solver, double seconds = 2.0, int contacts = 10) {
    PlannedCell one;
    one.experiment = "e";
    one.cell = {"f,1.h5", "000001.2", contacts, solver, "law=cone;eps=1e-10", "a \"label\"", 1.0 / 3.0};
    one.regions = "none points";
    one.threads = "1 2";
    one.seconds = seconds;
    one.basis = CostBasis::solver;
    return one;
  }
  std::string refusal() const {
    try {
      read_campaign(folder_);
      read_recordings(campaign_);
      read_cells(campaign_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
  Campaign campaign_;
};

TEST_F(CampaignFilesTest, ComeBackAsTheyWereWritten) {
  write_recordings(campaign_, std::vector<PlannedRecording>{{"rings", "rings", 12.0, CostBasis::measured}});
  write_cells(campaign_, std::vector<PlannedCell>{cell("pgs"), cell("nsgs", 1e-4)});
  EXPECT_FALSE(is_campaign(folder_));
  write_campaign(campaign_);
  EXPECT_TRUE(is_campaign(folder_));
  const Campaign again = read_campaign(folder_);
  EXPECT_EQ(again.size, "quick");
  EXPECT_EQ(again.program, "abc");
  EXPECT_EQ(again.unit, ShardUnit::cell);
  EXPECT_EQ(again.threads, 4);
  ASSERT_EQ(again.experiments.size(), 2U);
  EXPECT_EQ(again.experiments[1].config, campaign_.experiments[1].config);
  ASSERT_EQ(read_recordings(again).size(), 1U);
  EXPECT_EQ(read_recordings(again)[0].seconds, 12.0);
  const std::vector<PlannedCell> cells = read_cells(again);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cell_key("e", cells[0].cell), cell_key("e", cell("pgs").cell));
  EXPECT_EQ(cells[0].cell.label, "a \"label\"");
  EXPECT_EQ(cells[1].seconds, 1e-4);
  EXPECT_EQ(cells[1].basis, CostBasis::solver);
}

TEST_F(CampaignFilesTest, DamageIsToldWithFileAndLine) {
  const auto with = [this](const char* name, const std::string& from, const std::string& to) {
    write_recordings(campaign_, std::vector<PlannedRecording>{{"rings", "rings", 12.0, CostBasis::measured}});
    write_cells(campaign_, std::vector<PlannedCell>{cell("pgs")});
    write_campaign(campaign_);
    std::string text = text_or_nothing(folder_ / name);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(folder_ / name) << text;
    return refusal();
  };
  EXPECT_EQ(with("plan.toml", "abc", "abc"), "accepted");
  for (const auto& [name, from, to, told] : std::vector<std::array<const char*, 4>>{
           {"plan.toml", "'cell'", "'celk'", "plan.toml:"},
           {"plan.toml", "unit", "units", "key 'unit' is missing"},
           {"plan.toml", "size", "= size", "plan.toml:"},
           {"plan.toml", "threads = 4", "threads = 0", "is not positive"},
           {"plan.toml", "'e'", "7", "must be a text"},
           {"recordings.csv", "12", "nan", "recordings.csv: line 2"},
           {"recordings.csv", "12", "inf", "recordings.csv: line 2"},
           {"recordings.csv", "measured", "guessed", "recordings.csv: line 2"},
           {"cells.csv", ",10,", ",ten,", "cells.csv: line 2"},
           {"cells.csv", ",10,", ",10,10,", "cells.csv: line 2"},
           {"cells.csv", "contacts", "contact", "cells.csv: line 1"}}) {
    const std::string told_now = with(name, from, to);
    EXPECT_NE(told_now.find(told), std::string::npos)
        << name << ": " << from << " -> " << to << ": " << told_now;
  }
  fs::remove(folder_ / "cells.csv");
  EXPECT_NE(refusal().find("cells.csv: no such file"), std::string::npos);
}

TEST_F(CampaignFilesTest, FinishedGroupsAreSeenWhileThePartIsWritten) {
  FinishedCells finished(folder_);
  finished.refresh();
  EXPECT_EQ(finished.parts(), 0);
  CampaignPart part(folder_, "1of2"), other(folder_, "2of2");
  EXPECT_NE(part.path(), other.path());
  part.add("e", cell("pgs").cell, {.seconds = 1.5, .failed = 2, .rows = 4, .curves = 1});
  finished.refresh();
  EXPECT_TRUE(finished.contains(cell_key("e", cell("pgs").cell)));
  EXPECT_FALSE(finished.contains(cell_key("e", cell("nsgs").cell)));
  EXPECT_EQ(finished.at_work(), 2);
  other.add("e", cell("nsgs").cell, {.seconds = 1.0});
  other.end();
  finished.refresh();
  EXPECT_TRUE(finished.contains(cell_key("e", cell("nsgs").cell)));
  EXPECT_EQ(finished.at_work(), 1);
  { const CampaignPart third(folder_, "3of3"); }  // an interruption unwinds
  finished.refresh();
  EXPECT_EQ(finished.at_work(), 1);
  ASSERT_EQ(finished.cells().size(), 2U);  // nothing twice
  EXPECT_EQ(finished.cells()[0].tally.failed, 2);
  EXPECT_EQ(finished.cells()[0].tally.seconds, 1.5);
  EXPECT_EQ(finished.cells()[0].tally.rows, 4);
  EXPECT_EQ(finished.cells()[0].tally.curves, 1);
}

TEST_F(CampaignFilesTest, ATornOrDamagedLineOfAPartIsNoGroup) {
  CampaignPart part(folder_, "1of1");
  part.add("e", cell("pgs").cell, {.seconds = 1.5});
  std::ofstream(part.path() / "cells.csv", std::ios::app)
      << "e,f,1,2\ne,f,x,x,x,x,x,x,x,x\ne,f.h5,000002,3,pgs,l,o,1e-6,1";
  EXPECT_EQ(read_finished_cells(folder_).size(), 1U);
  std::ofstream(part.path() / "cells.csv", std::ios::app) << ".0,0\n";  // the writer goes on
  EXPECT_EQ(read_finished_cells(folder_).size(), 2U);
}

TEST_F(CampaignFilesTest, AnyBytesInAPartAreReadWithoutACrash) {
  CampaignPart part(folder_, "1of1");
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) bytes += "e,\"\n\r1.0x\0"[random() % 11];
    std::ofstream(part.path() / "cells.csv", std::ios::binary) << bytes;
    EXPECT_LE(read_finished_cells(folder_).size(), 300U);
  }
}

TEST_F(CampaignFilesTest, CostsAreMeasuredElseOfTheSolverElseOfCounts) {
  Experiment experiment;
  experiment.id = "e";
  experiment.time_limit = 1000.0;
  CostModel costs;
  PlannedCell one = cell("pgs");
  costs.estimate(experiment, one);
  EXPECT_EQ(one.basis, CostBasis::counts);
  EXPECT_DOUBLE_EQ(one.seconds, 3e-4 * 10 * runs_in_group(experiment, one.cell.label));
  for (const double seconds : {3.0, 1.0, 2.0}) costs.learn("e", cell("pgs").cell, {seconds});
  costs.learn("e", cell("nsgs", 0.0, 20).cell, {8.0});
  costs.learn("e", cell("nsgs").cell, {std::numeric_limits<double>::quiet_NaN()});  // says nothing
  costs.estimate(experiment, one);
  EXPECT_EQ(one.basis, CostBasis::measured);
  EXPECT_DOUBLE_EQ(one.seconds, 2.0);  // the median
  PlannedCell larger = cell("nsgs", 0.0, 40);
  larger.cell.step = "000002";
  costs.estimate(experiment, larger);
  EXPECT_EQ(larger.basis, CostBasis::solver);
  EXPECT_NEAR(larger.seconds, 16.0, 1e-12);  // 0.4 s per contact
  PlannedCell unknown = cell("pcg");
  costs.estimate(experiment, unknown);
  EXPECT_EQ(unknown.basis, CostBasis::counts);
  EXPECT_NEAR(unknown.seconds, 10 * std::pow(0.3 * 0.1 * 0.2 * 0.4, 0.25), 1e-12);
  experiment.time_limit = 0.01;
  costs.estimate(experiment, larger);
  EXPECT_NEAR(larger.seconds, 0.01 * (runs_in_group(experiment, larger.cell.label) + 10), 1e-12);
}

TEST_F(CampaignFilesTest, CostsOfRowsCountTheRepetitionsOfShortRuns) {
  const fs::path results = folder_ / "results";
  fs::create_directories(results / "e");
  RunRecord row;
  row.experiment = "e";
  row.file = cell("pgs").cell.file;
  row.step = cell("pgs").cell.step;
  row.contacts = 10;
  row.solver = "pgs";
  row.tolerance = cell("pgs").cell.tolerance;
  row.protocol = "self-stopped";
  row.setup_seconds = 1e-3;
  row.solve_seconds = 2e-3;
  std::ofstream(results / "e" / "runs.csv") << run_record_header() << '\n' << run_record_row(row) << '\n';
  row.experiment = "long";
  row.solve_seconds = 2.0;
  fs::create_directories(results / "long");
  std::ofstream(results / "long" / "runs.csv") << run_record_header() << '\n' << run_record_row(row) << '\n';
  row.experiment = "large";
  row.setup_seconds = 0.5;
  row.solve_seconds = 0.1;
  fs::create_directories(results / "large");
  std::ofstream(results / "large" / "runs.csv") << run_record_header() << '\n' << run_record_row(row) << '\n';
  Experiment experiment;
  experiment.time_limit = 1000.0;
  CostModel costs;
  costs.learn(results);
  PlannedCell one = cell("pgs");
  one.cell.options = row.options;
  one.cell.label = row.label;
  for (const int repetitions : {1, 7}) {
    experiment.repetitions = repetitions;
    one.experiment = "e";
    costs.estimate(experiment, one);
    EXPECT_EQ(one.basis, CostBasis::measured);
    // writing the row, the set-up that warms caches, the first run, two runs for every other repetition: the first warms caches
    EXPECT_NEAR(one.seconds, 4e-3 + 1e-3 + (2 * repetitions - 1) * 3e-3, 1e-12);
    one.experiment = "long";
    costs.estimate(experiment, one);
    EXPECT_NEAR(one.seconds, 4e-3 + 2 * 1e-3 + 2.0, 1e-12);  // too long to be repeated
    one.experiment = "large";
    costs.estimate(experiment, one);
    EXPECT_NEAR(one.seconds, 4e-3 + 0.6, 1e-12);  // its set-up warms no caches
  }
}

TEST_F(CampaignFilesTest, StatusScalesWhatIsLeftByWhatWasMeasured) {
  write_recordings(campaign_, std::vector<PlannedRecording>{{"rings", "rings", 12.0, CostBasis::measured}});
  write_cells(campaign_, std::vector<PlannedCell>{cell("pgs"), cell("nsgs", 4.0)});
  CampaignPart part(folder_, "1of1");
  part.add("e", cell("pgs").cell, {.seconds = 6.0, .failed = 1});
  const CampaignStatus status = status_of(campaign_);
  ASSERT_EQ(status.experiments.size(), 2U);
  EXPECT_EQ(status.all.groups, 2U);
  EXPECT_EQ(status.all.done, 1U);
  EXPECT_EQ(status.all.failed, 1);
  EXPECT_EQ(status.missing_recordings, 1U);
  EXPECT_DOUBLE_EQ(status.ratio, 3.0);  // 6 s instead of 2
  EXPECT_DOUBLE_EQ(status.all.left_seconds, 12.0);
  EXPECT_DOUBLE_EQ(status.left_wall_seconds(), 12.0);  // one at work
}

}  // namespace
}  // namespace signorini::campaign_files_test
