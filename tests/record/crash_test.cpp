#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "record/record_test_tools.h"

extern char** environ;

namespace signorini::crash_test {
namespace {

namespace fs = std::filesystem;

constexpr int kFrames = 12;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Outcome {
  std::vector<std::string> acknowledged;
  bool done = false;
};

/// Runs the victim in its own process group until it ends or is ended.
Outcome run_victim(const fs::path& path, const std::vector<std::string>& settings) {
  std::vector<std::string> words = settings;
  if (!settings.empty()) words.push_back(fmt::format("LD_PRELOAD={}", SIGNORINI_CRASH_SHIM));
  for (char** word = environ; *word != nullptr; ++word) words.emplace_back(*word);
  std::vector<char*> environment;
  for (std::string& word : words) environment.push_back(word.data());
  environment.push_back(nullptr);
  std::string victim = SIGNORINI_CRASH_VICTIM, file = path.string(), frames = std::to_string(kFrames);
  char* arguments[] = {victim.data(), file.data(), frames.data(), nullptr};

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = -1;
  const int failed =
      ::posix_spawn(&child, victim.c_str(), &actions, &attributes, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (failed != 0) throw std::runtime_error("the victim does not start");
  std::string said;
  char buffer[1024];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, got);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  Outcome outcome;
  for (const std::string& line : split(said, '\n')) {
    if (line == "done") outcome.done = true;
    if (line.size() == 6) outcome.acknowledged.push_back(line);
  }
  return outcome;
}

/// Frames that the next command finds, each compared with what was recorded. The group of a killed victim may
/// need a moment to die; until then its lock holds.
std::vector<std::string> recover(const fs::path& path) {
  for (int attempt = 0;; ++attempt) {
    try {
      const RecordingReader reader(path);
      for (const std::string& id : reader.frames()) {
        expect_same_problem(reader.read(id).problem, small_frame(std::stoi(id)).problem);
      }
      return reader.frames();
    } catch (const InputError& e) {
      const std::string reason = e.what();
      if (reason.find("is being recorded") != std::string::npos && attempt < 1000) {
        ::usleep(1000);
        continue;
      }
      const bool nothing_there = reason.find("no such file") != std::string::npos ||
                                 reason.find("before the first frame") != std::string::npos;
      EXPECT_TRUE(nothing_there) << reason;
      return {};
    }
  }
}

/// The process ends at call 1, 1 + stride, … that changes a file.
void end_at_every(std::size_t stride) {
  if (kSanitized) {
    GTEST_SKIP() << "the sanitizer's own library must be loaded first, so the shim cannot be preloaded";
  }
  const TemporaryFolder folder(fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path());
  const fs::path path = folder.path() / "a.h5";
  const fs::path log = folder.path() / "log";
  ASSERT_TRUE(run_victim(path, {"SIGNORINI_CRASH_AT=0", "SIGNORINI_CRASH_LOG=" + log.string()}).done);
  const std::string calls = file_bytes(log);
  const std::string uninterrupted = file_bytes(path);
  EXPECT_EQ(count(recover(path)), kFrames);
  EXPECT_GT(calls.size(), 5U * kFrames);

  int crashes = 0, resumed = 0;
  for (std::size_t k = 1; k <= calls.size(); k += stride) {
    for (const bool torn : {false, true}) {
      if (torn && calls[k - 1] != 'w') continue;
      SCOPED_TRACE(fmt::format("call {} of {}{}", k, calls.size(), torn ? ", torn" : ""));
      fs::remove(path);
      fs::remove_all(path.string() + ".parts");
      std::vector<std::string> settings = {fmt::format("SIGNORINI_CRASH_AT={}", k)};
      if (torn) settings.push_back("SIGNORINI_CRASH_TORN=1");
      const Outcome outcome = run_victim(path, settings);
      ++crashes;
      const std::vector<std::string> found = recover(path);
      for (const std::string& id : outcome.acknowledged) {
        EXPECT_NE(std::find(found.begin(), found.end(), id), found.end()) << "frame " << id << " is lost";
      }
      // At most the frame in flight is there without having been acknowledged.
      EXPECT_LE(found.size(), outcome.acknowledged.size() + 1);
      if (crashes % 16 == 0) {
        EXPECT_TRUE(run_victim(path, {}).done);
        EXPECT_TRUE(file_bytes(path) == uninterrupted) << "resumed to other bytes";
        ++resumed;
      }
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(resumed, 0);
  std::printf("%d crashes at %zu calls, %d of them resumed to the bytes of an uninterrupted recording\n",
              crashes, calls.size(), resumed);
}

// Calls of a frame come in the same order, so a stride that divides their number would always hit the same ones.
TEST(CrashSafety, NoAcknowledgedFrameIsLostWhereverTheProcessEnds) { end_at_every(7); }
TEST(CrashSafety, SlowNoAcknowledgedFrameIsLostAtAnyCall) { end_at_every(1); }

}  // namespace
}  // namespace signorini::crash_test
