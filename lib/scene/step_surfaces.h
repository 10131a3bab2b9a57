#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collision/contact_finder.h"
#include "scene/edge_cones.h"
#include "scene/sub_step.h"

namespace signorini {

/// The surfaces of all bodies at both ends of a (sub-)step, x0 and the tentative x1, and what touches or
/// crosses between them. Pairs that no impulse can move are left out everywhere.
class StepSurfaces {
 public:
  /// `system` must outlive the object.
  StepSurfaces(const BodySystem& system, ContactFinder finder);

  /// x0 of the sub-step's state, and the candidates of all motions up to three times as far as that with
  /// `velocity` (per block, m/s).
  void begin(SubStep& sub, std::span<const Vector3> velocity);
  /// Tolerance pairs at x0 whose edges can be touched that way (scene/edge_cones.h), in `found`.
  void find_touching(SubStep& sub);
  /// `next` := the state after dt with `velocity`, x1 of it, and in `found` what crosses on the way from x0,
  /// known pairs too. Normals of edge–edge impacts that lean over a face become those of the face, unless
  /// the pair would then not approach. Surfaces that touch at x0 and part do not cross.
  void find_crossings(SubStep& sub, std::span<const Vector3> velocity);

  /// The contact's geometry at x1; nothing for edges that do not touch in this way there.
  std::optional<PairGeometry> tentative_geometry(const SurfaceContact& contact) const;

  const std::vector<SurfaceContact>& found() const { return found_; }  ///< ascending by key
  std::span<const Vector3> start() const { return x0_; }
  std::span<const Vector3> end() const { return x1_; }
  SystemState& next() { return next_; }

 private:
  bool separates(const SurfaceContact& contact) const;
  void clamp_normals();

  const BodySystem& system_;
  ContactFinder finder_;
  EdgeCones cones_;
  std::vector<Vector3> x0_, x1_, velocity_;  // per surface vertex
  std::vector<SurfaceContact> found_;
  SystemState next_;
};

}  // namespace signorini
