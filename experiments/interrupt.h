#pragma once

#include <string_view>

#include "base/cancellation.h"

/// SIGINT and SIGTERM ask politely: the solve in flight is cut short, what was finished before it is kept,
/// and everything on disk stays valid. A second signal ends the process at once (what is on disk stays valid
/// then, too). So does the first one where there is `NothingToKeep`.
namespace signorini {

/// Thrown once a signal has come; ends the program with exit code 130.
using Interrupted = Cancelled;

/// `message`: the line on stderr of a process that ends at once.
void install_interrupt_handlers(std::string_view message);
bool interrupted();
/// Raised by the signals; for whatever takes a flag to look at.
const CancelFlag* interrupt_flag();
inline void stop_when_interrupted() {
  if (interrupted()) throw Interrupted();
}

/// While one lives, work goes on that cannot look at the flag often enough and makes nothing worth keeping: set-up.
/// A signal gives it a second to end by itself, then the process ends with exit code 130. Throws `Interrupted`
/// when a signal has come already.
class NothingToKeep {
 public:
  NothingToKeep();
  ~NothingToKeep();
  NothingToKeep(const NothingToKeep&) = delete;
  NothingToKeep& operator=(const NothingToKeep&) = delete;
};

}  // namespace signorini
