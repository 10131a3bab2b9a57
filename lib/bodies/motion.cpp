#include "bodies/motion.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace signorini {

namespace {

/// Linear interpolation of `values` over `times`, constant outside. Both have the same length ≥ 1.
template <class T>
T interpolated(const std::vector<double>& times, const std::vector<T>& values, double t) {
  const auto next = std::upper_bound(times.begin(), times.end(), t);
  if (next == times.begin()) return values.front();
  if (next == times.end()) return values.back();
  const std::size_t i = next - times.begin();
  const double s = (t - times[i - 1]) / (times[i] - times[i - 1]);
  return (1.0 - s) * values[i - 1] + s * values[i];
}

void check_finite(std::string_view context, const char* name, const Vector3& x) {
  if (!x.allFinite())
    throw_usage("{}: motion {} ({}, {}, {}) is not finite", context, name, x[0], x[1], x[2]);
}

void check_finite(std::string_view context, const char* name, double x) {
  if (!std::isfinite(x)) throw_usage("{}: motion {} {} is not finite", context, name, x);
}

void check_keys(std::string_view context, const char* name, std::size_t values, std::size_t times) {
  if (values != 0 && values != times) {
    throw_usage("{}: motion has {} key times and {} {}; give one per key time", context, times, values, name);
  }
}

}  // namespace

bool Motion::is_static() const {
  const bool moves = !velocity.isZero(0.0) || spin != 0.0 || (!amplitude.isZero(0.0) && frequency != 0.0);
  return (!moves || !(stop > start)) &&
         std::all_of(key_displacement.begin(), key_displacement.end(),
                     [](const Vector3& d) { return d.isZero(0.0); }) &&
         std::all_of(key_angle.begin(), key_angle.end(), [](double angle) { return angle == 0.0; });
}

MotionTransform Motion::transform(double time) const {
  const double tau = std::clamp(time, start, stop) - start;
  Vector3 shift = velocity * tau + amplitude * std::sin(2.0 * std::numbers::pi * frequency * tau);
  double angle = spin * tau;
  if (!key_displacement.empty()) shift += interpolated(key_time, key_displacement, time);
  if (!key_angle.empty()) angle += interpolated(key_time, key_angle, time);
  MotionTransform result;
  if (angle != 0.0) result.rotation = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
  result.translation = shift;
  // Without a turn the pivot must not leave its rounding in the positions.
  if (angle != 0.0) result.translation += pivot - result.rotation * pivot;
  return result;
}

Vector3 Motion::position(const Vector3& at_start, double time) const {
  const MotionTransform at = transform(time);
  return at.rotation * at_start + at.translation;
}

void Motion::validate(std::string_view context) const {
  check_finite(context, "pivot", pivot);
  check_finite(context, "axis", axis);
  check_finite(context, "velocity", velocity);
  check_finite(context, "amplitude", amplitude);
  check_finite(context, "spin", spin);
  check_finite(context, "frequency", frequency);
  check_finite(context, "start", start);
  check_finite(context, "stop", stop);
  for (const double t : key_time) check_finite(context, "key time", t);
  for (const Vector3& d : key_displacement) check_finite(context, "key displacement", d);
  for (const double angle : key_angle) check_finite(context, "key angle", angle);
  if (!(axis.norm() > 0.0)) throw_usage("{}: motion axis has length 0; give a direction", context);
  if (frequency < 0.0) throw_usage("{}: motion frequency {} Hz is negative", context, frequency);
  if (stop < start) throw_usage("{}: motion stops at {} s, before its start at {} s", context, stop, start);
  for (std::size_t i = 1; i < key_time.size(); ++i) {
    if (!(key_time[i] > key_time[i - 1])) {
      throw_usage("{}: motion key times must ascend: {} s comes after {} s", context, key_time[i],
                  key_time[i - 1]);
    }
  }
  check_keys(context, "key displacements", key_displacement.size(), key_time.size());
  check_keys(context, "key angles", key_angle.size(), key_time.size());
  if (!key_time.empty() && key_displacement.empty() && key_angle.empty()) {
    throw_usage("{}: motion has {} key times but neither displacements nor angles", context, key_time.size());
  }
}

}  // namespace signorini
