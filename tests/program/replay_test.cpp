// signorini replay, as a user starts it: what it writes, what it refuses and with which words.

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "program/program_fixture.h"
#include "record/recording_file.h"

namespace signorini::replay_program_test {
namespace {

using Json = nlohmann::json;

/// The viewer comes from Debian's libjs-three when a page is made.
bool three_is_there() { return fs::exists("/usr/share/javascript/three/build/three.min.js"); }

/// What the head of a page says of its frames.
std::string frames_in_head(const std::string& page) {
  const std::string before = "<meta name=\"signorini-steps\" content=\"";
  const std::size_t begin = page.find(before);
  if (begin == std::string::npos) return "no head";
  return page.substr(begin + before.size(), page.find('"', begin + before.size()) - begin - before.size());
}

class ReplayProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const Outcome o = run({"record", fmt::format("{}/configs/scenes/incline.toml", SIGNORINI_SOURCE_DIR),
                           "-o", path("a.h5"), "--steps", "60", "--set", "time.record_every=20"});
    ASSERT_EQ(o.code, 0) << o.err;
    const RecordingReader reader(path("a.h5"));
    frames_ = reader.frames();
    ASSERT_EQ(frames_.size(), 3U);
  }
  /// replay a.h5 -o OUT with more words.
  Outcome replay(const std::string& output, std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"replay", path("a.h5"), "-o", path(output)});
    return run(words);
  }
  void expect_refused(std::vector<std::string> words, int code, const std::string& part,
                      const std::string& output = "x.html") const {
    words.insert(words.begin(), {"replay", path("a.h5"), "-o", path(output)});
    expect_error(words, code, part);
    EXPECT_FALSE(fs::exists(path(output))) << part;
  }

  std::vector<std::string> frames_;
};

TEST_F(ReplayProgramTest, WritesAPageOfTheFramesThatAreAskedFor) {
  if (!three_is_there()) GTEST_SKIP() << "libjs-three is not installed: no page can be made";
  const Outcome all = replay("all.html", {"--json"});
  ASSERT_EQ(all.code, 0) << all.err;
  const Json told = Json::parse(all.out);
  EXPECT_EQ(told["bytes"], fs::file_size(path("all.html")));
  ASSERT_EQ(told["answers"].size(), frames_.size());
  EXPECT_EQ(told["answers"][0]["solver"], "recorded");
  EXPECT_EQ(frames_in_head(file_text(path("all.html"))), fmt::format("{}", fmt::join(frames_, " ")));

  const std::string list = fmt::format("{},{}.1", std::stol(frames_[2]), std::stol(frames_[0]));
  ASSERT_EQ(replay("two.html", {"--steps", list}).code, 0);
  EXPECT_EQ(frames_in_head(file_text(path("two.html"))), frames_[0] + " " + frames_[2]);
  ASSERT_EQ(replay("every.html", {"--every", "2"}).code, 0);
  EXPECT_EQ(frames_in_head(file_text(path("every.html"))), frames_[0] + " " + frames_[2]);
}

