#include "scene/scene_bodies.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>

#include "scene/shapes/registry.h"

namespace signorini {

namespace {

void check_axis(const Vector3& rotation_axis) {
  if (rotation_axis.norm() == 0.0) throw KeyError("rotation_axis", "has no length");
}

}  // namespace

BodyKind kind_of(MaterialModel model) {
  if (is_elastic(model)) return BodyKind::elastic;
  if (model == MaterialModel::rigid) return BodyKind::rigid;
  return model == MaterialModel::cloth ? BodyKind::cloth : BodyKind::springs;
}

std::string body_shapes() {
  std::string text;
  for (const BodyKind kind : {BodyKind::elastic, BodyKind::rigid, BodyKind::cloth, BodyKind::springs}) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", enum_name(kind),
                        fmt::join(shape_names({kind}), ", "));
  }
  return text;
}

std::string obstacle_shapes() {
  return fmt::format("{}", fmt::join(shape_names({BodyKind::obstacle}), ", "));
}

int BodyConfig::bodies() const {
  if (count > 0) return count;
  if (arrangement == Arrangement::grid) return grid[0] * grid[1] * grid[2];
  return std::max(1, shape->series());
}

void BodyConfig::validate() const {
  shape->validate();
  const long long places = 1LL * grid[0] * grid[1] * grid[2];
  if (arrangement == Arrangement::grid && (places > kMaxCount || count > places)) {
    throw KeyError("count", fmt::format("= {} are more bodies than the grid has places ({})", count, places));
  }
  check_axis(rotation_axis);
}

void ObstacleConfig::validate() const {
  shape->validate();
  check_axis(rotation_axis);
}

void PinConfig::validate() const {
  if ((max_m - min_m).minCoeff() < 0.0) throw KeyError("max_m", "lies below min_m");
}

void AxleConfig::validate() const {
  if (axis.norm() == 0.0) throw KeyError("axis", "has no length");
}

Motion MotionConfig::motion() const {
  Motion motion;
  motion.pivot = pivot_m;
  motion.axis = axis;
  motion.velocity = velocity_m_s;
  motion.spin = spin_rad_s;
  motion.amplitude = amplitude_m;
  motion.frequency = frequency_hz;
  motion.start = start_s;
  motion.stop = stop_s;
  motion.key_time = key_time_s;
  motion.key_displacement = key_displacement_m;
  for (const double angle : key_angle_deg) motion.key_angle.push_back(angle * std::numbers::pi / 180.0);
  return motion;
}

}  // namespace signorini
