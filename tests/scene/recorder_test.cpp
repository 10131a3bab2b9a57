#include "scene/recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/check.h"
#include "contact/friction_state.h"
#include "contact/residuals.h"
#include "record/recording_failure.h"
#include "scene/scene_file.h"

namespace signorini::recorder_test {
namespace {

namespace fs = std::filesystem;

/// Keeps what is said; ends the recording after so many steps.
class Listener : public RunMonitor {
 public:
  explicit Listener(long long steps = std::numeric_limits<long long>::max()) : steps_(steps) {}
  void message(std::string_view line) override { said += std::string(line) + "\n"; }
  void begin_progress(const std::string&, long long) override {}
  void progress(long long done, std::string_view) override {
    if (done >= steps_) cancelled_ = true;
  }
  void end_progress() override {}
  const CancelFlag* cancelled() const override { return &cancelled_; }

  std::string said;

 private:
  long long steps_;
  CancelFlag cancelled_{false};
};

class RecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_recorder_{}", ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    request_.scene_path = SIGNORINI_SOURCE_DIR "/configs/scenes/springtoy.toml";
    request_.steps = 8;
  }
  void TearDown() override { fs::remove_all(folder_); }

  RecordingSummary record(const std::string& name, ExistingRecording existing, RunMonitor& monitor) const {
    const auto describe = [](const RecordingHeader& header, const fs::path& content, const fs::path& file) {
      EXPECT_TRUE(fs::exists(content));
      return header.scene + " " + header.git + " " + file.filename().string() + "\n";
    };
    // a checkpoint after every step
    return record_scene(request_, folder_ / name, {existing, 0.0}, {monitor, "test", describe});
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
  RecordRequest request_;
};

TEST_F(RecorderTest, WritesTheRecordingItsStepsAndWhereItComesFrom) {
  Listener listener;
  const RecordingSummary summary = record("a.h5", ExistingRecording::refuse, listener);
  EXPECT_EQ(summary.steps, 8);
  EXPECT_EQ(summary.failure, "");
  EXPECT_EQ(listener.said, "");
  EXPECT_EQ(text("a.env.json"), "springtoy test a.h5\n");
  const std::string steps = text("a.steps.csv");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 1 + 8);
  const RecordingReader reader(folder_ / "a.h5");
  EXPECT_EQ(reader.header().git, "test");
  EXPECT_EQ(count(reader.frames()), summary.frames);
  for (const std::string& frame : reader.frames())
    EXPECT_EQ(reader.contacts(frame), reader.read(frame).problem.contacts());
  EXPECT_EQ(recording_failure(folder_ / "a.h5"), "");
  EXPECT_TRUE(is_recording_of(folder_ / "a.h5", request_));
  EXPECT_THROW(record("a.h5", ExistingRecording::refuse, listener), UsageError);
}

TEST_F(RecorderTest, AnInterruptedRecordingGoesOnToTheSameBytes) {
  Listener listener, ended(3), resumed;
  record("whole.h5", ExistingRecording::refuse, listener);
  EXPECT_THROW(record("a.h5", ExistingRecording::refuse, ended), Cancelled);
  EXPECT_FALSE(fs::exists(folder_ / "a.h5"));
  const RecordingSummary summary = record("a.h5", ExistingRecording::resume, resumed);
  EXPECT_EQ(summary.first_step, 3);
  EXPECT_EQ(resumed.said, "springtoy: going on after step 3 of 8\n");
  EXPECT_TRUE(text("a.h5") == text("whole.h5"));
}

TEST_F(RecorderTest, APreludeIsResumedToo) {
  request_.overrides = {{"prelude.steps", "5"}, {"prelude.step_s", "2e-3"}};
  Listener listener, in_prelude(2), in_steps(6);
  const RecordingSummary whole = record("whole.h5", ExistingRecording::refuse, listener);
  EXPECT_EQ(whole.steps, 8);
  EXPECT_EQ(whole.column("step").first, 1.0);
  EXPECT_EQ(whole.prelude_steps, 5);
  EXPECT_THROW(record("a.h5", ExistingRecording::refuse, in_prelude), Cancelled);
  EXPECT_THROW(record("a.h5", ExistingRecording::resume, in_steps), Cancelled);
  EXPECT_EQ(in_steps.said, "springtoy: going on after step 2 of 5 of the prelude\n");
  Listener resumed;
  EXPECT_EQ(record("a.h5", ExistingRecording::resume, resumed).first_step, 6);
  EXPECT_EQ(resumed.said, "springtoy: going on after step 6 of 8\n");
  EXPECT_TRUE(text("a.h5") == text("whole.h5"));
}

/// Rings that keep 5 µm: in steps 49 and 50 the gap of two known edges is positive at both ends of the step and
/// dips below zero between; 20 rounds of re-linearisation once passed over it.
TEST_F(RecorderTest, RingsAtASmallSafetyDistanceNeedNoHalving) {
  request_.scene_path = SIGNORINI_SOURCE_DIR "/configs/scenes/rings.toml";
  request_.overrides = {{"contact.safety_m", "5e-6"}, {"contact.gap_tolerance_m", "5e-6"}};
  request_.steps = 60;
  Listener listener;
  const StepTable steps = record("a.h5", ExistingRecording::refuse, listener).statistics;
  const auto column = [&](std::string_view name) {
    return std::find(steps.columns.begin(), steps.columns.end(), name) - steps.columns.begin();
  };
  ASSERT_EQ(count(steps.rows), 60);
  for (const std::vector<double>& row : steps.rows) {
    EXPECT_EQ(row.at(column("halvings")), 0.0) << "step " << row[0];
    EXPECT_LT(row.at(column("detection_rounds")), 10.0) << "step " << row[0];
  }
}

