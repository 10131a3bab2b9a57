// What `signorini replay` writes for a viewer, by the library: codes of 16 bits, answers with the residuals on the way, bytes.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "contact/planted_problem.h"
#include "harness/listening_monitor.h"
#include "harness/replay_data.h"
#include "record/fclib_file.h"
#include "record/record_test_tools.h"

namespace signorini::replay_test {
namespace {

constexpr Index kContacts = 12;

ContactProblem problem_with(Index contacts, std::uint64_t seed) {
  PlantedOptions options;
  options.contacts = contacts;
  options.regions = 3;
  options.seed = seed;
  ContactProblem problem = make_planted_problem(options).problem;
  problem.dt = 0.01;
  problem.position = 3.0 * Matrix::Random(contacts, 3);
  problem.frame = Matrix::Zero(contacts, 9);
  for (const Index i : {0, 4, 8}) problem.frame.col(i).setOnes();
  problem.gap = 1e-4 * Vector::LinSpaced(contacts, 1.0, 2.0);
  return problem;
}

Frame frame_of(const std::string& id, ContactProblem problem) {
  Frame frame;
  frame.id = id;
  frame.problem = std::move(problem);
  frame.geometry = std::make_unique<FrameGeometry>();
  frame.geometry->vertices = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>::Random(7, 3);
  frame.geometry->vertices.col(2).setConstant(0.25);
  frame.geometry->triangles.resize(1, 3);
  frame.geometry->triangles << 0, 1, 2;
  frame.geometry->triangle_body = {-1};
  return frame;
}

/// An array of the bytes.
template <class T>
std::vector<T> array_at(const ReplayData& data, std::size_t at, std::size_t size) {
  std::vector<T> values(size);
  EXPECT_LE(at + size * sizeof(T), data.bytes.all().size());
  std::memcpy(values.data(), data.bytes.all().data() + at, size * sizeof(T));
  return values;
}

class ReplayTest : public testing::Test {
 protected:
  std::string recording(const std::vector<Frame>& frames, const std::string& config = "") const {
    RecordingWriter writer(path("a.h5"), {.scene = "net", .config = config, .git = "", .seed = 0}, false);
    for (const Frame& frame : frames) writer.append(frame);
    writer.finish();
    return path("a.h5");
  }
  std::vector<Frame> three_frames(bool impulses) const {
    std::vector<Frame> frames;
    for (const char* id : {"000002", "000010", "000010.2"}) {
      frames.push_back(frame_of(id, problem_with(kContacts, frames.size() + 1)));
      if (impulses) frames.back().impulse = Vector::LinSpaced(3 * kContacts, -0.1, 1.0);
    }
    return frames;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  TemporaryFolder folder_;
  ListeningMonitor monitor_;
};

TEST_F(ReplayTest, PositionsAreOffByHalfAStepAtMost) {
  Rng rng(7);
  QuantisedBox box;
  std::vector<Vector3> points;
  for (int i = 0; i < 1000; ++i) {
    points.emplace_back(1e3 + rng.uniform(0.0, 1e-3), rng.uniform(-5.0, 7.0), 2.0);
    box.include(points.back());
  }
  EXPECT_EQ(box.step()[2], 0.0);
  for (const Vector3& point : points) {
    for (int axis = 0; axis < 3; ++axis) {
      const double back = box.value(box.code(point[axis], axis), axis);
      // beside half a step the rounding of the sum low + step·code
      EXPECT_LE(std::abs(back - point[axis]), 0.5 * box.step()[axis] + 4e-16 * std::abs(point[axis]));
    }
  }
  EXPECT_EQ(box.code(box.low()[1], 1), 0);
}

TEST_F(ReplayTest, ResidualsKeepThreeDigits) {
  for (double residual = 1e-20; residual < 1e4; residual *= 1.37)
    EXPECT_NEAR(residual_of(residual_code(residual)) / residual, 1.0, 4.3e-4) << residual;
  EXPECT_EQ(residual_of(residual_code(0.0)), 0.0);
  EXPECT_GT(residual_of(residual_code(1e-300)), 0.0);
  EXPECT_EQ(residual_of(residual_code(std::numeric_limits<double>::infinity())),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(residual_code(std::numeric_limits<double>::quiet_NaN()), kNotFinite);
  EXPECT_LT(residual_of(residual_code(1e300)), std::numeric_limits<double>::infinity());
}

TEST_F(ReplayTest, SchedulesAreShortAndReachTheEnd) {
  for (const int last : {1, 2, 3, 17, 1000, 10000, 100000000}) {
    const std::vector<int> schedule = replay_schedule(last);
    EXPECT_EQ(schedule.front(), 0);
    EXPECT_EQ(schedule[1], 1);
    EXPECT_LT(std::ssize(schedule), kReplayIterates);
    EXPECT_TRUE(std::is_sorted(schedule.begin(), schedule.end(), std::less_equal<>())) << last;
    EXPECT_LE(schedule.back(), last);
    EXPECT_GE(2.0 * schedule.back(), last);
  }
}

TEST_F(ReplayTest, AnAnswerIsTheSolversAndItsResidualsAreTheReferees) {
  const ContactProblem problem = problem_with(kContacts, 3);
  const Referee referee(problem);
  const RunTarget target = make_target(problem, referee, "replay", "a.h5", "1");
  const RunLimits limits{1e-9, 1000, 60.0, nullptr};
  for (const std::string name : {"pgs", "ica", "auto"}) {
    SCOPED_TRACE(name);
    const SolverVariant variant{name, name, {}};
    const ReplayAnswer answer = solve_for_replay(target, variant, limits);
    PreparedRun plain = prepare_run(target, variant, RegionMode::none, 1);
    const SolveOutcome outcome = solve_self_stopped(target, plain, limits);
    EXPECT_TRUE(same_bits(answer.r, outcome.r));
    EXPECT_EQ(answer.iterations, outcome.record.iterations);
    EXPECT_EQ(answer.residual, outcome.record.errors.residual);
    EXPECT_TRUE(same_bits(answer.u, referee.relative_velocity(span_of(outcome.r))));
    std::vector<double> errors(kContacts);
    referee.contact_errors(span_of(outcome.r), {}, errors);
    EXPECT_EQ(answer.errors, errors);
    EXPECT_EQ(*std::max_element(errors.begin(), errors.end()), answer.residual);
    EXPECT_EQ(answer.errors_at.back(), errors);
    EXPECT_EQ(answer.at.back(), answer.iterations);
  }
}

TEST_F(ReplayTest, IteratesAreThoseOfATrace) {
  const ContactProblem problem = problem_with(kContacts, 3);
  const Referee referee(problem);
  const RunTarget target = make_target(problem, referee, "replay", "a.h5", "1");
  const RunLimits limits{1e-9, 1000, 60.0, nullptr};
  const SolverVariant pgs{"pgs", "pgs", {}};
  const ReplayAnswer answer = solve_for_replay(target, pgs, limits);
  PreparedRun run = prepare_run(target, pgs, RegionMode::none, 1);
  const TracedRun traced = trace_run(target, run, limits);
  ASSERT_GT(std::ssize(answer.at), 4);
  EXPECT_EQ(answer.at.size(), answer.errors_at.size());
  for (std::size_t i = 0; i < answer.at.size(); ++i) {
    const auto row = static_cast<std::size_t>(answer.at[i]);
    ASSERT_EQ(traced.trace.iteration[row], answer.at[i]);
    const std::vector<double>& errors = answer.errors_at[i];
    EXPECT_EQ(*std::max_element(errors.begin(), errors.end()), traced.trace.residual[row]);
  }
}

TEST_F(ReplayTest, StepsAreChosenByTheirNumbers) {
  const std::vector<std::string> ids{"000002", "000010", "000010.2", "000300"};
  const auto chosen = [&](const char* steps) { return frames_in(ids, steps, "a.h5"); };
  EXPECT_EQ(chosen(""), ids);
  EXPECT_EQ(chosen("3:10"), (std::vector<std::string>{"000010", "000010.2"}));
  EXPECT_EQ(chosen("10"), chosen("010:010"));
  EXPECT_EQ(chosen("11:"), (std::vector<std::string>{"000300"}));
  EXPECT_EQ(chosen(":2"), (std::vector<std::string>{"000002"}));
  EXPECT_EQ(chosen("10.2"), (std::vector<std::string>{"000010.2"}));
  EXPECT_EQ(chosen("10.1,2"), (std::vector<std::string>{"000002", "000010"})) << "in the order of the file";
  EXPECT_EQ(chosen("300:,2,1:3"), (std::vector<std::string>{"000002", "000300"}));
  EXPECT_EQ(chosen("2,11"), (std::vector<std::string>{"000002"})) << "one of them is there";
  for (const char* wrong : {":", "a:b", "2,", ",", "2,a", "10.", "1.2:3", "10.2.1", "1:2:3", "-1:4", "3:9",
                            "1.5", " 2", "99999999999999999999"})
    EXPECT_THROW(chosen(wrong), UsageError) << wrong;
}

TEST_F(ReplayTest, BytesHoldTheRecordingAndItsAnswers) {
  const std::vector<Frame> frames = three_frames(true);
  const ReplayData data = make_replay({.file = recording(frames), .solvers = {"recorded,pgs"}}, monitor_);
  ASSERT_EQ(data.frames.size(), 3U);
  EXPECT_EQ(data.topologies.size(), 1U) << "equal triangles are held once";
  EXPECT_EQ(array_at<std::uint32_t>(data, data.topologies[0].loose_at, data.topologies[0].loose),
            (std::vector<std::uint32_t>{3, 4, 5, 6}));
  for (std::size_t i = 0; i < 3; ++i) {
    const ReplayFrame& shown = data.frames[i];
    const Frame& frame = frames[i];
    const auto codes = array_at<std::uint16_t>(data, shown.vertices_at, 21);
    const auto places = array_at<std::uint16_t>(data, shown.position_at, 3 * kContacts);
    for (int j = 0; j < 21; ++j) {
      const double half = 0.5001 * shown.box.step()[j % 3];
      EXPECT_NEAR(shown.box.value(codes[static_cast<std::size_t>(j)], j % 3),
                  frame.geometry->vertices(j / 3, j % 3), half);
    }
    for (int j = 0; j < 3 * kContacts; ++j) {
      EXPECT_NEAR(shown.box.value(places[static_cast<std::size_t>(j)], j % 3),
                  frame.problem.position(j / 3, j % 3), 0.5001 * shown.box.step()[j % 3]);
    }
    EXPECT_EQ(array_at<float>(data, shown.gap_at, kContacts)[2], static_cast<float>(frame.problem.gap[2]));
    EXPECT_EQ(shown.regions, 3);
    const auto r = array_at<float>(data, shown.answers[0].r_at, 3 * kContacts);
    for (std::size_t j = 0; j < r.size(); ++j)
      EXPECT_EQ(r[j], static_cast<float>(frame.impulse[static_cast<Index>(j)]));
    const Referee referee(frame.problem);
    EXPECT_EQ(shown.answers[0].facts.residual, referee.measure(span_of(frame.impulse), {}).residual);
    std::vector<double> errors(kContacts);
    referee.contact_errors(span_of(frame.impulse), {}, errors);
    EXPECT_EQ(array_at<float>(data, shown.answers[0].errors_at, kContacts),
              std::vector<float>(errors.begin(), errors.end()));
    EXPECT_LE(shown.answers[1].facts.residual, 1e-6);
    EXPECT_TRUE(shown.answers[0].facts.at.empty());
    EXPECT_EQ(shown.answers[1].facts.at.back(), shown.answers[1].facts.iterations);
  }
}

TEST_F(ReplayTest, WithoutSolversTheRecordedImpulsesAreShownOrAutos) {
  const ReplayData recorded = make_replay({.file = recording(three_frames(true))}, monitor_);
  EXPECT_FALSE(recorded.plan.answers.at(0).has_value());
  std::filesystem::remove(path("a.h5"));
  const ReplayData solved = make_replay({.file = recording(three_frames(false))}, monitor_);
  ASSERT_TRUE(solved.plan.answers.at(0).has_value());
  EXPECT_EQ(solved.plan.answers[0]->name, "auto");
  const ReplayData asked = make_replay({.file = path("a.h5"), .solvers = {"recorded"}}, monitor_);
  EXPECT_FALSE(asked.frames[0].answers[0].answered);
  EXPECT_NE(asked.frames[0].answers[0].facts.message, "");
}

TEST_F(ReplayTest, FramesWithoutContactsAreFrames) {
  std::vector<Frame> frames = three_frames(true);
  ContactProblem none;
  none.M.resize(3, 3);
  none.M.setIdentity();
  none.H.resize(3, 0);
  none.f = Vector::Zero(3);
  frames[0] = frame_of("000002", none);
  const ReplayData data = make_replay({.file = recording(frames), .solvers = {"recorded,pgs"}}, monitor_);
  EXPECT_EQ(data.frames[0].contacts, 0);
  EXPECT_EQ(data.frames[0].regions, 0);
  EXPECT_EQ(data.frames[1].contacts, kContacts);
}

TEST_F(ReplayTest, WhatIsTooLargeSaysWhatToChoose) {
  ReplayRequest request{.file = recording(three_frames(true)), .solvers = {"recorded,pgs"}};
  request.largest = 4000.0;
  try {
    make_replay(request, monitor_);
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    const std::size_t every = text.find("--every ");
    ASSERT_NE(every, std::string::npos) << text;
    EXPECT_NE(text.find("--steps A:B"), std::string::npos) << text;
    request.every = std::stoi(text.substr(every + 8));
  }
  EXPECT_LT(make_replay(request, monitor_).frames.size(), 3U);
}

TEST_F(ReplayTest, TheEstimateIsABound) {
  const ReplayData data =
      make_replay({.file = recording(three_frames(true)), .solvers = {"recorded,pgs"}}, monitor_);
  const int iterates = static_cast<int>(replay_schedule(data.plan.limits.max_iterations).size()) + 1;
  constexpr double kPadding = 3 * 16 * 4 + 100;  // arrays begin at multiples of 4, and the triangles
  EXPECT_LE(static_cast<double>(data.bytes.all().size()),
            3 * replay_frame_bytes(7, kContacts, 2, 1, iterates) + kPadding);
}

TEST_F(ReplayTest, WhatCannotBeDrawnIsRefused) {
  std::vector<Frame> bare = three_frames(true);
  for (Frame& frame : bare) frame.geometry.reset();
  EXPECT_THROW(make_replay({.file = recording(bare)}, monitor_), InputError);
  std::filesystem::remove(path("a.h5"));
  std::vector<Frame> lost = three_frames(true);
  lost[1].problem.position.resize(0, 3);
  EXPECT_THROW(make_replay({.file = recording(lost)}, monitor_), InputError);
  FclibFile foreign;
  foreign.problem = problem_with(3, 1);
  write_fclib(path("b.hdf5"), foreign);
  EXPECT_THROW(make_replay({.file = path("b.hdf5")}, monitor_), InputError);
  for (const char* solvers : {"pgs,pgs", "recorded,recorded", "none-such", "pgs,,ica"}) {
    EXPECT_THROW(make_replay({.file = path("a.h5"), .solvers = {solvers}}, monitor_), UsageError) << solvers;
  }
}

TEST_F(ReplayTest, ScenesTellUpChainsAndLaw) {
  const ReplayScene tilted = read_replay_scene(
      "[time]\ngravity_m_s2 = [0, 0, -9.81]\ngravity_tilt_deg = 90\n"
      "[bodies.a]\nshape = \"chain\"\nnodes = 3\n[solver.options]\nlaw = \"pyramid\"\n");
  EXPECT_NEAR(tilted.up[0], 1.0, 1e-15);
  EXPECT_EQ(tilted.chain_nodes, 3);
  EXPECT_EQ(enum_name(tilted.law.law), "pyramid");
  for (const char* strange : {"", "= broken", "time = 3", "[time]\ngravity_m_s2 = \"up\"", "bodies = [1]"}) {
    EXPECT_EQ(read_replay_scene(strange).up, Vector3(0.0, 0.0, 1.0)) << strange;
    EXPECT_EQ(read_replay_scene(strange).chain_nodes, 0) << strange;
  }
}

}  // namespace
}  // namespace signorini::replay_test
