// accuracy.csv: recordings whose bodies move as told, against numbers worked out by hand.

#include "harness/accuracy_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "harness/listening_monitor.h"

namespace signorini::accuracy_table_test {
namespace {

namespace fs = std::filesystem;

class NoProvider : public RecordingProvider {
 public:
  fs::path provide(const SceneVariant&, bool) override { return {}; }
  std::vector<std::pair<std::string, double>> facts(const RecordingHeader&, const StepTable&,
                                                    const fs::path&) const override {
    return {};
  }
  std::vector<std::string> statistics_columns() const override { return {}; }
  std::vector<std::string> clock_columns() const override { return {"solve_seconds", "other_seconds"}; }
};

/// Velocities of two bodies of one triangle each, and what the statistics of every step say.
struct Told {
  Vector3 first = Vector3::Zero(), second = Vector3::Zero();
  double energy = 2.0, residual = 0.0, velocity_error = 0.0, depth = 0.0;
};

class AccuracyTableTest : public testing::Test {
 protected:
  static constexpr int kSteps = 20;
  static constexpr double kDt = 0.125;  // times are exact

  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("signorini_accuracy_{}_{}", info->name(), ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    asked_.over = "solver.tolerance";
    asked_.over_place = "trial.toml:3: key 'accuracy.over'";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::unique_ptr<FrameGeometry> geometry(const Told& told, double time) {
    auto shape = std::make_unique<FrameGeometry>();
    shape->vertices.resize(9, 3);
    shape->triangles.resize(3, 3);
    for (int t = 0; t < 3; ++t) {
      const Vector3 shift = time * (t == 0 ? told.first : t == 1 ? told.second : Vector3(0, 0, 0));
      for (int corner = 0; corner < 3; ++corner)
        shape->vertices.row(3 * t + corner) = (Vector3::Unit(corner) + shift).transpose();
      shape->triangles.row(t) << 3 * t, 3 * t + 1, 3 * t + 2;
      shape->triangle_body.push_back(t == 2 ? -1 : t);  // the last one is an obstacle
    }
    return shape;
  }

  /// Frames at steps 4, 8, …, 20; contacts in all steps but the first.
  void record(const std::string& name, const std::string& tolerance, const Told& told,
              const std::string& solver = "pgs") {
    RecordedScene scene{name, folder_ / (name + ".h5"), "toy", {{"solver.name", solver}}};
    if (!tolerance.empty()) scene.set["solver.tolerance"] = tolerance;
    RecordingWriter writer(scene.path, {"toy", "", "test", 1}, false);
    StepTable statistics{{"step", "time", "contacts", "iterations", "residual", "velocity_error",
                          "deepest_point", "total_energy", "unresolved", "halvings"},
                         {"1", "s", "1", "1", "1", "m/s", "m", "J", "1", "1"},
                         {}};
    std::ofstream steps(folder_ / (name + ".steps.csv"));
    steps << "step,solve_seconds,other_seconds\n";
    for (int s = 1; s <= kSteps; ++s) {
      const double share = static_cast<double>(s) / kSteps;
      if (s % 4 == 0) {
        writer.append({fmt::format("{:06}", s), make_planted_problem({.contacts = 2}).problem,
                       geometry(told, (s - 1) * kDt)});
        writer.append({fmt::format("{:06}.2", s), make_planted_problem({.contacts = 2}).problem,
                       geometry(told, 100.0)});  // a later solve: no start of a step
      }
      statistics.rows.push_back({static_cast<double>(s), s * kDt, s == 1 ? 0.0 : 2.0, 3.0, told.residual,
                                 share * told.velocity_error, share * told.depth, told.energy * share,
                                 s == 5 ? 1.0 : 0.0, s > 17 ? 2.0 : 0.0});
      steps << fmt::format("{},{},{}\n", s, s == 1 ? 50.0 : 2.0, 1.0);
    }
    writer.finish(&statistics);
    recorded_.push_back(std::move(scene));
  }

  /// File → column → cell.
  std::map<std::string, std::map<std::string, std::string>> table() {
    Experiment experiment;
    experiment.accuracy = asked_;
    std::istringstream in(accuracy_table(experiment, recorded_, NoProvider(), monitor_));
    std::vector<std::string> head;
    std::map<std::string, std::map<std::string, std::string>> rows;
    for (std::string line; std::getline(in, line);) {
      std::vector<std::string> cells;
      std::istringstream text(line + ",");
      for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
      if (head.empty()) {
        head = cells;
        continue;
      }
      EXPECT_EQ(cells.size(), head.size()) << line;
      for (std::size_t c = 0; c < head.size(); ++c) rows[cells[0]][head[c]] = cells[c];
    }
    return rows;
  }
  void expect_number(std::map<std::string, std::string>& row, const std::string& column, double wanted) {
    ASSERT_FALSE(row[column].empty()) << column;
    EXPECT_NEAR(std::stod(row[column]), wanted, 1e-11 * std::abs(wanted)) << column;  // 12 digits are written
  }

  fs::path folder_;
  Accuracy asked_;
  std::vector<RecordedScene> recorded_;
  ListeningMonitor monitor_;
};

TEST_F(AccuracyTableTest, MeasuresDriftCreepAndDistanceFromTheFinest) {
  record("coarse", "0.1",
         {.first = Vector3(3e-3, 4e-3, 1.0),
          .second = Vector3(0.5, 0, 0),
          .energy = 5.0,
          .residual = 0.07,
          .velocity_error = 2e-2,
          .depth = 1e-3});
  record("fine", "1e-08", {.first = Vector3(1e-6, 0, 0), .second = Vector3(0.2, 0, 0)});
  auto rows = table();
  auto& row = rows["coarse"];
  EXPECT_EQ(row["finest"], "fine");
  EXPECT_EQ(row["steps"], "20");
  EXPECT_EQ(row["bodies"], "2");
  EXPECT_EQ(row["resting"], "1") << "the second body moves in the finest recording too";
  // Frames start at 3, 7, 11, 15 and 19 steps; the last half of the 19 begins with the one at 11.
  expect_number(row, "drift_most", 0.5);
  expect_number(row, "drift_mean", 0.5 * (0.5 + 5e-3));
  expect_number(row, "creep_most", 5e-3);  // the way up is no creep
  expect_number(row, "creep_mean", 5e-3);
  const double end = 19 * kDt;
  const double first = end * (Vector3(3e-3 - 1e-6, 4e-3, 1.0)).norm(), second = end * 0.3;
  expect_number(row, "apart_most", first);
  expect_number(row, "apart_mean", 0.5 * (first + second));
  expect_number(row, "energy_error", 3.0);
  expect_number(row, "energy", 2.0 / kSteps);
  expect_number(row, "residual", 0.07);
  expect_number(row, "deepest_point", 1e-3);
  expect_number(row, "velocity_error_most", 2e-2);
  expect_number(row, "velocity_error_whole", 2e-2 * (20 * 21 / 2 - 1) / 19.0 / kSteps);  // 2 … 20
  expect_number(row, "velocity_error", 2e-2 * 16.0 / kSteps);                            // 12 … 20
  expect_number(row, "iterations", 3.0);
  expect_number(row, "unresolved", 1.0);
  expect_number(row, "halved", 3.0);
  expect_number(row, "time_step", kDt);
  expect_number(row, "duration", kSteps * kDt);
  expect_number(row, "solve_seconds", 2.0);  // the step without contacts is left out
  expect_number(row, "other_seconds", 1.0);
  EXPECT_EQ(rows["fine"]["apart_most"], "0");
  EXPECT_EQ(rows["fine"]["energy_error"], "0");
}

TEST_F(AccuracyTableTest, ComparesRecordingsThatAgreeInAllOtherSettings) {
  record("a", "0.1", {.first = Vector3(1, 0, 0)});
  record("b", "0.1", {.first = Vector3(3, 0, 0)}, "ica");
  record("c", "0.01", {.first = Vector3(2, 0, 0)});
  record("d", "", {.first = Vector3(9, 0, 0)});
  auto rows = table();
  EXPECT_EQ(rows["a"]["finest"], "c");
  EXPECT_EQ(rows["b"]["finest"], "b");
  EXPECT_EQ(rows["c"]["finest"], "c");
  EXPECT_EQ(rows.count("d"), 0U) << "it does not set what makes the ladder";
  EXPECT_EQ(rows["b"]["resting"], "1") << "the second body stands still";
  EXPECT_EQ(rows["b"]["creep_most"], "0");
}

TEST_F(AccuracyTableTest, NothingRestsWhereAllMoveInTheFinest) {
  record("a", "0.1", {.first = Vector3(1, 0, 0), .second = Vector3(0, 1, 0)});
  auto rows = table();
  EXPECT_EQ(rows["a"]["resting"], "0");
  EXPECT_EQ(rows["a"]["creep_most"], "");
  asked_.rest_speed = 2.0;
  EXPECT_EQ(table()["a"]["resting"], "2");
}

TEST_F(AccuracyTableTest, ALadderWithoutStepsIsAnError) {
  record("a", "", {});
  EXPECT_THROW(table(), UsageError);
  record("b", "fine", {});
  try {
    table();
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "trial.toml:3: key 'accuracy.over': 'solver.tolerance' is set to 'fine', which is no number");
  }
}

}  // namespace
}  // namespace signorini::accuracy_table_test