TEST_F(ReplayProgramTest, WritesTheAnswersOfSolversAsDataForAPage) {  // which needs no libjs-three
  const Outcome o = replay("a.js", {"--solver", "pgs,recorded", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(file_text(path("a.js")).find("SignoriniReplayData"), std::string::npos);
  const Json told = Json::parse(o.out);
  ASSERT_EQ(told["answers"].size(), 2 * frames_.size());
  EXPECT_EQ(told["answers"][0]["solver"], "pgs");
  EXPECT_LE(told["answers"][0]["residual"].get<double>(), 1e-6) << "the default tolerance";
  EXPECT_EQ(replay("a.js").code, 2) << "existing files are kept";
  EXPECT_EQ(replay("a.js", {"--force"}).code, 0);
}

TEST_F(ReplayProgramTest, DrawsOneFrameAsAPicture) {
  const Outcome o = replay("a.png", {"--frame", frames_[1], "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(file_text(path("a.png")).substr(1, 3), "PNG");
  EXPECT_EQ(Json::parse(o.out)["step"], frames_[1]);
  const Outcome absent = replay("b.png", {"--frame", "999"});
  EXPECT_EQ(absent.code, 2) << absent.err;
  EXPECT_NE(absent.err.find("no step '999' (it has 3 frames, 000020 to 000060)"), std::string::npos)
      << absent.err;
  EXPECT_FALSE(fs::exists(path("b.png")));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
}

TEST_F(ReplayProgramTest, RefusesMistakesAndSaysWhatToChoose) {
  expect_refused({"--solver", "pgz"}, 2, "unknown solver 'pgz' (did you mean 'pgs'?)");
  expect_refused({"--solver", "pgs,pgs"}, 2, "pgs is named twice");
  expect_refused({"--steps", "500:"}, 2, "has no snapshot there; it holds 3 from " + frames_.front());
  expect_refused({"--steps", "1-5"}, 2, "must look like 120:480");
  expect_refused({"--every", "0"}, 2, "--every");
  expect_refused({}, 2, "must end with .html", "x.gif");
  expect_refused({"--frame", "20"}, 2, "must end with .png");
  expect_refused({"--frame", "20", "--every", "2"}, 2, "takes no --steps, --every or --solver", "x.png");
  expect_error({"replay", path("absent.h5"), "-o", path("x.html")}, 3, "absent.h5");
  expect_error({"replay", planted("p.hdf5"), "-o", path("x.html")}, 3, "p.hdf5");
}

TEST_F(ReplayProgramTest, RefusesADamagedFileAndLeavesNothing) {
  const std::string text = file_text(path("a.h5"));
  std::ofstream(path("cut.h5"), std::ios::binary) << text.substr(0, text.size() / 2);
  std::string bent = text;
  for (std::size_t at = bent.size() / 3; at < bent.size() / 3 + 4096; ++at)
    bent[at] = static_cast<char>(~bent[at]);
  std::ofstream(path("bent.h5"), std::ios::binary) << bent;
  for (const char* name : {"cut.h5", "bent.h5"}) {
    const Outcome o = run({"replay", path(name), "--solver", "pgs", "-o", path("x.js")});
    EXPECT_EQ(o.code, 3) << name << o.err;
    EXPECT_NE(o.err.find(name), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(path("x.js"))) << name;
  }
}

TEST_F(ReplayProgramTest, SaysWhichFramesOfALargeRecordingFit) {
  // residuals of 1,000 contacts after 30 iterations of 12 solvers are about 1 MB per frame; 64 MB are allowed
  ContactProblem problem = make_planted_problem({.contacts = 1000, .regions = 100}).problem;
  problem.position = Matrix::Zero(1000, 3);
  problem.frame = Matrix::Zero(1000, 9);
  for (const Index i : {0, 4, 8}) problem.frame.col(i).setOnes();
  RecordingWriter writer(path("large.h5"), {.scene = "net", .config = "", .git = "", .seed = 0}, false);
  for (int i = 1; i <= 90; ++i) {
    Frame frame;
    frame.id = fmt::format("{:06d}", i);
    frame.problem = problem;
    frame.impulse = Vector::Zero(3000);
    frame.geometry = std::make_unique<FrameGeometry>();
    frame.geometry->vertices = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>::Identity(3, 3);
    frame.geometry->triangles.resize(1, 3);
    frame.geometry->triangles << 0, 1, 2;
    frame.geometry->triangle_body = {-1};
    writer.append(frame);
  }
  writer.finish();
  const std::string solvers = "pgs,nsgs,nncg,anderson,pcg,pcg-pgs,apgd,spg,fbf,ca,newton,prox-newton";
  expect_error({"replay", path("large.h5"), "--solver", solvers, "-o", path("x.js")}, 2, "give --every 2");
  expect_error({"replay", path("large.h5"), "--solver", solvers, "--steps", "1:80", "-o", path("x.js")}, 2,
               "or fewer steps with --steps A:B (the recording has 000001 to 000090)");
  EXPECT_FALSE(fs::exists(path("x.js")));
  const Outcome o = run({"replay", path("large.h5"), "-o", path("x.js")});
  EXPECT_EQ(o.code, 0) << "the recorded answer alone fits\n" << o.err;
}

}  // namespace
}  // namespace signorini::replay_program_test
