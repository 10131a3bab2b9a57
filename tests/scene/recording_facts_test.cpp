// The facts of a recording, judged by the statistics in its own file.

#include "scene/recording_facts.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "record/fclib_file.h"
#include "record/record_test_tools.h"

namespace signorini::recording_facts_test {
namespace {

constexpr const char* kFact =
    "[time]\nsteps = 2\n[facts.rises]\nsays = \"it rises\"\nquantity = \"x\"\nover = \"max\"\nat_least = 3\n";

class RecordingFactsTest : public testing::Test {
 protected:
  /// A recording of the scene `text` whose statistics have a row for every value of x; none: unfinished.
  std::string recording(const std::string& text, const std::vector<double>& x) const {
    const std::string path = (folder_.path() / fmt::format("{}.h5", ++made_)).string();
    RecordingWriter writer(path, {.scene = "net", .config = text, .git = "", .seed = 0}, false);
    Frame frame;
    frame.id = "000001";
    frame.problem = make_planted_problem({.contacts = 3}).problem;
    writer.append(frame);
    StepTable table{{"x"}, {"m"}, {}};
    for (const double value : x) table.rows.push_back({value});
    writer.finish(x.empty() ? nullptr : &table);
    return path;
  }
  TemporaryFolder folder_;
  mutable int made_ = 0;
};

TEST_F(RecordingFactsTest, HoldDifferOrAreNotReached) {
  const auto verdict = [&](const std::vector<double>& x) {
    return judge_recording(recording(kFact, x)).at(0);
  };
  const FactVerdict holds = verdict({1.0, 4.0});
  EXPECT_TRUE(holds.holds);
  EXPECT_EQ(holds.name, "rises");
  EXPECT_EQ(holds.value, 4.0);
  EXPECT_EQ(holds.unit, "m");
  EXPECT_TRUE(is_acceptable(holds));
  const FactVerdict differs = verdict({1.0, 2.0});
  EXPECT_FALSE(differs.holds);
  EXPECT_FALSE(is_acceptable(differs));
  const FactVerdict early = verdict({1.0});
  EXPECT_FALSE(early.reached) << "one of two steps";
  EXPECT_TRUE(is_acceptable(early));
  EXPECT_TRUE(judge_recording(recording("[time]\nsteps = 1\n", {1.0})).empty());
}

TEST_F(RecordingFactsTest, NeedAFinishedRecording) {
  const std::string unfinished = recording(kFact, {});
  try {
    judge_recording(unfinished);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        unfinished +
            ": the recording is unfinished, so its facts cannot be checked; continue it with 'signorini "
            "record ... --resume'");
  }
  const std::string other = (folder_.path() / "problem.hdf5").string();
  FclibFile file;
  file.problem = make_planted_problem({.contacts = 3}).problem;
  write_fclib(other, file);
  EXPECT_THROW(judge_recording(other), UsageError);
}

}  // namespace
}  // namespace signorini::recording_facts_test
