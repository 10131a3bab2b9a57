#include "base/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

namespace signorini::output_file_test {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_outputs_{}", ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path made(const std::string& name, const std::string& text = "mine") const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string text_of(const fs::path& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string usage_error(const std::function<void()>& run) {
    try {
      run();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  void expect_refused(const OutputPlan& plan, const std::string& part) const {
    const std::string said = usage_error([&] { check_outputs(plan); });
    EXPECT_NE(said.find(part), std::string::npos) << said << "\nexpected: " << part;
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, OnlyRegularFilesAndNewNamesAreOutputs) {
  check_outputs({{}, {{"-o", folder_ / "new.csv"}}});
  expect_refused({{}, {{"-o", "/dev/null"}}, ExistingOutput::replace}, "-o /dev/null: is a device");
  expect_refused({{}, {{"-o", folder_}}, ExistingOutput::replace}, "is a folder");
  expect_refused({{}, {{"-o", folder_ / ""}}, ExistingOutput::replace}, "name a file");
  expect_refused({{}, {{"-o", ""}}}, "name a file");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused({{}, {{"-o", folder_ / "pipe"}}, ExistingOutput::replace}, "is a pipe");
  fs::create_symlink(made("target"), folder_ / "link");
  expect_refused({{}, {{"-o", folder_ / "link"}}, ExistingOutput::replace}, "is a symbolic link");
  expect_refused({{}, {{"-o", folder_ / "x", {"/dev/null"}}}, ExistingOutput::replace},
                 "/dev/null: is a device");
  EXPECT_THROW(check_outputs({{}, {{"-o", folder_ / "absent" / "x"}}}), InputError);
}

TEST_F(OutputFileTest, NoOutputIsAnInputOrAnotherOutputUnderAnyName) {
  const fs::path input = made("a.h5");
  fs::create_hard_link(input, folder_ / "b.h5");
  fs::create_directory_symlink(folder_, folder_ / "round");
  const auto plan = [&](const fs::path& output) {
    return OutputPlan{{input}, {{"--csv", output, {output.string() + ".env.json"}}}, ExistingOutput::replace};
  };
  expect_refused(plan(input), "is an input of this command");
  expect_refused(plan(folder_ / "b.h5"), "is an input of this command");
  expect_refused(plan(folder_ / "round" / ".." / folder_.filename() / "a.h5"), "is an input of this command");
  const auto two = [&](const std::string& first, const std::string& second) {
    return OutputPlan{{},
                      {{"--csv", folder_ / first, {folder_ / (first + ".env.json")}},
                       {"--trace", folder_ / second, {folder_ / (second + ".env.json")}}},
                      ExistingOutput::replace};
  };
  expect_refused(two("z", "z"), "are the same file");
  expect_refused(two("z", "round/z"), "are the same file");  // neither exists
  expect_refused(two("z", "z.env.json"), "are the same file");
  expect_refused(two("z", "z.lock"), "are the same file");
  expect_refused(two("z.tmp", "z"), "are the same file");
  check_outputs(two("z", "y"));
  // What comes beside an output may be an input no more than the output itself.
  expect_refused({{made("z.env.json")}, two("z", "y").outputs, ExistingOutput::replace}, "is an input");
}

TEST_F(OutputFileTest, ExistingFilesAreReplacedOnlyWhenAsked) {
  const fs::path file = made("a.csv"), beside = made("b.csv.env.json");
  expect_refused({{}, {{"--csv", file}}}, "a.csv: exists already; --force replaces it");
  expect_refused({{}, {{"--csv", folder_ / "b.csv", {beside}}}}, "b.csv.env.json: exists already");
  check_outputs({{}, {{"--csv", file}}, ExistingOutput::replace});
  EXPECT_EQ(text_of(file), "mine");
}

TEST_F(OutputFileTest, AClaimedOutputIsBusyUntilItsHolderEnds) {
  const OutputPlan plan{{}, {{"--csv", folder_ / "a.csv"}}};
  {
    const std::vector<LockFile> locks = claim_outputs(plan);
    EXPECT_TRUE(fs::exists(folder_ / "a.csv.lock"));
    try {
      claim_outputs(plan);
      FAIL() << "claimed twice";
    } catch (const BusyError& error) {
      EXPECT_NE(std::string(error.what())
                    .find(fmt::format("a.csv: is being written by process {} on ", ::getpid())),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_FALSE(fs::exists(folder_ / "a.csv.lock"));
  claim_outputs(plan);
}

TEST_F(OutputFileTest, AFileOfTheUserIsNoLock) {
  const fs::path file = made("Cargo.lock", "# generated\n[[package]]\n");
  EXPECT_THROW(claim_outputs({{}, {{"--csv", folder_ / "Cargo"}}}), InputError);
  EXPECT_EQ(text_of(file), "# generated\n[[package]]\n");
}

TEST_F(OutputFileTest, AFolderThatCannotBeWrittenIsOneLineWithItsName) {
  for (const auto& run : std::vector<std::function<void()>>{[] {
                                                              claim_outputs({{}, {{"--csv", "/proc/x.csv"}}});
                                                            },
                                                            [] { make_output_folder("/proc/foo"); }}) {
    try {
      run();
      ADD_FAILURE() << "written into /proc";
    } catch (const InputError& error) {
      const std::string said = error.what();
      EXPECT_EQ(said.rfind("/proc/", 0), 0U) << said;
      EXPECT_EQ(said.find("filesystem error"), std::string::npos) << said;
    }
  }
}

TEST_F(OutputFileTest, AWriteThatFailsLeavesTheOldFile) {
  const fs::path file = made("a.csv", "old");
  fs::create_directory(folder_ / "a.csv.tmp");  // the temporary file cannot be made
  const std::string text = "new";
  EXPECT_THROW(write_durable(file, std::as_bytes(std::span(text))), InputError);
  EXPECT_EQ(text_of(file), "old");
  fs::remove(folder_ / "a.csv.tmp");
  made("a.csv.tmp", "left by a kill");
  write_durable(file, std::as_bytes(std::span(text)));
  EXPECT_EQ(text_of(file), "new");
  EXPECT_FALSE(fs::exists(folder_ / "a.csv.tmp"));
}

}  // namespace
}  // namespace signorini::output_file_test
