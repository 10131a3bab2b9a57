#include "interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "commands.h"

namespace signorini {
namespace {

constexpr unsigned kGrace = 1;  // s

CancelFlag signalled{false};
std::atomic<int> nothing_to_keep{0};
std::array<char, 200> last_words{};
std::size_t last_words_size = 0;

void remember(int) {
  signalled.store(true, std::memory_order_relaxed);
  ::alarm(kGrace);
}

void end_set_up(int) {
  if (nothing_to_keep.load(std::memory_order_relaxed) == 0) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, last_words.data(), last_words_size);
  ::_exit(kInterrupted);
}

}  // namespace

void install_interrupt_handlers(std::string_view message) {
  message = message.substr(0, last_words.size() - 1);
  *std::copy(message.begin(), message.end(), last_words.begin()) = '\n';
  last_words_size = message.size() + 1;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal meets the default action
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction end {};
  end.sa_handler = end_set_up;
  end.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &end, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;  // a closed pipe is an error of fwrite, not a death
  sigaction(SIGPIPE, &ignore, nullptr);
}

bool interrupted() { return is_cancelled(&signalled); }

const CancelFlag* interrupt_flag() { return &signalled; }

NothingToKeep::NothingToKeep() {
  stop_when_interrupted();
  ++nothing_to_keep;
  // a signal between the two lines above: its alarm finds the count raised
}

NothingToKeep::~NothingToKeep() { --nothing_to_keep; }

}  // namespace signorini
