#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "bodies/surface_model.h"
#include "collision/candidate_pairs.h"
#include "collision/surface_contact.h"

/// Vertex–face and edge–edge contacts of all surfaces, self-collision included: tolerance pairs at the start
/// of a step, crossings between two states, and the independent check that a state is free of intersections.
///
/// Candidates (collision/candidate_pairs.h). Every vertex gets the box [x, x + 3 dt v] grown by δ (Verschoor
/// and Jalba 2019, section 5.1); pairs of features whose boxes overlap are tested. Where vertices
/// leave their boxes in a later state, `proximity` and `crossings` ask again for the features that left
/// (their section 5.2). So what they return depends on the states alone, whatever the motion: not on the
/// candidates, the broad phase, earlier calls or the number of threads.
///
/// Sides. The normal of a pair is on the side of feature a. Where a feature belongs to a closed surface, its
/// faces tell in addition which side is outside: a pair seen through the inside of a closed body is no
/// contact (something nearer stands between), and at a gap within 1 % of δ the outside decides on the
/// direction, so that rounding cannot turn a resting contact over; its gap may be negative then.
///
/// All positions must be finite and within 10¹⁵ m; `InputError` names the first vertex that is not.
namespace signorini {

struct FinderSettings {
  double tolerance = 1e-3;  ///< δ: pairs closer than this are contacts, m
  BroadPhase broad_phase = BroadPhase::bvh;
  double look_ahead = 3.0;  ///< multiple of dt v in the boxes
  /// Pairs of edges too. Without them surfaces can pass through each other between their vertices.
  bool edges = true;
  /// Candidates are kept while they hold all that the next step needs (see `update_candidates`).
  bool keep_candidates = true;
};

/// Of the candidate lists as they are, with what was added for vertices that left their boxes.
struct CandidateCounts {
  long long vertex_face = 0, edge_edge = 0;
};

/// Where two surfaces pass through each other.
struct Intersection {
  Index edge = -1, triangle = -1;
  Index edge_body = -1, triangle_body = -1;
  Vector3 position = Vector3::Zero();  ///< m
};

class ContactFinder {
 public:
  /// `surface` must outlive the finder.
  ContactFinder(const SurfaceModel& surface, const FinderSettings& settings);
  ~ContactFinder();
  ContactFinder(ContactFinder&&) noexcept;

  /// Candidates for a step from x with velocities v (m/s; one per surface vertex). The present ones stay as
  /// long as every vertex keeps within its box on the way from x to x + dt v, with δ/2 to spare; where one
  /// vertex in 16 or fewer does not, their boxes grow.
  void update_candidates(TaskArena& arena, std::span<const Vector3> x, std::span<const Vector3> v, double dt);
  CandidateCounts candidates() const;

  /// Tolerance pairs: closer than δ at x, with closest points inside both features
  /// (collision/continuous.h). Ascending by key. `position`, `tangent`, `gap` are those of x.
  ///
  /// A vertex above a common edge or corner of faces in one plane is close to each of them at the same point:
  /// of such pairs (same closest point on the boundary of both faces, same normal, to 1e-9 of the faces'
  /// size) the one with the smallest key is kept. Faces at an angle keep a contact each.
  void proximity(TaskArena& arena, std::span<const Vector3> x, std::vector<SurfaceContact>& contacts);
  /// Pairs that cross on the straight way from x0 to x1 and are not in `known` (ascending by key): normals
  /// and weights at the time of impact, `gap` and `position` with them at x0. Ascending by key; all of them,
  /// also those at the same point.
  void crossings(TaskArena& arena, std::span<const Vector3> x0, std::span<const Vector3> x1,
                 std::span<const PairKey> known, std::vector<SurfaceContact>& contacts);

  const FinderSettings& settings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The contact's geometry at other positions with its own weights and normal: gap := n · Σ w x, position.
void update_gap(SurfaceContact& contact, std::span<const Vector3> x);
/// The unit normal of the pair's features at x on the side of the contact's present normal, and the weights
/// of their closest points (in the face's plane, on the edges' lines; not clamped). Nothing for degenerate
/// features: a face of no area, an edge of no length, edges with |e_a × e_b| < 1e-3 |e_a| |e_b|.
/// Verschoor and Jalba 2019, eq. 21.
struct PairGeometry {
  Vector3 normal = Vector3::Zero();
  std::array<double, 4> weight{};
  double gap = 0.0;  ///< m
};
std::optional<PairGeometry> pair_geometry(const SurfaceContact& contact, std::span<const Vector3> x);

/// Any edge of one body that passes through a triangle of another body, or of the same deformable one without
/// a common vertex: first by (edge, triangle) number, or nothing; pairs of two bodies without dofs are not
/// looked at. Exact up to the rounding of the coordinates: what overlaps by less only touches. An edge that
/// passes through a surface exactly on an edge or a vertex of it is found. O(n log n); independent of the
/// finder's candidates and of continuous detection. Throws `InputError` for a position that is not finite.
std::optional<Intersection> find_intersection(const SurfaceModel& surface, std::span<const Vector3> x);
/// Any connected part of a body that lies inside another, closed one, where `find_intersection` finds nothing
/// (start-up check): `edge_body` inside `triangle_body`, `position` a vertex of it. Inside is where the
/// surface winds once around a point, so the room within a surface that faces inward is free, and an open
/// surface has no inside. Coincident bodies count.
std::optional<Intersection> find_containment(const SurfaceModel& surface, std::span<const Vector3> x);

}  // namespace signorini
