#pragma once

#include <exception>

/// SIGINT and SIGTERM ask politely: the run or step in flight is finished and everything on disk stays valid.
/// A second signal ends the process at once (what is on disk stays valid then, too).
namespace signorini {

/// Thrown between runs and steps once a signal has come; ends the program with exit code 130.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

void install_interrupt_handlers();
bool interrupted();
inline void stop_when_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace signorini
