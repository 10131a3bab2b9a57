#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "bodies/surface_model.h"
#include "collision/broad_phase.h"
#include "collision/contact_detection.h"
#include "collision/surface_contact.h"

/// Edge–edge contacts between different bodies for explicit steps, beside the points against triangles of
/// collision/contact_detection.h: without them two bodies whose edges cross pass through each other where no
/// vertex meets a face.
///
/// Edges a and b can be in contact at positions x where the closest points of their lines lie inside both, and
/// one of the two unit vectors n = ± e_a × e_b / ‖e_a × e_b‖ points out of b and −n out of a. A direction d
/// points out of an edge with faces i of outer unit normals N_i, m_i the unit vector in face i that is
/// orthogonal to the edge and points into the face, if
///
///     d · Σ_i N_i > 0   and   d · m_i ≤ 0.01 for each i
///
/// So n does not depend on which edge is above the other. With signed weights w_i (collision/surface_contact.h)
///
///     gap = n · Σ_i w_i x_i       in m; negative where the edges have crossed
///
/// Which pairs are contacts: see `EdgeDetector::detect`.
namespace signorini {

class EdgeDetector {
 public:
  /// `surface` must outlive the detector. `start`: positions of its vertices. Edges that cannot be touched, as
  /// inside a flat face or at the bottom of a groove, are left out here for bodies that do not deform.
  EdgeDetector(const SurfaceModel& surface, std::span<const Vector3> start,
               const DetectionSettings& settings);

  /// Pairs with −depth ≤ gap whose gap is ≤ δ or would be closed within the step by the free velocities, and
  /// that do not separate: min(u_N⁻, u_N free) ≤ rest_speed. A pair that cannot be in contact at the start of
  /// the step is looked at where the free velocities take it; it is one if its edges meet on the way there, from
  /// gap ≥ 0 to gap ≤ 0, and has the normal and the weights of the end. Ascending by key; the same for any number of
  /// threads. `motion` has a value per surface vertex.
  const std::vector<SurfaceContact>& detect(TaskArena& arena, const NodeMotion& motion);
  /// Of the last `detect`.
  const std::vector<SurfaceContact>& contacts() const { return contacts_; }

 private:
  void build_boxes(TaskArena& arena, const NodeMotion& motion);
  bool can_touch(Index body_a, Index body_b) const;
  bool points_out(Index edge, const Vector3& d, std::span<const Vector3> x) const;
  bool place(SurfaceContact& contact, std::span<const Vector3> x) const;
  bool place_at_end(SurfaceContact& contact, std::span<const Vector3> x) const;
  bool is_contact(SurfaceContact& contact, const NodeMotion& motion) const;

  const SurfaceModel& surface_;
  DetectionSettings settings_;
  std::vector<std::array<Index, 2>> faces_;  // of every edge, −1 where there is none
  std::vector<Index> edges_;                 // that can be touched
  std::vector<Vector3> end_;                 // where the free velocities take every vertex
  std::vector<Aabb> box_, body_box_, hashed_box_;
  std::vector<Index> hashed_;  // edge behind each hashed box
  SpatialHash hash_;
  std::vector<std::vector<SurfaceContact>> found_;  // per task
  std::vector<SurfaceContact> contacts_;
};

}  // namespace signorini
