#pragma once

#include "base/cancellation.h"

/// SIGINT and SIGTERM ask politely: the solve in flight is cut short, what was finished before it is kept,
/// and everything on disk stays valid. A second signal ends the process at once (what is on disk stays valid
/// then, too).
namespace signorini {

/// Thrown once a signal has come; ends the program with exit code 130.
using Interrupted = Cancelled;

void install_interrupt_handlers();
bool interrupted();
/// Raised by the signals; for whatever takes a flag to look at.
const CancelFlag* interrupt_flag();
inline void stop_when_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace signorini
