#include "scene/momentum_balance.h"

#include <limits>

namespace signorini {

MomentumBalance::MomentumBalance(const BodySystem& system)
    : mass_(system.blocks(), 0.0), damping_(system.damping()), held_(system.has_axles()) {
  std::vector<Matrix3> blocks(system.blocks());
  system.mass_blocks(system.start(), blocks);
  for (Index b = 0; b < system.blocks(); ++b) {
    held_ = held_ || system.is_prescribed(b);
    if (!system.is_angular(b)) mass_[b] = blocks[b](0, 0);
    total_ += mass_[b];
  }
}

double MomentumBalance::error(std::span<const Vector3> before, std::span<const Vector3> after,
                              std::span<const Vector3> load, double dt, const Vector3& gravity,
                              Damping damping) const {
  if (held_ || !(total_ > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  const std::span<const Vector3> damped = damping == Damping::by_end ? after : before;
  Vector3 defect = Vector3::Zero();
  for (std::size_t b = 0; b < mass_.size(); ++b) {
    if (!(mass_[b] > 0.0)) continue;
    const Vector3 change = after[b] - before[b] - dt * (gravity - damping_[b] * damped[b]);
    defect += mass_[b] * change - load[b];
  }
  return defect.norm() / total_;
}

}  // namespace signorini
