#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "collision/aabb.h"

#ifdef __SSE__
#include <immintrin.h>
#endif

/// Axis-aligned boxes of floats, rounded outward: half the memory of `Aabb` and one compare per corner.
namespace signorini {

/// Lanes 0 … 2 are the low corner, 4 … 6 the high one (m); lanes 3 and 7 are padding. A default box is empty.
struct alignas(32) FloatBox {
  float lane[8] = {kInfinity, kInfinity, kInfinity, 0.0F, -kInfinity, -kInfinity, -kInfinity, 0.0F};

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float low(int d) const { return lane[d]; }
  float high(int d) const { return lane[d + 4]; }
  void extend(const FloatBox& other) {
    for (int d = 0; d < 4; ++d) {
      lane[d] = lane[d] < other.lane[d] ? lane[d] : other.lane[d];
      lane[d + 4] = lane[d + 4] > other.lane[d + 4] ? lane[d + 4] : other.lane[d + 4];
    }
  }
  /// Half the surface, m²; 0 for an empty box.
  double half_area() const {
    const double a = lane[4] - lane[0], b = lane[5] - lane[1], c = lane[6] - lane[2];
    return a >= 0.0 ? a * b + b * c + c * a : 0.0;
  }
};

/// The largest float step below (above) |x| at x: for |x| < 1e30 the result is ≤ x (≥ x), and off by no more
/// than two units in the last place of a float.
inline float rounded_down(double x) { return static_cast<float>(x - (std::abs(x) * 0x1p-23 + 0x1p-126)); }
inline float rounded_up(double x) { return static_cast<float>(x + (std::abs(x) * 0x1p-23 + 0x1p-126)); }

inline FloatBox float_box(const Vector3& low, const Vector3& high) {
  FloatBox box;
  for (int d = 0; d < 3; ++d) {
    box.lane[d] = rounded_down(low[d]);
    box.lane[d + 4] = rounded_up(high[d]);
  }
  return box;
}

/// Boxes that touch overlap.
inline bool overlap(const FloatBox& a, const FloatBox& b) {
#ifdef __SSE__
  const __m128 first = _mm_cmple_ps(_mm_load_ps(a.lane), _mm_load_ps(b.lane + 4));
  const __m128 second = _mm_cmple_ps(_mm_load_ps(b.lane), _mm_load_ps(a.lane + 4));
  return (_mm_movemask_ps(_mm_and_ps(first, second)) & 7) == 7;
#else
  bool inside = true;
  for (int d = 0; d < 3; ++d) inside = inside && a.lane[d] <= b.lane[d + 4] && b.lane[d] <= a.lane[d + 4];
  return inside;
#endif
}

/// Whether `inner` lies in `outer`; an empty box lies in every box.
inline bool contains(const FloatBox& outer, const FloatBox& inner) {
#ifdef __SSE__
  const __m128 first = _mm_cmple_ps(_mm_load_ps(outer.lane), _mm_load_ps(inner.lane));
  const __m128 second = _mm_cmple_ps(_mm_load_ps(inner.lane + 4), _mm_load_ps(outer.lane + 4));
  return (_mm_movemask_ps(_mm_and_ps(first, second)) & 7) == 7;
#else
  bool inside = true;
  for (int d = 0; d < 3; ++d)
    inside = inside && outer.lane[d] <= inner.lane[d] && inner.lane[d + 4] <= outer.lane[d + 4];
  return inside;
#endif
}

/// Eight boxes by coordinate, to be tested at once: low x, y, z, high x, y, z. Empty where there is no box.
struct alignas(32) FloatBoxes8 {
  float lane[6][8];

  FloatBoxes8() { clear(); }
  void clear() {
    for (int d = 0; d < 6; ++d) {
      for (float& l : lane[d]) l = d < 3 ? FloatBox::kInfinity : -FloatBox::kInfinity;
    }
  }
  void set(std::size_t i, const FloatBox& box) {
    for (int d = 0; d < 3; ++d) {
      lane[d][i] = box.low(d);
      lane[d + 3][i] = box.high(d);
    }
  }
};

/// A box laid out for tests against several others.
class BoxProbe {
 public:
  explicit BoxProbe(const FloatBox& box) {
    for (int d = 0; d < 3; ++d) {
#ifdef __SSE__
      low_[d] = _mm_set1_ps(box.low(d));
      high_[d] = _mm_set1_ps(box.high(d));
#else
      low_[d] = box.low(d);
      high_[d] = box.high(d);
#endif
    }
  }
  /// Bit i is set when box i overlaps.
  unsigned overlaps(const FloatBoxes8& boxes) const {
    const float* const lanes[6] = {boxes.lane[0], boxes.lane[1], boxes.lane[2],
                                   boxes.lane[3], boxes.lane[4], boxes.lane[5]};
    return four(lanes, 0) | four(lanes, 4) << 4U;
  }
  /// Of the boxes first … first + 3, by coordinate as in `FloatBoxes8`.
  unsigned four(const float* const lanes[6], std::size_t first) const {
#ifdef __SSE__
    __m128 inside = _mm_cmple_ps(low_[0], _mm_loadu_ps(lanes[3] + first));
    inside = _mm_and_ps(inside, _mm_cmple_ps(_mm_loadu_ps(lanes[0] + first), high_[0]));
    for (int d = 1; d < 3; ++d) {
      inside = _mm_and_ps(inside, _mm_cmple_ps(low_[d], _mm_loadu_ps(lanes[d + 3] + first)));
      inside = _mm_and_ps(inside, _mm_cmple_ps(_mm_loadu_ps(lanes[d] + first), high_[d]));
    }
    return static_cast<unsigned>(_mm_movemask_ps(inside));
#else
    unsigned mask = 0;
    for (unsigned i = 0; i < 4; ++i) {
      bool inside = true;
      for (int d = 0; d < 3; ++d)
        inside = inside && low_[d] <= lanes[d + 3][first + i] && lanes[d][first + i] <= high_[d];
      mask |= static_cast<unsigned>(inside) << i;
    }
    return mask;
#endif
  }

 private:
#ifdef __SSE__
  __m128 low_[3], high_[3];
#else
  float low_[3], high_[3];
#endif
};

}  // namespace signorini
