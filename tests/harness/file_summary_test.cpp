// What a file holds: numbers of its snapshots, ranges over them, its statistics.

#include "harness/file_summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "contact/planar_problem.h"
#include "contact/planar_problems.h"
#include "contact/planted_problem.h"
#include "harness/listening_monitor.h"
#include "record/record_test_tools.h"

namespace signorini::file_summary_test {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

RecordingHeader header() { return {.scene = "net", .config = "title = 'x'\n", .git = "", .seed = 0}; }

Frame frame(const std::string& id, const PlantedOptions& options) {
  Frame made;
  made.id = id;
  made.problem = make_planted_problem(options).problem;
  return made;
}

TEST(ValueRange, PassesOverWhatIsNoNumber) {
  ValueRange range;
  range.add(kNone);
  EXPECT_TRUE(range.empty());
  range.add(ValueRange{});
  EXPECT_TRUE(range.empty()) << "an empty range adds nothing";
  range.add(2.0);
  range.add(kNone);
  range.add(-1.0);
  EXPECT_EQ(range.low, -1.0);
  EXPECT_EQ(range.high, 2.0);
}

TEST(FileSummary, CountsRegionsOfASnapshot) {
  const ContactProblem free =
      make_planted_problem({.contacts = 12, .regions = 3, .mu = 0.25, .mass_ratio = 4.0}).problem;
  const SnapshotSummary s = summarise_snapshot(free, "7");
  EXPECT_EQ(s.step, "7");
  EXPECT_EQ(s.contacts, 12);
  EXPECT_EQ(s.dofs, free.dofs());
  EXPECT_EQ(s.regions, 3);
  EXPECT_EQ(s.largest_region, 4);
  EXPECT_TRUE(s.points_exact);
  EXPECT_EQ(s.mu.low, 0.25);
  EXPECT_EQ(s.mu.high, 0.25);
  EXPECT_GT(s.diagonal_ratio, 1.0);
  EXPECT_LE(s.diagonal_ratio, 4.0 * (1.0 + 1e-12));
  EXPECT_EQ(s.asymmetry, 0.0);
  EXPECT_EQ(s.note, "");
  EXPECT_FALSE(
      summarise_snapshot(make_planted_problem({.contacts = 8, .stiffness = 5.0}).problem, "0").points_exact)
      << "M couples the mass points";
}

TEST(FileSummary, CountsInThePlaneWhatTheFileHolds) {
  const ContactProblem planar = plane::disc_heap(4, 1, 0.5);  // 4 on the floor, 3 between neighbours
  const SnapshotSummary s = summarise_snapshot(to_space(planar), "0");
  EXPECT_EQ(s.spacedim, 2);
  EXPECT_EQ(s.contacts, 7);
  EXPECT_EQ(s.dofs, 12);
  EXPECT_EQ(s.regions, 1);
  EXPECT_EQ(s.islands, 1);
  EXPECT_TRUE(s.points_exact);
  EXPECT_EQ(s.diagonal_ratio, 8.0) << "mass over inertia of a disc";
  EXPECT_TRUE(s.redundant) << "14 rows for 12 dofs";
  EXPECT_FALSE(summarise_snapshot(zoo::specimen("planar_wedge_moving").problem, "0").redundant);
  const SnapshotSummary dual = summarise_snapshot(zoo::specimen("planar_wedge_dual").problem, "0");
  EXPECT_EQ(dual.spacedim, 2);
  EXPECT_EQ(dual.dofs, 0);
  EXPECT_EQ(summarise_snapshot(make_planted_problem({.contacts = 2}).problem, "0").spacedim, 3);
}

TEST(FileSummary, TellsTheKindOfAProblem) {
  ContactProblem problem = make_planted_problem({.contacts = 4}).problem;
  const auto kind = [&problem](ProblemKind k) {
    problem.kind = k;
    return summarise_snapshot(problem, "0").kind;
  };
  EXPECT_EQ(kind(ProblemKind::explicit_step), "explicit");
  EXPECT_EQ(kind(ProblemKind::implicit_step), "implicit");
  EXPECT_EQ(kind(ProblemKind::unknown), "primal");
  ContactProblem dual;
  dual.W.resize(3, 3);
  for (const Index i : {0, 1, 2}) dual.W.insert(i, i) = 1.0 + i;
  dual.W.insert(0, 1) = 0.5;
  dual.W.makeCompressed();
  dual.q = Vector::Ones(3);
  dual.mu = Vector::Constant(1, 0.5);
  const SnapshotSummary s = summarise_snapshot(dual, "0");
  EXPECT_EQ(s.kind, "dual");
  EXPECT_EQ(s.diagonal_ratio, 3.0) << "of W";
  EXPECT_GT(s.asymmetry, 0.0);
  EXPECT_NE(s.note.find("W: not symmetric"), std::string::npos) << s.note;
  EXPECT_FALSE(s.redundant);
}

TEST(FileSummary, MoreDirectionsThanDofsAreRedundant) {
  EXPECT_FALSE(summarise_snapshot(make_planted_problem({.contacts = 10}).problem, "0").redundant);
  const ContactProblem many = make_planted_problem({.contacts = 40, .sharing = 0.9}).problem;
  EXPECT_EQ(summarise_snapshot(many, "0").redundant, 3 * many.contacts() > many.dofs());
  EXPECT_GT(3 * many.contacts(), many.dofs());
}

TEST(FileSummary, RangesGoOverAllSnapshots) {
  std::vector<SnapshotSummary> steps(2);
  steps[0].contacts = 5;
  steps[0].mu.add(0.5);
  steps[0].points_exact = true;
  steps[0].note = "b";
  steps[1].contacts = 2;
  steps[1].points_exact = false;
  steps[1].redundant = true;
  steps[1].note = "b";
  const SnapshotRanges all = ranges_of(steps);
  EXPECT_EQ(all.contacts.low, 2.0);
  EXPECT_EQ(all.contacts.high, 5.0);
  EXPECT_EQ(all.mu.low, 0.5) << "a snapshot without contacts has none";
  EXPECT_EQ(all.mu.high, 0.5);
  EXPECT_FALSE(all.points_exact);
  EXPECT_TRUE(all.redundant);
  EXPECT_TRUE(ranges_of({}).contacts.empty());
  steps.emplace_back();
  steps.emplace_back().note = "a";
  const std::vector<NoteCount> notes = count_notes(steps);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].note, "a");
  EXPECT_EQ(notes[1].note, "b");
  EXPECT_EQ(notes[1].steps, 2U);
}

