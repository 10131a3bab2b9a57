#pragma once

#include <string>

#include "base/function_ref.h"

/// Libraries that crash, print, never end, or take over handlers of signals work in a child process.
namespace signorini {

struct ChildOutput {
  std::string bytes;
  int status = -1;  ///< of waitpid; −1: no child process (errno says why), or nobody to ask
};

/// What `work` writes to the pipe that it is given. It runs in a forked child with the default handlers of signals, which ends when `work`
/// returns its exit code, without destructors or exit handlers of this process, and at the latest with the thread that called.
///
/// `work` must not take locks that other threads of this process may hold, apart from malloc's, and throws nothing.
ChildOutput output_of_child(FunctionRef<int(int pipe)> work);

}  // namespace signorini
