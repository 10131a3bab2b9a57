#pragma once

#include <cstddef>
#include <memory>

#include "base/function_ref.h"

/// The only door to oneTBB for headers. Work inside runs in an arena of exactly the asked number of threads
/// (more than the machine has cores is allowed: tests compare 1, 2, 4 and 8 threads on two cores).
namespace signorini {

class TaskArena {
 public:
  /// `threads` ≥ 1; throws `UsageError` otherwise.
  explicit TaskArena(int threads);
  ~TaskArena();
  TaskArena(TaskArena&&) noexcept;
  TaskArena& operator=(TaskArena&&) noexcept;

  int threads() const;
  /// Most threads that one loop was shared among since the last `forget_busiest`; 1: none was worth sharing.
  int busiest() const;
  void forget_busiest();
  /// Loops that begin within the next `seconds` stay on the calling thread, with the same bits: to wake the others is not
  /// worth it for short work. No loop may be running.
  void begin_alone(double seconds);
  /// Runs `work` inside the arena and waits.
  void execute(FunctionRef<void()> work);
  /// body(i) for i in [0, n), every i its own task, started in ascending order of i as threads become free.
  /// With one thread this is a plain loop. Exceptions of a body are rethrown here.
  void for_each_task(std::size_t n, FunctionRef<void(std::size_t)> body);
  /// body(begin, end) over [0, n) in chunks of `grain`; chunk boundaries never depend on the number of
  /// threads.
  void for_chunks(std::size_t n, std::size_t grain, FunctionRef<void(std::size_t, std::size_t)> body);
  /// Sum over chunks of `grain`; the order of additions is fixed, so the bits do not depend on the number of
  /// threads.
  double deterministic_sum(std::size_t n, std::size_t grain,
                           FunctionRef<double(std::size_t, std::size_t)> partial);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// `arena->for_each_task`, or a plain loop on the calling thread where there is no arena.
inline void for_each_task(TaskArena* arena, std::size_t n, FunctionRef<void(std::size_t)> body) {
  if (arena != nullptr) return arena->for_each_task(n, body);
  for (std::size_t i = 0; i < n; ++i) body(i);
}

/// `arena->for_chunks`, or the same chunks one after the other where there is no arena.
inline void for_each_chunk(TaskArena* arena, std::size_t n, std::size_t grain,
                           FunctionRef<void(std::size_t, std::size_t)> body) {
  if (arena != nullptr) return arena->for_chunks(n, grain, body);
  for (std::size_t begin = 0; begin < n; begin += grain) body(begin, n - begin < grain ? n : begin + grain);
}

/// The place of the calling thread among those of the arena whose work it does; 0 outside of one. A thread mostly keeps it
/// from loop to loop: loops over the same data can give each its part, which is in its cache.
int place_in_arena();

/// Number of hardware threads the process may use (affinity respected), ≥ 1.
int hardware_threads();

}  // namespace signorini
