#include "bodies/axle.h"

#include <cmath>

#include "base/check.h"

namespace signorini {

void Axle::validate(std::string_view context) const {
  if (!axis.allFinite() || !std::isfinite(torque) || !std::isfinite(speed) || !std::isfinite(slope))
    throw_usage("{}: an axle needs finite numbers", context);
  if (!(axis.norm() > 0.0)) throw_usage("{}: the axle's axis has length 0; give a direction", context);
  if (slope < 0.0) throw_usage("{}: the drive's slope {} N·m·s is negative", context, slope);
}

}  // namespace signorini
