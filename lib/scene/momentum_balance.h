#pragma once

#include <span>
#include <vector>

#include "bodies/body_system.h"

/// The linear momentum of all free bodies over one step, from velocities v⁻ to v⁺. Forces within bodies and contacts
/// between them cancel in the sum over all nodes and centres of mass:
///
///     Σ m v⁺ − Σ m v⁻ = dt Σ m (g − α v) + Σ H r,   v = v⁺ (implicit) or v⁻ (explicit)
///
/// α: mass-proportional damping, 1/s. Of H r (contact impulses per block, N·s) only those of obstacles remain. The
/// defect over Σ m is the change of the mean velocity that nothing explains, m/s: 0 up to the tolerance of the linear
/// solves and rounding. It tests assembly, contact rows and the update of velocities, whatever the solver answered.
namespace signorini {

class MomentumBalance {
 public:
  /// `system` must outlive the use.
  explicit MomentumBalance(const BodySystem& system);

  enum class Damping { by_start, by_end };
  /// Per block: velocities before and after, m/s, and H r of those impulses that led to them.
  /// NaN where a node is pinned, a body is on an axle, or nothing is free: their forces are not counted.
  double error(std::span<const Vector3> before, std::span<const Vector3> after, std::span<const Vector3> load,
               double dt, const Vector3& gravity, Damping damping) const;

 private:
  std::vector<double> mass_;  ///< of nodes and centres of mass, kg; 0 for angular blocks
  std::span<const double> damping_;
  double total_ = 0.0;
  bool held_ = false;  ///< by pins or axles
};

}  // namespace signorini
