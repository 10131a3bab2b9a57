#include "record/checked_files.h"

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/check.h"
#include "record/fclib_file.h"
#include "record/guarded.h"
#include "record/problem_file.h"
#include "record/record_test_tools.h"

namespace signorini::checked_files_test {
namespace {

namespace fs = std::filesystem;

class CheckedFilesTest : public testing::Test {
 protected:
  /// How often the check has run.
  int after_check() {
    checked_.check_once(file_, [this] { ++checks_; });
    return checks_;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "file";
  CheckedFiles checked_;
  int checks_ = 0;
};

TEST_F(CheckedFilesTest, AFileIsCheckedOnceUntilItChanges) {
  put_bytes(file_, "one");
  EXPECT_EQ(after_check(), 1);
  EXPECT_EQ(after_check(), 1);
  put_bytes(file_, "two!");
  EXPECT_EQ(after_check(), 2);
  EXPECT_EQ(after_check(), 2);
}

/// Two writes within a tick of the clock leave size and times alike: the bytes tell.
TEST_F(CheckedFilesTest, ChangesWithinOneTickAreSeen) {
  for (int i = 0; i < 200; ++i) {
    put_bytes(file_, fmt::format("{:03}", i));
    ASSERT_EQ(after_check(), i + 1);
  }
}

TEST_F(CheckedFilesTest, AnotherFileOfTheSameNameAndAChangeWithTheOldTimeAreSeen) {
  put_bytes(file_, "one");
  EXPECT_EQ(after_check(), 1);
  put_bytes(folder_.path() / "other", "one");
  fs::rename(folder_.path() / "other", file_);
  EXPECT_EQ(after_check(), 2);
  const auto before = fs::last_write_time(file_);
  put_bytes(file_, "two");
  fs::last_write_time(file_, before);
  EXPECT_EQ(after_check(), 3);
}

TEST_F(CheckedFilesTest, AFailedCheckIsNotRemembered) {
  put_bytes(file_, "one");
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(checked_.check_once(file_, [] { throw InputError("damaged"); }), InputError);
  EXPECT_EQ(after_check(), 1);
}

/// A file of 1 TiB, most of it a hole, would take minutes to read: its check alone decides, until its times tell.
TEST_F(CheckedFilesTest, ALargeYoungFileIsNotReadBeforeItsCheck) {
  put_bytes(file_, "one");
  std::error_code refused;
  fs::resize_file(file_, std::uintmax_t{1} << 40U, refused);
  if (refused) GTEST_SKIP() << "this file system takes no file of 1 TiB: " << refused.message();
  EXPECT_EQ(after_check(), 1);
  EXPECT_EQ(after_check(), 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  EXPECT_EQ(after_check(), 3);
  EXPECT_EQ(after_check(), 3);
}

TEST_F(CheckedFilesTest, AFileThatIsTwoSecondsOldIsKnownByItsTimes) {
  put_bytes(file_, "one");
  EXPECT_EQ(after_check(), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  EXPECT_EQ(after_check(), 1);
  EXPECT_EQ(after_check(), 1);
  put_bytes(file_, "two");
  EXPECT_EQ(after_check(), 2);
}

TEST_F(CheckedFilesTest, AFileThatIsOpenedTwiceForksOnce) {
  FclibFile file;
  file.problem = make_planted_problem({.contacts = 3}).problem;
  write_fclib(file_, file);
  const std::uint64_t before = children_started();
  const ProblemFile first(file_), second(file_);
  EXPECT_EQ(snapshot_sizes(file_).front().contacts, 3);
  EXPECT_EQ(children_started(), before + 1);
  // damage of the same length at the same place is found
  std::string bytes = file_bytes(file_);
  bytes.replace(0, 8, 8, 'x');
  put_bytes(file_, bytes);
  EXPECT_THROW(ProblemFile{file_}, InputError);
  EXPECT_EQ(children_started(), before + 2);
}

}  // namespace
}  // namespace signorini::checked_files_test