/// Balls that bounce (explicit) and a pile of bodies of every kind (implicit), every step recorded.
class RecordedStarts : public RecorderTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    RecorderTest::SetUp();
    request_ = scene_.request({{"time.record_every", "1"}});
  }
  /// Relative accuracy of v: rounding, or the linear solves of implicit steps.
  double tolerance() const { return GetParam() ? 1e-6 : 1e-12; }
  std::vector<Frame> frames_of(const std::string& name) const {
    const RecordingReader reader(folder_ / name);
    std::vector<Frame> frames;
    for (const std::string& id : reader.frames()) frames.push_back(reader.read(id));
    return frames;
  }

  SceneFile scene_{"", "", GetParam() ? kOneOfEach : kTwoBalls};
};
INSTANTIATE_TEST_SUITE_P(Steps, RecordedStarts, testing::Bool(),
                         [](const auto& implicit) { return implicit.param ? "Implicit" : "Explicit"; });

int step_of(const Frame& frame) { return std::stoi(frame.id); }

/// The velocity of a step's beginning is that of the end of the step before, M v = H r + f, where no pair is pushed
/// apart (docs/theory.md, C24).
TEST_P(RecordedStarts, VelocitiesAreThoseThatTheStepBeforeEndedWith) {
  if (GetParam())
    request_ = scene_.request({{"time.record_every", "1"}, {"contact.recovery_speed_m_s", "1e-9"}});
  request_.steps = GetParam() ? 20 : 80;
  Listener listener;
  record("a.h5", ExistingRecording::refuse, listener);
  const std::vector<Frame> frames = frames_of("a.h5");
  int compared = 0;
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
    const ContactProblem& before = frames[i].problem;
    const ContactProblem& now = frames[i + 1].problem;
    ASSERT_EQ(now.v_minus.size(), now.dofs());
    if (step_of(frames[i + 1]) != step_of(frames[i]) + 1) continue;  // another solve of the step, or a gap
    const Vector v = Referee(before).velocity(span_of(frames[i].impulse));
    const double scale = v.cwiseAbs().maxCoeff();
    for (Index a = 0; a < count(now.node_numbers); ++a) {
      const auto& numbers = before.node_numbers;
      const auto place = std::lower_bound(numbers.begin(), numbers.end(), now.node_numbers[a]);
      if (place == numbers.end() || *place != now.node_numbers[a]) continue;
      const Vector3 expected = v.segment<3>(3 * (place - numbers.begin()));
      const Vector3 found = now.v_minus.segment<3>(3 * a);
      EXPECT_LT((found - expected).norm(), tolerance() * scale) << frames[i + 1].id << " block " << a;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST_P(RecordedStarts, StatesAndBoundsAreThoseOfTheSolveBefore) {
  request_.steps = GetParam() ? 20 : 80;
  Listener listener;
  record("a.h5", ExistingRecording::refuse, listener);
  const std::vector<Frame> frames = frames_of("a.h5");
  std::map<FrictionState, int> met;
  std::map<std::pair<Index, Index>, ContactEnd> before;
  int last_step = -1;
  for (const Frame& frame : frames) {
    const ContactProblem& p = frame.problem;
    ASSERT_EQ(count(p.start_states), p.contacts());
    ASSERT_EQ(count(p.start_bounds), p.contacts());
    if (step_of(frame) > last_step + 1) before.clear();
    last_step = step_of(frame);
    std::map<std::pair<Index, Index>, ContactEnd> now;
    for (Index k = 0; k < p.contacts(); ++k) {
      const std::pair pair(p.features(k, 0), p.features(k, 1));
      const FrictionState state = p.start_states[k];
      const auto known = before.find(pair);
      if (known != before.end()) {
        EXPECT_EQ(state, known->second.state) << frame.id << " contact " << k;
        EXPECT_EQ(p.start_bounds[k], known->second.bound) << frame.id << " contact " << k;
      }
      EXPECT_EQ(state == FrictionState::unknown,
                p.warm_start.segment<3>(3 * k).isZero(0.0) && state != FrictionState::open)
          << frame.id << " contact " << k;
      ++met[state];
      now[pair] = contact_end(frame.impulse.segment<3>(3 * k), p.mu[k], FrictionLaw::cone);
    }
    before = std::move(now);
  }
  for (int state = -1; state <= 2; ++state)
    EXPECT_GT(met[static_cast<FrictionState>(state)], 0) << "state " << state << " was never met";
}

TEST_P(RecordedStarts, AResumedRecordingHasTheSame) {
  request_.steps = GetParam() ? 20 : 40;
  Listener listener, ended(request_.steps - 4), resumed;
  record("whole.h5", ExistingRecording::refuse, listener);
  const std::vector<Frame> frames = frames_of("whole.h5");
  double bounds = 0.0;
  for (const Frame& frame : frames) bounds += frame.problem.start_bounds.sum();
  EXPECT_GT(bounds, 0.0);
  EXPECT_THROW(record("a.h5", ExistingRecording::refuse, ended), Cancelled);
  EXPECT_EQ(record("a.h5", ExistingRecording::resume, resumed).first_step, request_.steps - 4);
  EXPECT_TRUE(text("a.h5") == text("whole.h5"));
}

}  // namespace
}  // namespace signorini::recorder_test
