#include "program/program_fixture.h"
#include "record/recording_file.h"

namespace signorini {
namespace {

class RecordTest : public ProgramTest {
 protected:
  /// A shortened bucket: the balls touch the floor after some 160 steps.
  std::vector<std::string> command(const std::string& file, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"record",  "bucket",
                                   "-o",      path(file),
                                   "--steps", "240",
                                   "--set",   "time.record_every=20",
                                   "--set",   "bodies.balls.level=1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(RecordTest, RecordsSolvesAndDescribesABuiltInScene) {
  const Outcome o = run(command("b.h5"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(fs::exists(folder_ / "b.steps.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "b.env.json"));
  EXPECT_FALSE(fs::exists(folder_ / "b.h5.parts"));
  const std::string steps = file_text(folder_ / "b.steps.csv");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 1 + 240);
  const RecordingReader reader(folder_ / "b.h5");
  ASSERT_FALSE(reader.frames().empty());
  const Frame last = reader.read(reader.frames().back());
  EXPECT_GT(last.problem.contacts(), 0) << "the balls never met the floor: the test needs more steps";

  EXPECT_EQ(run({"info", path("b.h5"), "--steps"}).code, 0);
  const Outcome solved = run({"solve", path("b.h5"), "--solver", "pgs", "--regions", "none,points,islands",
                              "--csv", path("x.csv"), "--require-converged"});
  EXPECT_EQ(solved.code, 0) << solved.out << solved.err;
  EXPECT_EQ(read_run_table(folder_ / "x.csv").size(), 3U * reader.frames().size());
}

TEST_F(RecordTest, ExportedStepSolvedAgainGivesTheSameBits) {
  ASSERT_EQ(run(command("b.h5")).code, 0);
  const std::string step = RecordingReader(folder_ / "b.h5").frames().back();
  ASSERT_EQ(run({"export", path("b.h5"), "--step", step, "-o", path("e.hdf5")}).code, 0);
  ASSERT_EQ(
      run({"solve", path("b.h5"), "--step", step, "--solver", "pgs", "--solution", path("s1.hdf5")}).code, 0);
  ASSERT_EQ(run({"solve", path("e.hdf5"), "--solver", "pgs", "--solution", path("s2.hdf5")}).code, 0);
  const Vector a = read_fclib(folder_ / "s1.hdf5").solution->r,
               b = read_fclib(folder_ / "s2.hdf5").solution->r;
  ASSERT_EQ(a.size(), b.size());
  for (Index i = 0; i < static_cast<Index>(a.size()); ++i) EXPECT_EQ(a[i], b[i]) << i;
}

TEST_F(RecordTest, ExistingRecordingIsNotOverwrittenUnasked) {
  ASSERT_EQ(run(command("b.h5")).code, 0);
  const std::string bytes = file_text(folder_ / "b.h5");
  expect_error(command("b.h5"), 2, "--force");
  EXPECT_EQ(file_text(folder_ / "b.h5"), bytes);
  EXPECT_EQ(run(command("b.h5", {"--force"})).code, 0);
  EXPECT_EQ(file_text(folder_ / "b.h5"), bytes) << "the same scene gave other bytes";
  EXPECT_EQ(run(command("b.h5", {"--resume"})).code, 0);
  EXPECT_EQ(run(command("c.h5", {"--threads", "2"})).code, 0);
  EXPECT_EQ(file_text(folder_ / "c.h5"), bytes) << "the bytes depend on the number of threads";
}

/// Frames that a recording under way has put on disk; all when they are packed.
int frames_on_disk(const fs::path& file, int all) {
  if (fs::exists(file)) return all;
  std::error_code none;
  int frames = 0;
  for (const auto& entry : fs::directory_iterator(file.string() + ".parts", none)) {
    frames += entry.path().extension() == ".h5" ? 1 : 0;
  }
  return frames;
}

TEST_F(RecordTest, KillAtAnyWriteLosesAtMostTheStepInFlight) {
  // one ball 0.5 mm above the floor, recorded at every second step: contacts from the start
  constexpr int kFrames = 4;
  const auto command = [this](const std::string& file, const std::string& how) {
    return std::vector<std::string>{"record",
                                    "bucket",
                                    "-o",
                                    path(file),
                                    how,
                                    "--steps",
                                    "8",
                                    "--set",
                                    "time.record_every=2",
                                    "--set",
                                    "bodies.balls.level=1",
                                    "--set",
                                    "bodies.balls.count=1",
                                    "--set",
                                    "bodies.balls.position_m=[0.0, 0.0, 0.1005]",
                                    "--set",
                                    "contact.tolerance_m=2e-3"};
  };
  ASSERT_EQ(run(command("whole.h5", "--force")).code, 0);
  const std::string bytes = file_text(folder_ / "whole.h5");
  {
    const RecordingReader reader(folder_ / "whole.h5");
    ASSERT_EQ(reader.frames().size(), static_cast<std::size_t>(kFrames));
    ASSERT_GT(reader.read(reader.frames().front()).problem.contacts(), 0);
  }
  int before = 0;
  for (int at = 1;; ++at) {
    SCOPED_TRACE(fmt::format("killed at write call {}", at));
    for (const char* name : {"b.h5", "b.h5.parts", "b.h5.tmp", "b.steps.csv", "b.env.json"})
      fs::remove_all(folder_ / name);
    const Outcome o = run(command("b.h5", "--force"), killed_at(at));
    if (o.code == 0) {
      EXPECT_GT(at, 20) << "the shim does not see the writes";
      EXPECT_EQ(before, kFrames);
      break;
    }
    ASSERT_EQ(o.code, 137) << o.err;
    // frames come in order, one at a time, and none that was on disk one write earlier is missing
    const int kept = frames_on_disk(folder_ / "b.h5", kFrames);
    EXPECT_GE(kept, before);
    EXPECT_LE(kept, before + 1);
    before = kept;
    const bool packed = fs::exists(folder_ / "b.h5");
    const Outcome resumed = run(command("b.h5", "--resume"));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    if (!packed && kept > 0) {
      EXPECT_NE(resumed.err.find(fmt::format("({} were there)", kept)), std::string::npos) << resumed.err;
    }
    ASSERT_EQ(file_text(folder_ / "b.h5"), bytes);
    ASSERT_FALSE(fs::exists(folder_ / "b.h5.parts"));
    ASSERT_FALSE(fs::exists(folder_ / "b.h5.tmp"));
    const std::string steps = file_text(folder_ / "b.steps.csv");
    EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 1 + 8);
    EXPECT_TRUE(fs::exists(folder_ / "b.env.json"));
    if (HasFailure()) break;
  }
}

TEST_F(RecordTest, TerminationKeepsThePartsAndSaysHowToGoOn) {
  const pid_t child = start({"record", "bucket", "-o", path("b.h5"), "--set", "time.record_every=5"});
  const auto parts = [this] {
    std::error_code error;
    return std::distance(fs::directory_iterator(folder_ / "b.h5.parts", error), {});
  };
  for (int i = 0; i < 4000 && parts() < 3; ++i) ::usleep(5000);
  ::kill(child, SIGTERM);
  const Outcome o = finish(child);
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("--resume"), std::string::npos) << o.err;
  EXPECT_TRUE(fs::exists(folder_ / "b.h5.parts"));
  EXPECT_FALSE(fs::exists(folder_ / "b.h5"));
}

}  // namespace
}  // namespace signorini
