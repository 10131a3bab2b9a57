#pragma once

#include <atomic>
#include <exception>

/// Ending long work early: a flag that someone else raises, a signal handler say, and that loops look at
/// where they look at the clock.
namespace signorini {

using CancelFlag = std::atomic<bool>;
static_assert(CancelFlag::is_always_lock_free, "signal handlers may only touch lock-free atomics");

/// False without a flag.
inline bool is_cancelled(const CancelFlag* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

/// Thrown by work that a raised flag has cut short: its result is void.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace signorini
