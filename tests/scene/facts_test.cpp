// Probes measure what can be worked out by hand; facts hold and differ when they should.

#include "scene/facts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "scene/scene_file.h"

namespace signorini::facts_test {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

StepTable numbers(const std::vector<double>& values) {
  StepTable table;
  table.columns = {"time", "x"};
  table.units = {"s", "m"};
  for (std::size_t i = 0; i < values.size(); ++i)
    table.rows.push_back({0.1 * static_cast<double>(i + 1), values[i]});
  return table;
}

FactConfig about(StepReduction over, double above = 0.0) {
  FactConfig fact;
  fact.quantity = "x";
  fact.over = over;
  fact.above = above;
  return fact;
}

double value_of(const FactConfig& fact, const StepTable& table) {
  return judge_facts({{"f", fact}}, table).front().value;
}

TEST(Facts, ReduceTheStepsAsTheySay) {
  const StepTable table = numbers({kNone, 3.0, -1.0, 4.0, 1.0, 5.0, 2.0, kNone});
  using enum StepReduction;
  EXPECT_EQ(value_of(about(first), table), 3.0);
  EXPECT_EQ(value_of(about(last), table), 2.0);
  EXPECT_EQ(value_of(about(min), table), -1.0);
  EXPECT_EQ(value_of(about(max), table), 5.0);
  EXPECT_EQ(value_of(about(mean), table), 14.0 / 6.0);
  EXPECT_EQ(value_of(about(change), table), -1.0);
  EXPECT_EQ(value_of(about(rise), table), 6.0) << "from -1 to 5";
  EXPECT_EQ(value_of(about(count, 2.0), table), 3.0) << "3, 4, 5";
  FactConfig late = about(max);
  late.from_s = 0.65;
  EXPECT_EQ(value_of(late, table), 2.0);
  FactConfig early = about(rise);
  early.until_s = 0.55;
  EXPECT_EQ(value_of(early, table), 5.0) << "from -1 to 4";
}

TEST(Facts, CountPhasesThatEndAtHalfTheThreshold) {
  using enum StepReduction;
  // Above 1, wavering between 0.5 and 1, at or below 0.5.
  EXPECT_EQ(value_of(about(phases, 1.0), numbers({0.0, 1.1, 0.8, 1.2, 0.5, 0.9, 1.3, 0.2})), 2.0);
  EXPECT_EQ(value_of(about(phases, 1.0), numbers({0.9, 0.99, 1.0})), 0.0);
  EXPECT_EQ(value_of(about(phases, 1.0), numbers({2.0})), 1.0);
}

TEST(Facts, DifferWhenTheirValueIsOutOfBoundsOrMissing) {
  const StepTable table = numbers({1.0, 2.0});
  const auto holds = [&](double least, double most) {
    FactConfig fact = about(StepReduction::last);
    fact.at_least = least;
    fact.at_most = most;
    return judge_facts({{"f", fact}}, table).front().holds;
  };
  EXPECT_TRUE(holds(2.0, 2.0));
  EXPECT_TRUE(holds(-kUnbounded, 3.0));
  EXPECT_FALSE(holds(2.5, kUnbounded));
  EXPECT_FALSE(holds(-kUnbounded, 1.5));
  FactConfig other = about(StepReduction::last);
  other.quantity = "y";
  other.at_most = 1.0;
  const FactVerdict missing = judge_facts({{"f", other}}, table).front();
  EXPECT_FALSE(missing.holds);
  EXPECT_EQ(verdict_text(missing), "differs y last has no value, asked for at most 1");
  EXPECT_FALSE(judge_facts({{"f", about(StepReduction::max)}}, numbers({kNone, kNone})).front().holds);
  EXPECT_FALSE(judge_facts({{"f", about(StepReduction::count)}}, numbers({})).front().holds);
}

TEST(Facts, OfARunCutShortAreJudgedOnlyWhereLaterStepsChangeNothing) {
  const StepTable table = numbers({1.0, 3.0, 2.0});
  const auto text = [&](StepReduction over, double least, double most) {
    FactConfig fact = about(over, 0.5);
    fact.at_least = least;
    fact.at_most = most;
    const std::string words = verdict_text(judge_facts({{"f", fact}}, table, false).front());
    return words.substr(0, words.find(" x "));
  };
  using enum StepReduction;
  EXPECT_EQ(text(last, -kUnbounded, 5.0), "not reached");
  EXPECT_EQ(text(mean, 0.0, kUnbounded), "not reached");
  EXPECT_EQ(text(change, 9.0, kUnbounded), "not reached");
  EXPECT_EQ(text(first, 9.0, kUnbounded), "differs");
  EXPECT_EQ(text(first, 1.0, 1.0), "holds  ");
  // a maximum can only grow
  EXPECT_EQ(text(max, 3.0, kUnbounded), "holds  ");
  EXPECT_EQ(text(max, 3.5, kUnbounded), "not reached");
  EXPECT_EQ(text(max, -kUnbounded, 2.5), "differs");
  EXPECT_EQ(text(max, -kUnbounded, 3.5), "not reached");
  EXPECT_EQ(text(max, 2.0, 4.0), "not reached");
  EXPECT_EQ(text(phases, 1.0, kUnbounded), "holds  ");
  EXPECT_EQ(text(count, 4.0, kUnbounded), "not reached");
  EXPECT_EQ(text(rise, -kUnbounded, 1.0), "differs");
  // a minimum can only fall
  EXPECT_EQ(text(min, -kUnbounded, 1.0), "holds  ");
  EXPECT_EQ(text(min, 1.0, kUnbounded), "not reached");
  EXPECT_EQ(text(min, 1.5, kUnbounded), "differs");
  EXPECT_TRUE(runs_to_its_end("[time]\nsteps = 3\n", 3, "here"));
  EXPECT_FALSE(runs_to_its_end("[time]\nsteps = 4\n", 3, "here"));
}

TEST(Facts, ComeBackFromTheSceneTextOfARecording) {
  const SceneFile file(R"([probes.drop]
body = "balls"
direction = [0, 0, -2]
[facts.falls]
says = "the balls \"fall\""
quantity = "drop"
over = "max"
at_least = 0.25
from_s = 0.125
)");
  const Facts facts = read_facts(effective_scene(file.request()), "here");
  ASSERT_EQ(facts.size(), 1U);
  const FactConfig& fact = facts.at("falls");
  EXPECT_EQ(fact.says, "the balls \"fall\"");
  EXPECT_EQ(fact.quantity, "drop");
  EXPECT_EQ(fact.over, StepReduction::max);
  EXPECT_EQ(fact.at_least, 0.25);
  EXPECT_EQ(fact.at_most, kUnbounded);
  EXPECT_EQ(fact.from_s, 0.125);
}

TEST(Facts, AndProbesWithMistakesAreNamed) {
  const auto with = [](const std::string& text) { return message_of(SceneFile(text).request()); };
  const auto expect = [&](const std::string& text, const std::string& part) {
    const std::string message = with(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << "\n" << message;
  };
  const std::string fact = "[facts.f]\nsays = \"a\"\n", probe = "[probes.p]\nbody = \"balls\"\n";
  expect(fact + "quantity = \"kinetic_enrgy\"\nat_most = 1\n", "did you mean 'kinetic_energy'?");
  expect(fact + "quantity = \"penetration\"\nat_most = 1\n", "write \"deepest_point\"");
  expect(fact + "quantity = \"contacts\"\n", "[facts.f] has neither at_least nor at_most");
  expect(fact + "quantity = \"contacts\"\nat_least = 2\nat_most = 1\n", "is above at_most = 1");
  expect("[facts.f]\nquantity = \"contacts\"\nat_most = 1\n", "'facts.f.says' is missing");
  expect(fact + "quantity = \"contacts\"\nover = \"sum\"\nat_most = 1\n", "facts.f.over");
  expect("[probes.p]\nbody = \"bals\"\n", "no table [bodies.bals] (did you mean 'balls'?)");
  expect("[probes.contacts]\nbody = \"balls\"\n", "the statistics have a column of this name");
  expect("[probes.\"a,b\"]\nbody = \"balls\"\n", "must be [a-z0-9_]+");
  expect(probe + "measure = \"tilt_deg\"\n", "measure = \"tilt_deg\" needs a direction");
  expect(probe + "min_m = [5, 5, 5]\n", "no vertex of 'balls[0]' lies in the box at the start");
  EXPECT_EQ(with(probe + fact + "quantity = \"p\"\nat_most = 1\n"), "");
}

/// Two bodies far apart, free of forces: an elastic block and a rigid box, both turning about z and flying.
constexpr const char* kFlyers = R"(seed = 1
[time]
integrator = "implicit"
step_s = 1e-3
steps = 100
gravity_m_s2 = [0, 0, 0]
[contact]
[materials.stiff]
young_modulus_pa = 1e7
density_kg_m3 = 1000.0
damping_1_s = 0.0
[materials.wood]
model = "rigid"
density_kg_m3 = 600.0
[bodies.elastic]
shape = "block"
material = "stiff"
cells = [2, 2, 2]
size_m = [0.1, 0.2, 0.3]
velocity_m_s = [0.0, 0.5, 0.0]
angular_velocity_rad_s = [0.0, 0.0, 2.0]
[bodies.rigid]
shape = "box"
material = "wood"
size_m = [0.1, 0.2, 0.3]
position_m = [5.0, 0.0, 0.0]
velocity_m_s = [0.0, 0.5, 0.0]
angular_velocity_rad_s = [0.0, 0.0, 2.0]
)";

TEST(Probes, MeasureWhatCanBeWorkedOutByHand) {
  std::string probes;
  for (const std::string body : {"elastic", "rigid"}) {
    const auto add = [&](const std::string& name, const std::string& keys) {
      probes += fmt::format("[probes.{}_{}]\nbody = \"{}\"\n{}\n", body, name, body, keys);
    };
    add("place", "measure = \"place_m\"\ndirection = [0, 3, 0]");
    add("travel", "");
    add("speed", "measure = \"speed_m_s\"\ndirection = [0, -1, 0]");
    add("turn", "measure = \"turn_deg\"");
    add("tilt", "measure = \"tilt_deg\"\ndirection = [1, 0, 0]");
    add("upright", "measure = \"tilt_deg\"\ndirection = [0, 0, 1]");
    add("spin", "measure = \"spin_rad_s\"\ndirection = [0, 0, 1]");
    add("fast", "measure = \"spin_rad_s\"\nover = \"count\"\nabove = 1.9");
    add("none", "measure = \"spin_rad_s\"\nover = \"count\"\nabove = 2.1");
  }
  probes += "[probes.height]\nbody = \"elastic\"\nmeasure = \"extent_m\"\ndirection = [0, 0, 1]\n";
  probes +=
      "[probes.half]\nbody = \"elastic\"\nmeasure = \"extent_m\"\ndirection = [0, 0, 1]\nmin_m = [-1, -1, "
      "-0.01]\n";
  const SceneFile file(probes, "", kFlyers);
  SceneRun run(file.request());
  StepStatistics last;
  while (run.steps_taken() < run.steps())
    last = run.advance([](const std::string&) { return false; }, [](const Frame&) {});
  const StepTable table = run.statistics_table();
  const std::vector<double> row = statistics_row(last);
  ASSERT_EQ(row.size(), table.columns.size());
  const auto value = [&](const std::string& name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    EXPECT_NE(found, table.columns.end()) << name;
    return row[found - table.columns.begin()];
  };
  const double angle = 2.0 * 0.1 * 180.0 / std::numbers::pi;
  for (const std::string body : {"elastic", "rigid"}) {
    SCOPED_TRACE(body);
    // Momentum is kept to rounding and to the linear solver's 1e-10.
    EXPECT_NEAR(value(body + "_place"), 0.05, 1e-9);
    EXPECT_NEAR(value(body + "_travel"), 0.05, 1e-9);
    EXPECT_NEAR(value(body + "_speed"), -0.5, 1e-9);
    // The lumped masses of six Kuhn tetrahedra per cell have a principal axis beside z: the block wobbles.
    const double wobble = body == "rigid" ? 1e-6 : 0.01 * angle;
    EXPECT_NEAR(value(body + "_upright"), 0.0, wobble);
    // Backward Euler takes energy from a spinning elastic body: of the order of (ω dt) ω t = 4e-4 in the
    // angle.
    EXPECT_NEAR(value(body + "_turn"), angle, 0.02 * angle);
    EXPECT_NEAR(value(body + "_tilt"), value(body + "_turn"), wobble);
    EXPECT_NEAR(value(body + "_spin"), 2.0, 0.02 * 2.0);
    EXPECT_EQ(value(body + "_fast"), 1.0);
    EXPECT_EQ(value(body + "_none"), 0.0);
  }
  EXPECT_NEAR(value("height"), 0.3, 1e-3);
  EXPECT_NEAR(value("half"), 0.15, 1e-3);
  EXPECT_EQ(value("intersects"), 0.0);
}

TEST(Probes, AndIntersectionsAreTheSameForAllThreads) {
  const SceneFile file("[probes.drop]\nbody = \"balls\"\ndirection = [0, 0, -1]\n", "", kTwoBalls);
  const auto rows = [&](int threads) {
    RecordRequest request = file.request();
    request.threads = threads;
    SceneRun run(request);
    std::vector<double> all;
    while (run.steps_taken() < 40) {
      const auto row =
          statistics_row(run.advance([](const std::string&) { return true; }, [](const Frame&) {}));
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  };
  const std::vector<double> one = rows(1), four = rows(4);
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(one[i] == four[i] || (std::isnan(one[i]) && std::isnan(four[i]))) << i;
}

}  // namespace
}  // namespace signorini::facts_test
