#include "interrupt.h"

#include <csignal>

namespace signorini {
namespace {

CancelFlag signalled{false};

void remember(int) { signalled.store(true, std::memory_order_relaxed); }

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal meets the default action
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;  // a closed pipe is an error of fwrite, not a death
  sigaction(SIGPIPE, &ignore, nullptr);
}

bool interrupted() { return is_cancelled(&signalled); }

const CancelFlag* interrupt_flag() { return &signalled; }

}  // namespace signorini
