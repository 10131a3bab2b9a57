#include "linalg/nested_dissection.h"

#ifdef SIGNORINI_HAVE_CHOLMOD

#include <cholmod.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace signorini {

namespace {

/// Sends the order, or nothing.
void order_by_metis(std::span<const Index> begin, std::span<const Index> index, int fd) {
  cholmod_common common;
  cholmod_start(&common);
  common.print = 0;
  common.nmethods = 1;
  common.method[0].ordering = CHOLMOD_METIS;
  common.postorder = 1;
  cholmod_sparse pattern{};
  pattern.nrow = pattern.ncol = begin.size() - 1;
  pattern.nzmax = index.size();
  pattern.p = const_cast<Index*>(begin.data());  // the C interface has no const
  pattern.i = const_cast<Index*>(index.data());
  pattern.stype = 1;
  pattern.itype = CHOLMOD_INT;
  pattern.xtype = CHOLMOD_PATTERN;
  pattern.sorted = pattern.packed = 1;
  const cholmod_factor* L = cholmod_analyze(&pattern, &common);
  if (L == nullptr || common.status != CHOLMOD_OK) return;
  const char* from = static_cast<const char*>(L->Perm);
  for (std::size_t left = pattern.nrow * sizeof(Index); left > 0;) {
    const ssize_t written = ::write(fd, from, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    from += written;
    left -= written;
  }
}

constexpr unsigned longest =
    600;  // s; a lock of the C library that another thread held at the fork is never released here

/// Ends without running destructors or exit handlers of the parent's objects.
[[noreturn]] void be_child(std::span<const Index> begin, std::span<const Index> index, int fd, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {
    for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGABRT, SIGSEGV, SIGPIPE}) ::signal(signal, SIG_DFL);
    ::alarm(longest);
    order_by_metis(begin, index, fd);
  }
  ::_exit(0);
}

/// As many numbers as `order` has; false where the other end closes before.
bool receive(int fd, std::span<Index> order) {
  char* to = reinterpret_cast<char*>(order.data());
  for (std::size_t left = order.size_bytes(); left > 0;) {
    const ssize_t got = ::read(fd, to, left);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    left -= got;
  }
  return true;
}

}  // namespace

std::vector<Index> nested_dissection(std::span<const Index> begin, std::span<const Index> index) {
  std::vector<Index> order(begin.size() - 1);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) be_child(begin, index, ends[1], parent);
  ::close(ends[1]);
  const bool received = child > 0 && receive(ends[0], order);
  ::close(ends[0]);
  if (child > 0) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (!received) order.clear();
  return order;
}

}  // namespace signorini

#else

namespace signorini {

std::vector<Index> nested_dissection(std::span<const Index>, std::span<const Index>) { return {}; }

}  // namespace signorini

#endif
