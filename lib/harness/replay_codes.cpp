#include "harness/replay_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace signorini {
namespace {

constexpr double kLargestCode = 65535.0;
constexpr double kLowestDecade = -20.0, kDecades = 24.0, kResidualCodes = 65533.0;

}  // namespace

void QuantisedBox::include(const Vector3& point) {
  low_ = empty_ ? point : Vector3(low_.cwiseMin(point));
  high_ = empty_ ? point : Vector3(high_.cwiseMax(point));
  empty_ = false;
}

Vector3 QuantisedBox::step() const { return (high_ - low_) / kLargestCode; }

std::uint16_t QuantisedBox::code(double value, int axis) const {
  const double step = (high_[axis] - low_[axis]) / kLargestCode;
  if (!(step > 0.0)) return 0;
  return static_cast<std::uint16_t>(std::clamp(std::round((value - low_[axis]) / step), 0.0, kLargestCode));
}

double QuantisedBox::value(std::uint16_t code, int axis) const { return low()[axis] + step()[axis] * code; }

std::uint16_t residual_code(double residual) {
  if (!std::isfinite(residual)) return kNotFinite;
  if (residual <= 0.0) return 0;
  const double share = std::clamp((std::log10(residual) - kLowestDecade) / kDecades, 0.0, 1.0);
  return static_cast<std::uint16_t>(1.0 + std::round(share * kResidualCodes));
}

double residual_of(std::uint16_t code) {
  if (code == 0) return 0.0;
  if (code == kNotFinite) return std::numeric_limits<double>::infinity();
  return std::pow(10.0, kLowestDecade + kDecades * (code - 1) / kResidualCodes);
}

std::int16_t axis_code(double component) {
  return static_cast<std::int16_t>(std::round(32767.0 * std::clamp(component, -1.0, 1.0)));
}

}  // namespace signorini
