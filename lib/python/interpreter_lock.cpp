#include "python/interpreter_lock.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace signorini::python {

namespace {

// Read and changed with the interpreter's lock only.
bool is_ending = false;
std::vector<CancelFlag*> working;  // one for each `Unlocked`

void end_all() {
  using Clock = std::chrono::steady_clock;
  is_ending = true;
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (!working.empty() && Clock::now() < until) {
    for (CancelFlag* flag : working) {
      if (flag != nullptr) *flag = true;
    }
    const py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

void stop_when_ending() {
  if (!is_ending) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw py::error_already_set();
}

Unlocked::Unlocked(CancelFlag* cancelled) : cancelled_(cancelled), state_(nullptr) {
  stop_when_ending();
  working.push_back(cancelled_);
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  PyEval_RestoreThread(state_);
  working.erase(std::ranges::find(working, cancelled_));
}

void watch_for_end() { py::module_::import("atexit").attr("register")(py::cpp_function(&end_all)); }

}  // namespace signorini::python
