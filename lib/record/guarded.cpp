#include "record/guarded.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

#include "base/cancellation.h"
#include "base/check.h"
#include "base/reason.h"
#include "base/write_all.h"
#include "record/checked_files.h"
#include "record/h5.h"

// A sanitizer reserves terabytes of address space for its shadow; only there the memory limit is left out.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIGNORINI_LIMIT_MEMORY 0
#else
#define SIGNORINI_LIMIT_MEMORY 1
#endif

namespace signorini {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uintmax_t kBytesPerSecond = 50'000'000;  // slow disk, cold cache
constexpr char kFine = '+';
constexpr char kRefused = '-';

std::atomic<std::uint64_t> started{0};

std::uintmax_t virtual_bytes() {
  std::uintmax_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ju", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uintmax_t>(::sysconf(_SC_PAGESIZE));
}

void limit(int resource, std::uintmax_t soft, std::uintmax_t hard) {
  rlimit value{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &value) != 0) return;
  value.rlim_cur = std::min<rlim_t>(static_cast<rlim_t>(soft), value.rlim_max);
  value.rlim_max = std::min<rlim_t>(static_cast<rlim_t>(hard), value.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &value);
}

/// Never returns and never runs destructors or exit handlers of the parent's objects.
[[noreturn]] void be_child(const std::string& name, int fd, std::uintmax_t memory, std::uintmax_t seconds,
                           FunctionRef<void()> work) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGXCPU, SIGPIPE}) {
    ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, seconds, seconds + 1);
  if (SIGNORINI_LIMIT_MEMORY != 0) limit(RLIMIT_AS, memory, memory);
  std::string reply(1, kFine);
  try {
    work();
  } catch (const std::bad_alloc&) {
    reply = std::string(1, kRefused) + name + ": damaged file (asks for more memory than its size allows)";
  } catch (const std::exception& e) {
    reply = std::string(1, kRefused) + reason_of(e);
  } catch (...) {
    reply = std::string(1, kRefused) + name + ": unknown failure";
  }
  write_all(fd, reply.data(), reply.size());
  ::_exit(0);
}

}  // namespace

bool hear_out(int fd, std::chrono::milliseconds patience, std::string& reply) {
  constexpr std::chrono::milliseconds kSlice{100};
  char buffer[4096];
  for (Clock::duration waited{0}; waited < patience;) {
    pollfd ready{fd, POLLIN, 0};
    const Clock::time_point began = Clock::now();
    const int status = ::poll(&ready, 1, static_cast<int>(kSlice.count()));
    waited += std::min<Clock::duration>(Clock::now() - began, 2 * kSlice);  // more: the process was stopped
    if (status < 0 && errno != EINTR) return false;
    if (status <= 0) continue;
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    reply.append(buffer, got);
  }
  return false;
}

void run_in_child(const std::string& name, std::uintmax_t bytes, FunctionRef<void()> work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_input("{}: cannot be checked ({})", name, std::strerror(errno));
  const pid_t parent = ::getpid();
  const std::uintmax_t memory = virtual_bytes() + (std::uintmax_t{1} << 30U) + 4 * bytes;
  const std::uintmax_t seconds = 10 + bytes / kBytesPerSecond;
  pid_t child = -1;
  {
    const h5::LibraryLock lock;
    child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      // A killed parent takes its child along, which would hold on to the parent's lock files otherwise.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      be_child(name, ends[1], memory, seconds, work);
    }
  }
  ++started;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    throw_input("{}: cannot be checked (no child process: {})", name, std::strerror(errno));
  }
  std::string reply;
  const bool in_time = hear_out(ends[0], std::chrono::seconds(6 * seconds), reply);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  ::close(ends[0]);

  if (!in_time) throw_input("{}: damaged file (checking it took more than {} s)", name, 6 * seconds);
  // Without a status (SIGCHLD is ignored in this process) only the reply counts.
  if (waited == child && WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    // A terminal, timeout(1) and schedulers signal the whole process group: the file is not to blame.
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) throw Cancelled();
    if (signal == SIGXCPU || signal == SIGKILL) {
      throw_input("{}: damaged file (checking it needed more than {} s of CPU time)", name, seconds);
    }
    throw_input("{}: damaged file (the library that reads it crashed on it: signal {}, {})", name, signal,
                ::strsignal(signal));
  }
  if (reply.empty()) throw_input("{}: damaged file (the check ended without an answer)", name);
  if (reply[0] == kRefused) throw InputError(reply.substr(1));
}

void check_hdf5_in_child(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw_input("{}: no such file", path.string());
  if (!std::filesystem::is_regular_file(status)) throw_input("{}: not a regular file", path.string());
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw_input("{}: {}", path.string(), error.message());
  static CheckedFiles checked;
  checked.check_once(path, [&] {
    run_in_child(path.string(), bytes, [&] {
      const h5::ReadFile file(path);
      const bool is_recording = file.has_root_attribute("signorini_schema");
      file.visit_everything(is_recording ? h5::ReadFile::Depth::headers : h5::ReadFile::Depth::payload);
    });
  });
}

std::uint64_t children_started() { return started; }

}  // namespace signorini
