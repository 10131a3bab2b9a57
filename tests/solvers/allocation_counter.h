#pragma once

#include <atomic>
#include <cstddef>

/// Counts heap allocations of the whole process, Eigen's and the C library's included.
///
/// One source file of a test program defines SIGNORINI_DEFINE_ALLOCATION_COUNTER before including this
/// header. malloc and its relatives are then replaced by counting ones; under AddressSanitizer or
/// ThreadSanitizer, which own malloc, a hook of the sanitizer counts instead.
namespace signorini::test {

inline std::atomic<long long> allocation_count{0};

/// Allocations while `work` runs, on any thread.
template <class Work>
long long allocations_during(Work&& work) {
  const long long before = allocation_count.load();
  work();
  return allocation_count.load() - before;
}

}  // namespace signorini::test

#ifdef SIGNORINI_DEFINE_ALLOCATION_COUNTER
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                                         void (*on_free)(const volatile void*));
namespace signorini::test {
inline const int allocation_hook = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { allocation_count.fetch_add(1, std::memory_order_relaxed); },
    [](const volatile void*) {});
}  // namespace signorini::test
#else
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) noexcept {
  signorini::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  signorini::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  signorini::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  signorini::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return memalign(alignment, bytes); }
}
#endif
#endif
