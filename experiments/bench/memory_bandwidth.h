#pragma once

#include <cstddef>
#include <span>

#include "linalg/simd.h"

#ifdef SIGNORINI_X86
#include <immintrin.h>
#endif

/// Read bandwidth as the yardstick of streaming kernels: the fastest of several plain sums over an array, so
/// that a kernel is never flattered by a slow yardstick.
namespace signorini::bench {

inline double sum_portable(std::span<const double> a) {
  double s[8] = {};
  for (std::size_t i = 0; i + 8 <= a.size(); i += 8) {
    for (std::size_t j = 0; j < 8; ++j) s[j] += a[i + j];
  }
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

#ifdef SIGNORINI_X86

template <int prefetch_bytes>
SIGNORINI_AVX2 double sum_avx2(std::span<const double> a) {
  __m256d s[8];
  for (__m256d& part : s) part = _mm256_setzero_pd();
  for (std::size_t i = 0; i + 32 <= a.size(); i += 32) {
    for (std::size_t j = 0; j < 8; ++j) {
      const double* at = a.data() + i + 4 * j;
      if (prefetch_bytes > 0 && j % 2 == 0) {
        _mm_prefetch(reinterpret_cast<const char*>(at) + prefetch_bytes, _MM_HINT_T0);
      }
      s[j] = _mm256_add_pd(s[j], _mm256_loadu_pd(at));
    }
  }
  for (std::size_t j = 1; j < 8; ++j) s[0] = _mm256_add_pd(s[0], s[j]);
  alignas(32) double lanes[4];
  _mm256_store_pd(lanes, s[0]);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

__attribute__((target("avx512f"))) inline double sum_avx512(std::span<const double> a) {
  __m512d s[8];
  for (__m512d& part : s) part = _mm512_setzero_pd();
  for (std::size_t i = 0; i + 64 <= a.size(); i += 64) {
    for (std::size_t j = 0; j < 8; ++j) s[j] = _mm512_add_pd(s[j], _mm512_loadu_pd(a.data() + i + 8 * j));
  }
  for (std::size_t j = 1; j < 8; ++j) s[0] = _mm512_add_pd(s[0], s[j]);
  alignas(64) double lanes[8];
  _mm512_store_pd(lanes, s[0]);
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

#endif

using Reader = double (*)(std::span<const double>);

/// All readers that this processor can run.
inline std::span<const Reader> readers() {
#ifdef SIGNORINI_X86
  static constexpr Reader all[] = {sum_portable, sum_avx2<0>, sum_avx2<4096>, sum_avx512};
  if (__builtin_cpu_supports("avx512f")) return all;
  if (best_isa() == Isa::avx2) return std::span<const Reader>(all).first(3);
  return std::span<const Reader>(all).first(1);
#else
  static constexpr Reader all[] = {sum_portable};
  return all;
#endif
}

}  // namespace signorini::bench
