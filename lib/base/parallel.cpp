#include "base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/check.h"

namespace signorini {

namespace {

constexpr int kMaxThreads = 1024;
constexpr std::size_t kMaxShares = 32;
constexpr std::size_t kMaxChunks = 0xFFFFFFFF;

/// A thread's own part [first, end) of the chunks of a loop: it takes them in ascending order, others that
/// are done with theirs take from the end. Loops over the same arrays so find most of their data in the cache
/// of the thread that touched them last.
class alignas(64) ChunkShare {
 public:
  void set(std::size_t first, std::size_t end) { range_.store(pack(first, end), std::memory_order_relaxed); }
  std::optional<std::size_t> take_first() { return take(1, 0); }
  std::optional<std::size_t> take_last() { return take(0, 1); }

 private:
  static std::uint64_t pack(std::uint64_t first, std::uint64_t end) { return first << 32U | end; }
  std::optional<std::size_t> take(std::uint64_t from_front, std::uint64_t from_back) {
    std::uint64_t range = range_.load(std::memory_order_relaxed);
    while (true) {
      const std::uint64_t first = range >> 32U, end = range & 0xFFFFFFFFU;
      if (first >= end) return {};
      if (range_.compare_exchange_weak(range, pack(first + from_front, end - from_back),
                                       std::memory_order_relaxed))
        return from_front > 0 ? first : end - 1;
    }
  }
  std::atomic<std::uint64_t> range_{0};
};

}  // namespace

struct TaskArena::Impl {
  explicit Impl(int threads)
      : permission(tbb::global_control::max_allowed_parallelism, std::max(threads, hardware_threads())),
        arena(threads) {}
  // TBB caps arenas at the number of cores unless this is raised first.
  tbb::global_control permission;
  tbb::task_arena arena;
  std::atomic<int> busiest{1};
  std::atomic<bool> alone{false};
  std::chrono::steady_clock::time_point alone_until;

  bool is_alone() {
    if (!alone.load(std::memory_order_relaxed)) return false;
    if (std::chrono::steady_clock::now() < alone_until) return true;
    alone.store(false, std::memory_order_relaxed);
    return false;
  }

  void note(std::size_t workers) {
    const int now = static_cast<int>(workers);
    int most = busiest.load(std::memory_order_relaxed);
    while (most < now && !busiest.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
};

TaskArena::TaskArena(int threads) {
  if (threads < 1 || threads > kMaxThreads)
    throw_usage("threads: {} is not between 1 and {}", threads, kMaxThreads);
  impl_ = std::make_unique<Impl>(threads);
}

TaskArena::~TaskArena() = default;
TaskArena::TaskArena(TaskArena&&) noexcept = default;
TaskArena& TaskArena::operator=(TaskArena&&) noexcept = default;

int TaskArena::threads() const { return impl_->arena.max_concurrency(); }

int TaskArena::busiest() const { return impl_->busiest.load(std::memory_order_relaxed); }

void TaskArena::forget_busiest() { impl_->busiest.store(1, std::memory_order_relaxed); }

void TaskArena::begin_alone(double seconds) {
  impl_->alone_until =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  impl_->alone.store(seconds > 0.0, std::memory_order_relaxed);
}

void TaskArena::execute(FunctionRef<void()> work) { impl_->arena.execute(work); }

void TaskArena::for_each_task(std::size_t n, FunctionRef<void(std::size_t)> body) {
  if (threads() == 1 || n <= 1 || impl_->is_alone()) {
    for (std::size_t i = 0; i < n; ++i) body(i);
    return;
  }
  // Tasks take the next index from a counter: indices start in ascending order whatever TBB does with ranges.
  std::atomic<std::size_t> next{0};
  const int workers = static_cast<int>(std::min<std::size_t>(n, threads()));
  impl_->note(workers);
  impl_->arena.execute([&] {
    tbb::parallel_for(
        0, workers,
        [&](int) {
          for (std::size_t i = next.fetch_add(1); i < n; i = next.fetch_add(1)) body(i);
        },
        tbb::simple_partitioner{});
  });
}

void TaskArena::for_chunks(std::size_t n, std::size_t grain,
                           FunctionRef<void(std::size_t, std::size_t)> body) {
  SIGNORINI_CHECK(grain > 0);
  const std::size_t chunks = (n + grain - 1) / grain;
  const auto chunk = [&](std::size_t c) { body(c * grain, std::min(n, (c + 1) * grain)); };
  const std::size_t workers = impl_->is_alone() ? 1 : std::min<std::size_t>(chunks, threads());
  if (workers <= 1) {
    for (std::size_t c = 0; c < chunks; ++c) chunk(c);
    return;
  }
  if (workers > kMaxShares || chunks > kMaxChunks) return for_each_task(chunks, chunk);
  std::array<ChunkShare, kMaxShares> share;
  impl_->note(workers);
  for (std::size_t w = 0; w < workers; ++w) share[w].set(chunks * w / workers, chunks * (w + 1) / workers);
  impl_->arena.execute([&] {
    tbb::parallel_for(
        0, static_cast<int>(workers),
        [&](int) {
          const std::size_t self = static_cast<std::size_t>(place_in_arena()) % workers;
          while (const auto c = share[self].take_first()) chunk(*c);
          for (std::size_t other = 1; other < workers; ++other) {
            while (const auto c = share[(self + other) % workers].take_last()) chunk(*c);
          }
        },
        tbb::simple_partitioner{});
  });
}

double TaskArena::deterministic_sum(std::size_t n, std::size_t grain,
                                    FunctionRef<double(std::size_t, std::size_t)> partial) {
  SIGNORINI_CHECK(grain > 0);
  double sum = 0.0;
  const auto add = [&] {
    sum = tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, n, grain), 0.0,
        [&](const tbb::blocked_range<std::size_t>& range, double start) {
          return start + partial(range.begin(), range.end());
        },
        [](double a, double b) { return a + b; });
  };
  if (impl_->is_alone()) {
    tbb::task_arena(1).execute(add);  // the same tree of sums
    return sum;
  }
  impl_->note(std::min<std::size_t>((n + grain - 1) / grain, threads()));
  impl_->arena.execute(add);
  return sum;
}

int place_in_arena() { return std::max(0, tbb::this_task_arena::current_thread_index()); }

int hardware_threads() { return std::max(1, tbb::info::default_concurrency()); }

}  // namespace signorini
