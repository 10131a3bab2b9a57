// usage: mutate_files PROGRAM COUNT [SEED]
// Runs PROGRAM on COUNT damaged recordings, FCLib files and npz archives, two at a time, and checks what a user would see:
// exit code 0 or 3, never a signal or a hang, and exactly one line on stderr when it is 3. Failing files are
// kept in the working folder.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "record/npz_file.h"
#include "record/record_test_tools.h"

extern char** environ;

namespace {

using namespace signorini;
namespace fs = std::filesystem;

constexpr int kWorkers = 2;
constexpr int kTimeLimit = 90'000;  // ms; the child check of the program gives up after 60 s

std::vector<std::string> base_files(const fs::path& folder) {
  std::vector<std::string> files;
  const auto record = [&](const char* name, int frames, double stiffness, bool dual) {
    RecordingWriter writer(folder / name, test_header(), false);
    for (int k = 1; k <= frames; ++k) {
      Frame frame = rich_frame(fmt::format("{:06}", k), static_cast<std::uint64_t>(k), stiffness, 3);
      if (dual) {
        const Eigen::Index rows = 3 * frame.problem.contacts();
        frame.problem.q = Vector::LinSpaced(rows, -1.0, 1.0);
        frame.problem.W.resize(rows, rows);
        frame.problem.W.setIdentity();
      }
      writer.append(frame);
    }
    const StepTable table = rich_table(4);
    writer.finish(dual ? nullptr : &table);
    files.push_back(file_bytes(folder / name));
  };
  record("explicit.h5", 2, 0.0, false);
  record("implicit.h5", 1, 100.0, false);
  record("both.h5", 1, 0.0, true);
  FclibFile fclib;
  fclib.problem = rich_frame("000001", 1, 100.0, 3).problem;
  fclib.info = {"title", "description", "none"};
  fclib.solution = FclibSolution{Vector::Ones(9), Vector::Ones(9), fclib.problem.f};
  write_fclib(folder / "global.hdf5", fclib);
  files.push_back(file_bytes(folder / "global.hdf5"));
  write_npz(folder / "global.npz", fclib);
  files.push_back(file_bytes(folder / "global.npz"));
  ContactProblem dual;
  dual.mu = fclib.problem.mu;
  dual.q = Vector::LinSpaced(9, -1.0, 1.0);
  dual.W.resize(9, 9);
  dual.W.setIdentity();
  fclib.problem = dual;
  fclib.solution.reset();
  write_fclib(folder / "local.hdf5", fclib);
  files.push_back(file_bytes(folder / "local.hdf5"));
  return files;
}

std::string damage(std::string bytes, Rng& rng) {
  const auto place = [&](std::size_t length) { return rng.below(bytes.size() - length); };
  switch (rng.below(7)) {
    case 0:
    case 1:
      for (std::uint64_t k = rng.below(8) + 1; k > 0; --k) {
        char& byte = bytes[place(0)];
        byte = static_cast<char>(byte ^ (1 << rng.below(8)));
      }
      break;
    case 2:
      bytes.resize(place(0));
      break;
    case 3: {
      const std::size_t length = 1 + rng.below(64);
      bytes.replace(place(length), length, std::string(length, rng.below(2) == 0 ? '\0' : '\xff'));
      break;
    }
    case 4: {
      const std::size_t length = 1 + rng.below(256), a = place(length), b = place(length);
      const std::string block = bytes.substr(a, length);
      bytes.replace(a, length, bytes.substr(b, length));
      bytes.replace(b, length, block);
      break;
    }
    case 5: {
      // A number that lies about a size.
      static constexpr std::uint64_t kLies[] = {0,          1,           0x7fffffff,       0x80000000,
                                                0xffffffff, 0x100000000, ~std::uint64_t{0}};
      const std::size_t length = std::size_t{1} << rng.below(4);
      const std::uint64_t lie = kLies[rng.below(7)];
      bytes.replace(place(length), length, std::string(reinterpret_cast<const char*>(&lie), length));
      break;
    }
    default:
      for (std::size_t k = place(64), end = k + 1 + rng.below(64); k < end; ++k)
        bytes[k] = static_cast<char>(rng.next());
  }
  return bytes;
}

struct Outcome {
  int status = 0;
  bool in_time = true;
  std::string errors;
};

Outcome run(const std::string& program, std::vector<std::string> words) {
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) throw std::runtime_error("cannot start " + program);
  Outcome outcome;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kTimeLimit);
  char buffer[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    pollfd ready{ends[0], POLLIN, 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) == 0) {
      outcome.in_time = false;
      ::kill(child, SIGKILL);
      break;
    }
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    if (got <= 0) break;
    outcome.errors.append(buffer, got);
  }
  ::close(ends[0]);
  ::waitpid(child, &outcome.status, 0);
  return outcome;
}

/// "" when a user may see this.
std::string verdict(const Outcome& outcome) {
  if (!outcome.in_time) return "hangs";
  if (WIFSIGNALED(outcome.status)) return fmt::format("killed by signal {}", WTERMSIG(outcome.status));
  const int code = WEXITSTATUS(outcome.status);
  if (code == 0) return "";
  if (code != 3) return fmt::format("exit code {}: {}", code, outcome.errors);
  const std::size_t newline = outcome.errors.find('\n');
  if (newline == std::string::npos || newline == 0 || newline + 1 != outcome.errors.size()) {
    return "not one line: " + outcome.errors;
  }
  return "";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: mutate_files PROGRAM COUNT [SEED]\n");
    return 2;
  }
  const std::string program = arguments[1];
  const int total = std::stoi(arguments[2]);
  const std::uint64_t seed = count > 3 ? std::stoull(arguments[3]) : 1;
  const TemporaryFolder folder(fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path());
  const std::vector<std::string> bases = base_files(folder.path());

  std::atomic<int> next{0}, accepted{0}, refused{0}, failures{0};
  std::mutex mutex;
  std::map<std::string, int> crashes;  // what the check in a child process caught
  const auto work = [&](int worker) {
    for (int trial = next++; trial < total; trial = next++) {
      Rng rng(seed, static_cast<std::uint64_t>(trial));
      const fs::path file = folder.path() / fmt::format("damaged-{}.h5", worker);
      put_bytes(file, damage(bases[rng.below(bases.size())], rng));
      std::vector<std::string> words = {"info", file.string()};
      if (trial % 2 == 1) words = {"solve", file.string(), "--solver", "pgs", "--max-iterations", "3"};
      const Outcome outcome = run(program, words);
      const std::string wrong = verdict(outcome);
      (WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 0 ? accepted : refused)++;
      if (const std::size_t signal = outcome.errors.find("crashed on it: "); signal != std::string::npos) {
        const std::lock_guard<std::mutex> lock(mutex);
        ++crashes[outcome.errors.substr(signal + 15, 9)];
      }
      if (wrong.empty()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (++failures > 10) continue;
      std::printf("damaged-%d (%s): %s\n", trial, words[0].c_str(), wrong.c_str());
      std::error_code ignored;
      fs::copy_file(file, fmt::format("damaged-{}.h5", trial), fs::copy_options::overwrite_existing, ignored);
    }
  };
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) workers.emplace_back(work, w);
  for (std::thread& worker : workers) worker.join();

  std::printf("%d damaged files: %d refused, %d read, %d failures", total, refused.load(), accepted.load(),
              failures.load());
  for (const auto& [signal, times] : crashes) std::printf(", %d x %s caught", times, signal.c_str());
  std::printf("\n");
  // Damage that is never noticed would mean that nothing was tested.
  return failures == 0 && refused > total / 2 ? 0 : 1;
}
