#include "base/stages.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/check.h"

namespace signorini {
namespace {

/// What the threads share. The ticket holds the stage and how many of its indices were taken from the front and from the
/// back; whoever ends the last index of a stage opens the next one. Half of the threads begin at the front and half at the
/// back, in every stage and every loop: neighbours in memory mostly stay with one thread.
class StageTickets {
 public:
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << 22U) - 1;  ///< indices of a stage

  explicit StageTickets(std::span<const std::size_t> sizes) : sizes_(sizes) {}

  /// Takes part until all stages have ended.
  void work(bool from_back, FunctionRef<void(std::size_t, std::size_t)> body) {
    int waited = 0;
    while (true) {
      std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
      const std::size_t stage = ticket >> (2 * kBits), front = ticket >> kBits & kMost, back = ticket & kMost;
      if (stage == sizes_.size()) return;
      if (front + back == sizes_[stage]) {
        wait(++waited);
        continue;
      }
      const std::uint64_t taken = ticket + (from_back ? 1U : std::uint64_t{1} << kBits);
      if (!ticket_.compare_exchange_weak(ticket, taken, std::memory_order_acq_rel)) continue;
      waited = 0;
      body(stage, from_back ? sizes_[stage] - 1 - back : front);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < sizes_[stage]) continue;
      done_.store(0, std::memory_order_relaxed);
      ticket_.store(static_cast<std::uint64_t>(stage + 1) << (2 * kBits), std::memory_order_release);
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

  static constexpr unsigned kBits = 22;

  std::span<const std::size_t> sizes_;
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::size_t> done_{0};
};

}  // namespace

void for_each_stage(TaskArena& arena, std::span<const std::size_t> sizes,
                    FunctionRef<void(std::size_t, std::size_t)> body) {
  const std::size_t most = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
  SIGNORINI_CHECK(most <= StageTickets::kMost && sizes.size() < (std::size_t{1} << 20U));
  StageTickets tickets(sizes);
  arena.for_each_task(std::min<std::size_t>(arena.threads(), most),
                      [&](std::size_t) { tickets.work(place_in_arena() % 2 == 1, body); });
}

}  // namespace signorini
