#pragma once

#include "base/cancellation.h"
#include "base/function_ref.h"

namespace signorini::python {

/// Runs `work` on a thread of its own while this one waits without the interpreter's lock, so that other threads of Python
/// go on and Ctrl-C raises the flag within a tenth of a second. What `work` or the signal's handler throws is thrown here,
/// with the lock.
///
/// While any work runs, BLAS has one thread, as in the program: the bits of a factor must not depend on its number.
void run_interruptible(FunctionRef<void(const CancelFlag&)> work);

/// Whether any work is running. With the interpreter's lock.
bool is_working();

}  // namespace signorini::python
