#pragma once

#include <cstddef>
#include <span>

namespace signorini {

/// aᵀb. Four sums in a fixed order, so that the processor need not wait for one and the bits are always the
/// same.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < a.size(); ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

}  // namespace signorini
