#pragma once

#include <cstdint>

#include "linalg/types.h"

/// Numbers in 16 bits, for pictures: what a replay holds of positions and residuals.
///
///   position   c_i = round((x_i − low_i) / step_i),  step = (high − low) / 65535 of a box around all points
///              |x_i − (low_i + step_i c_i)| ≤ step_i / 2
///   residual   0 ↦ 0; e ↦ 1 + round((log₁₀ e + 20) / 24 · 65533), held within 10⁻²⁰ … 10⁴: a relative error of at most
///              4.3e-4; 65535: not finite
///   axis       of a unit vector: round(32767 x_i)
namespace signorini {

class QuantisedBox {
 public:
  /// Around nothing yet.
  QuantisedBox() = default;
  void include(const Vector3& point);

  Vector3 low() const { return empty_ ? Vector3::Zero().eval() : low_; }
  /// Per axis; 0 where the box is flat. m
  Vector3 step() const;
  /// `axis` 0, 1, 2. The value lies in the box.
  std::uint16_t code(double value, int axis) const;
  double value(std::uint16_t code, int axis) const;

 private:
  bool empty_ = true;
  Vector3 low_ = Vector3::Zero(), high_ = Vector3::Zero();
};

inline constexpr std::uint16_t kNotFinite = 65535;
/// Of a residual ≥ 0.
std::uint16_t residual_code(double residual);
/// +∞ for `kNotFinite`.
double residual_of(std::uint16_t code);

std::int16_t axis_code(double component);

}  // namespace signorini
