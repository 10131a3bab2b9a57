#include "python/interruptible.h"

#include <dlfcn.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "harness/environment.h"
#include "python/interpreter_lock.h"

namespace signorini::python {

namespace {

int running = 0;       // changed with the interpreter's lock only
int blas_threads = 0;  // of OpenBLAS before the first; 0: there is none

template <class Function>
Function* blas_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Alive while work runs.
class Working {
 public:
  Working() {
    if (running++ > 0) return;
    auto* const threads = blas_function<int()>("openblas_get_num_threads");
    blas_threads = threads == nullptr ? 0 : threads();
    limit_blas_threads();
  }
  ~Working() {
    if (--running > 0 || blas_threads == 0) return;
    auto* const set = blas_function<void(int)>("openblas_set_num_threads");
    if (set != nullptr) set(blas_threads);
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
};

}  // namespace

bool is_working() { return running > 0; }

void run_interruptible(FunctionRef<void(const CancelFlag&)> work) {
  const Working scope;
  CancelFlag cancelled{false};
  std::optional<py::error_already_set> signalled;
  std::packaged_task<void()> task([&] { work(cancelled); });
  std::future<void> result = task.get_future();
  {
    const Unlocked unlocked(&cancelled);  // first: it throws where the interpreter ends
    std::thread worker(std::move(task));
    while (result.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
      const py::gil_scoped_acquire lock;
      if (signalled || PyErr_CheckSignals() == 0) continue;
      signalled.emplace();
      cancelled = true;
    }
    worker.join();
  }
  if (signalled) throw py::error_already_set(*signalled);
  stop_when_ending();
  result.get();
}

}  // namespace signorini::python
