#include "base/child_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "base/write_all.h"

namespace signorini {
namespace {

TEST(ChildProcess, GivesWhatWasWrittenAndTheExitCode) {
  const std::string much(3'000'000, 'x');  // more than a pipe holds
  const ChildOutput out =
      output_of_child([&](int pipe) { return write_all(pipe, much.data(), much.size()) ? 7 : 1; });
  EXPECT_EQ(out.bytes, much);
  ASSERT_TRUE(WIFEXITED(out.status));
  EXPECT_EQ(WEXITSTATUS(out.status), 7);
}

TEST(ChildProcess, ACrashIsAStatus) {
  const ChildOutput out = output_of_child([](int pipe) {
    write_all(pipe, "ab", 2);
    std::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(out.bytes, "ab");
  ASSERT_TRUE(WIFSIGNALED(out.status));
  EXPECT_EQ(WTERMSIG(out.status), SIGKILL);
}

TEST(ChildProcess, HasTheDefaultHandlersAndLeavesOursAlone) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  const ChildOutput out = output_of_child([](int) {
    std::raise(SIGTERM);
    return 0;
  });
  const auto after = std::signal(SIGTERM, before);
  EXPECT_EQ(after, SIG_IGN);
  ASSERT_TRUE(WIFSIGNALED(out.status));
  EXPECT_EQ(WTERMSIG(out.status), SIGTERM);
}

TEST(ChildProcess, NothingIsWrittenToAClosedFile) { EXPECT_FALSE(write_all(-1, "ab", 2)); }

}  // namespace
}  // namespace signorini
