#pragma once

#include <cstddef>

#include "linalg/block_kernels.h"

namespace signorini {

/// v_s += P_ks d for the slots s of contact k (body_rows.h); d is the change of r_k [N·s].
struct BodyResponse {
  kernel::BlockView A;     ///< J: slots of the contacts
  const double* response;  ///< P beside J, 1/kg
  double* v;               ///< m/s
};

template <kernel::Product product>
void respond_plain(const BodyResponse& body, std::ptrdiff_t k, const double* d) {
  if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) return;
  for (std::ptrdiff_t b = body.A.begin[k]; b < body.A.begin[k + 1]; ++b) {
    const double* p = body.response + 9 * b;
    double* v = body.v + 3 * static_cast<std::ptrdiff_t>(body.A.column[b]);
    for (int i = 0; i < 3; ++i) v[i] += kernel::row_from_the_right<product>(p, d, i);
  }
}

#ifdef SIGNORINI_X86

/// The same bits as `respond_plain` with fused products, for d ≠ 0; x: its three numbers, each in all lanes.
template <kernel::Source source>
SIGNORINI_AVX2_INLINE void respond_avx2(const BodyResponse& body, std::ptrdiff_t k, __m256d x0, __m256d x1,
                                        __m256d x2) {
  for (std::ptrdiff_t b = body.A.begin[k]; b < body.A.begin[k + 1]; ++b) {
    const double* p = body.response + 9 * b;
    kernel::prefetch<source>(p);
    const __m256d change = _mm256_fmadd_pd(
        _mm256_loadu_pd(p), x0,
        _mm256_fmadd_pd(_mm256_loadu_pd(p + 3), x1, _mm256_mul_pd(_mm256_loadu_pd(p + 6), x2)));
    kernel::add3(body.v + 3 * static_cast<std::ptrdiff_t>(body.A.column[b]), change);
  }
}

#endif

}  // namespace signorini
