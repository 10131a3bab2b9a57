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

TEST_F(RecordTest, ResumeAfterAKillEndsWithTheSameBytes) {
  ASSERT_EQ(run(command("whole.h5")).code, 0);
  const std::string bytes = file_text(folder_ / "whole.h5");
  int kills = 0;
  for (const int at : {1, 5, 12, 30, 60, 100, 150, 220}) {
    const Outcome o = run(command("b.h5", {kills == 0 ? "--force" : "--resume"}),
                          {std::string("LD_PRELOAD=") + SIGNORINI_KILL_SHIM, fmt::format("KILL_AT={}", at),
                           "KILL_TORN=1", "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0"});
    if (o.code == 0) break;
    ASSERT_EQ(o.code, 137) << o.err;
    ++kills;
  }
  EXPECT_GT(kills, 2) << "the shim was not loaded";
  const Outcome o = run(command("b.h5", {"--resume"}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(file_text(folder_ / "b.h5"), bytes);
  EXPECT_FALSE(fs::exists(folder_ / "b.h5.parts"));
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
