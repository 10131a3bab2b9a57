#pragma once

#include <fmt/ranges.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "harness/run_record.h"
#include "record/fclib_file.h"

extern char** environ;

/// Starts the real program in a folder of its own.
namespace signorini {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;  ///< 128 + signal when killed
  std::string out, err;
};

inline std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              fmt::format("signorini_{}_{}_{}", info->test_suite_name(), info->name(), ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  pid_t start(const std::vector<std::string>& arguments,
              const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words{SIGNORINI_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment{fmt::format("SIGNORINI_CONFIGS={}/configs", SIGNORINI_SOURCE_DIR)};
    for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
    environment.insert(environment.begin(), variables.begin(), variables.end());
    std::vector<char*> argv, envp;
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& variable : environment) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    const std::string talk = (folder_ / fmt::format(".talk{}", ++started_)).string();
    posix_spawn_file_actions_addopen(&actions, 1, (talk + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_addopen(&actions, 2, (talk + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, SIGNORINI_PROGRAM, &actions, nullptr, argv.data(), envp.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
    talk_[child] = talk;
    return child;
  }
  Outcome finish(pid_t child) const {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            file_text(talk_[child] + ".out"), said(child)};
  }
  /// On stderr, so far.
  std::string said(pid_t child) const { return file_text(talk_[child] + ".err"); }
  /// Waits at most a minute.
  template <class Condition>
  static bool wait_until(Condition condition) {
    for (int i = 0; i < 30000 && !condition(); ++i) ::usleep(2000);
    return condition();
  }
  Outcome run(const std::vector<std::string>& arguments,
              const std::vector<std::string>& variables = {}) const {
    return finish(start(arguments, variables));
  }
  /// The environment in which a run ends without clean-up at its write call number `at` (1, 2, …): with half
  /// of that write done when `at` is odd, with nothing of it when `at` is even.
  static std::vector<std::string> killed_at(int at) {
    return {fmt::format("LD_PRELOAD={}", SIGNORINI_KILL_SHIM), fmt::format("KILL_AT={}", at),
            fmt::format("KILL_TORN={}", at % 2), "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0"};
  }
  /// The run must end with `code`; an error is exactly one line on stderr that has `part` in it, and nothing
  /// on stdout.
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& part) const {
    const Outcome o = run(arguments);
    const std::string command = fmt::format("{}", fmt::join(arguments, " "));
    EXPECT_EQ(o.code, code) << command << "\n" << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << command << "\n" << o.err << "expected: " << part;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << command << "\n" << o.err;
    EXPECT_EQ(o.err.rfind("signorini: error: ", 0), 0U) << command << "\n" << o.err;
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string planted(const std::string& name, PlantedOptions options = {}) const {
    FclibFile file;
    file.problem = make_planted_problem(options).problem;
    file.info.title = name;
    write_fclib(folder_ / name, file);
    return path(name);
  }

  fs::path folder_;

 private:
  mutable int started_ = 0;
  mutable std::map<pid_t, std::string> talk_;  ///< files of what each of them said
};

/// Rows without what may differ from run to run.
inline std::vector<std::string> timeless_rows(const fs::path& csv) {
  std::vector<std::string> rows;
  for (RunRecord record : read_run_table(csv)) {
    record.setup_seconds = record.solve_seconds = 0.0;
    record.cpu_share = record.waited_share = 0.0;
    record.involuntary_switches = 0;
    record.solver_bytes = 0;
    record.threads_used = 1;
    rows.push_back(run_record_row(record));
  }
  return rows;
}

}  // namespace signorini
