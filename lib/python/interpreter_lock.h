#pragma once

#include "base/cancellation.h"
#include "python/bindings.h"

namespace signorini::python {

/// Alive while a call works without the interpreter's lock; other threads of Python go on meanwhile.
///
/// A thread that waits for the lock when the interpreter ends is torn down in the midst of C++, which aborts the process.
/// So the end waits until no call works, ten seconds at most; calls that can be cancelled are. Afterwards the constructor
/// throws SystemExit, which ends a thread of Python without a word.
class Unlocked {
 public:
  /// `cancelled`: raised when the interpreter ends; may be null.
  explicit Unlocked(CancelFlag* cancelled = nullptr);
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  CancelFlag* cancelled_;
  PyThreadState* state_;
};

/// Throws SystemExit where the interpreter is about to end. With the lock.
void stop_when_ending();
/// Called once, when the module is loaded.
void watch_for_end();

}  // namespace signorini::python