TEST(FileSummary, CountsTheSnapshotsThatHoldEachStart) {
  const auto place = [](std::string_view field) {
    std::size_t i = 0;
    while (kStartQuantities.at(i).field != field) ++i;
    return i;
  };
  ContactProblem problem = make_planted_problem({.contacts = 4}).problem;
  std::vector<SnapshotSummary> steps{summarise_snapshot(problem, "1")};
  EXPECT_EQ(count_starts(steps), StartCounts{});
  problem.v_minus = Vector::Zero(problem.dofs());
  problem.start_states.assign(4, FrictionState::unknown);
  steps.push_back(summarise_snapshot(problem, "2"));
  problem.warm_start = Vector::Zero(12);
  problem.v_minus.resize(0);
  problem.start_bounds = Vector::Zero(4);
  steps.push_back(summarise_snapshot(problem, "3"));
  const StartCounts held = count_starts(steps);
  EXPECT_EQ(held[place("warm_start")], 1U);
  EXPECT_EQ(held[place("v_minus")], 1U);
  EXPECT_EQ(held[place("start_states")], 2U);
  EXPECT_EQ(held[place("start_bounds")], 1U);
}

TEST(FileSummary, ColumnsPassOverStepsWithoutANumber) {
  const StepTable table{{"time", "x"}, {"s", "m"}, {{0.5, kNone}, {1.0, 3.0}, {1.5, -1.0}}};
  const std::vector<ColumnSummary> columns = summarise_columns(table);
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].name, "time");
  EXPECT_EQ(columns[0].mean(), 1.0);
  EXPECT_EQ(columns[1].unit, "m");
  EXPECT_EQ(columns[1].range.low, -1.0);
  EXPECT_EQ(columns[1].range.high, 3.0);
  EXPECT_EQ(columns[1].values, 2U);
  EXPECT_EQ(columns[1].mean(), 1.0);
  EXPECT_TRUE(std::isnan(columns[1].first));
  EXPECT_EQ(columns[1].last, -1.0);
  EXPECT_TRUE(summarise_columns({{"x"}, {"m"}, {}}).front().range.empty());
}

TEST(FileSummary, OfARecordingHasItsStatisticsWhenItEnded) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.h5").string();
  {
    RecordingWriter writer(path, header(), false);
    writer.append(frame("000001", {.contacts = 3}));
    writer.append(frame("000002", {.contacts = 6, .regions = 2}));
    const StepTable statistics{{"time"}, {"s"}, {{0.5}, {1.0}}};
    writer.finish(&statistics);
  }
  ListeningMonitor listener;
  const FileSummary summary = summarise_file(path, {.monitor = &listener});
  EXPECT_EQ(summary.path, path);
  EXPECT_EQ(summary.title, "net");
  EXPECT_EQ(summary.bytes, std::filesystem::file_size(path));
  ASSERT_EQ(summary.steps.size(), 2U);
  EXPECT_EQ(summary.steps[1].step, "000002");
  EXPECT_EQ(summary.steps[1].regions, 2);
  ASSERT_TRUE(summary.statistics);
  EXPECT_EQ(summary.statistics->rows.size(), 2U);
  EXPECT_EQ(listener.told, (std::vector<std::string>{"1/2 step 000001", "2/2 step 000002"}));
}

TEST(FileSummary, EndsWhenCancelled) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.h5").string();
  {
    RecordingWriter writer(path, header(), false);
    for (const char* id : {"000001", "000002", "000003"}) writer.append(frame(id, {.contacts = 3}));
    writer.finish();
  }
  EXPECT_FALSE(summarise_file(path).statistics) << "the recording has none";
  ListeningMonitor listener;
  listener.on_progress = [&](long long done) { listener.flag = done == 2; };
  EXPECT_THROW(summarise_file(path, {.monitor = &listener}), Cancelled);
  EXPECT_EQ(listener.told.back(), "2/3 step 000002");
}

}  // namespace
}  // namespace signorini::file_summary_test
