#include "base/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace signorini {

namespace {

[[noreturn]] void be_child(int pipe, pid_t parent, FunctionRef<int(int)> work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGALRM, SIGXCPU, SIGPIPE})
    ::signal(signal, SIG_DFL);
  ::_exit(work(pipe));
}

std::string read_all(int file) {
  std::string bytes;
  std::array<char, 1 << 16> chunk;
  for (;;) {
    const ssize_t n = ::read(file, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.append(chunk.data(), n);
  }
}

}  // namespace

ChildOutput output_of_child(FunctionRef<int(int)> work) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int why = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    errno = why;
    return {};
  }
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], parent, work);
  }
  ::close(ends[1]);
  ChildOutput out{read_all(ends[0]), -1};
  ::close(ends[0]);
  while (::waitpid(child, &out.status, 0) < 0) {
    if (errno == EINTR) continue;
    out.status = -1;
    break;
  }
  return out;
}

}  // namespace signorini
