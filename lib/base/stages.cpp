#include "base/stages.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace signorini {
namespace {

/// What the threads share. The ticket holds the stage and its next index; whoever ends the last index of a stage opens the
/// next one.
class StageTickets {
 public:
  explicit StageTickets(std::span<const std::size_t> sizes) : sizes_(sizes) {}

  /// Takes part until all stages have ended.
  void work(FunctionRef<void(std::size_t, std::size_t)> body) {
    int waited = 0;
    while (true) {
      std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
      const std::size_t stage = ticket >> 32U, index = ticket & 0xFFFFFFFFU;
      if (stage == sizes_.size()) return;
      if (index == sizes_[stage]) {
        wait(++waited);
        continue;
      }
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
      waited = 0;
      body(stage, index);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < sizes_[stage]) continue;
      done_.store(0, std::memory_order_relaxed);
      ticket_.store(static_cast<std::uint64_t>(stage + 1) << 32U, std::memory_order_release);
    }
  }

 private:
  static void wait(int times) {
    constexpr int kSpins = 2000;  // some ten microseconds
    if (times >= kSpins) return std::this_thread::yield();
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  std::span<const std::size_t> sizes_;
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::size_t> done_{0};
};

}  // namespace

void for_each_stage(TaskArena& arena, std::span<const std::size_t> sizes,
                    FunctionRef<void(std::size_t, std::size_t)> body) {
  const std::size_t most = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
  StageTickets tickets(sizes);
  arena.for_each_task(std::min<std::size_t>(arena.threads(), most), [&](std::size_t) { tickets.work(body); });
}

}  // namespace signorini
