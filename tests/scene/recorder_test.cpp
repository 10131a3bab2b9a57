#include "scene/recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/check.h"
#include "record/recording_failure.h"

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
  EXPECT_EQ(reader.frames().size(), static_cast<std::size_t>(summary.frames));
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

}  // namespace
}  // namespace signorini::recorder_test
