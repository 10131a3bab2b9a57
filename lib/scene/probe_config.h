#pragma once

#include <string>

#include "base/options.h"
#include "linalg/types.h"
#include "scene/scene_keys.h"

namespace signorini {

/// What a probe measures of one body.
enum class Measure { place_m, travel_m, speed_m_s, extent_m, tilt_deg, turn_deg, spin_rad_s };
template <>
struct EnumNames<Measure> {
  static constexpr std::array<std::pair<Measure, std::string_view>, 7> value{
      {{Measure::place_m, "place_m"},
       {Measure::travel_m, "travel_m"},
       {Measure::speed_m_s, "speed_m_s"},
       {Measure::extent_m, "extent_m"},
       {Measure::tilt_deg, "tilt_deg"},
       {Measure::turn_deg, "turn_deg"},
       {Measure::spin_rad_s, "spin_rad_s"}}};
};

/// How the numbers of the bodies of a group become one.
enum class BodyReduction { max, min, mean, count };
template <>
struct EnumNames<BodyReduction> {
  static constexpr std::array<std::pair<BodyReduction, std::string_view>, 4> value{
      {{BodyReduction::max, "max"},
       {BodyReduction::min, "min"},
       {BodyReduction::mean, "mean"},
       {BodyReduction::count, "count"}}};
};

/// A table [probes.NAME]: NAME becomes a column of the statistics.
struct ProbeConfig {
  std::string body;
  Measure measure = Measure::travel_m;
  Vector3 direction = Vector3::Zero();
  BodyReduction over = BodyReduction::max;
  double above = 0.0;
  Vector3 min_m = Vector3::Constant(-1e30);
  Vector3 max_m = Vector3::Constant(1e30);

  template <class Visitor>
  void visit(Visitor& v) {
    v("body", body, "a name of [bodies]: the group that is watched");
    v("measure", measure,
      "of each body: place_m, travel_m (from the start), speed_m_s, extent_m, tilt_deg, turn_deg, "
      "spin_rad_s");
    v("direction", direction, Range::any,
      "component of place, travel, speed, extent and spin along it; axis whose tilt is meant; zero: the "
      "length");
    v("over", over, "over the bodies of the group: max, min, mean, count (of bodies above `above`)");
    v("above", above, Range::any, "what `count` counts from");
    v("min_m", min_m, Range::any, "only vertices that lie at the start within this box of the world …");
    v("max_m", max_m, Range::any, "… are watched; rigid bodies as a whole");
  }
};

}  // namespace signorini
