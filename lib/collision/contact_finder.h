#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/parallel.h"
#include "bodies/surface_model.h"
#include "collision/surface_contact.h"

/// Vertex–face and edge–edge contacts of all surfaces, self-collision included: tolerance pairs at the start
/// of a step, crossings between two states, and the independent check that a state is free of intersections.
///
/// Candidates. Every feature gets a box around its vertices' boxes [x, x + 3 dt v] grown by δ (Verschoor and
/// Jalba 2019, section 5.1). Pairs of a vertex and a face, of two edges (smaller number first), whose boxes
/// overlap are candidates, except pairs that share a vertex, pairs of two bodies without dofs and pairs
/// inside a body that does not deform. Both broad phases give the same candidates. `covers` tells whether a
/// tentative state stays inside the vertex boxes; where it does not, `crossings` asks again for the features
/// that left (their section 5.2), so no crossing is missed whatever the motion.
namespace signorini {

enum class BroadPhase { bvh, hash };
template <>
struct EnumNames<BroadPhase> {
  static constexpr std::array<std::pair<BroadPhase, std::string_view>, 2> value{
      {{BroadPhase::bvh, "bvh"}, {BroadPhase::hash, "hash"}}};
};

struct FinderSettings {
  double tolerance = 1e-3;  ///< δ: pairs closer than this are contacts, m
  BroadPhase broad_phase = BroadPhase::bvh;
  double look_ahead = 3.0;  ///< multiple of dt v in the boxes
};

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

  /// Candidates for a step from x with velocities v (m/s; one per surface vertex).
  void update_candidates(TaskArena& arena, std::span<const Vector3> x, std::span<const Vector3> v, double dt);
  CandidateCounts candidates() const;

  /// Tolerance pairs: candidates closer than δ at x whose closest points lie inside both features
  /// (collision/continuous.h). Ascending by key; the same for any number of threads. `position`, `tangent`,
  /// `gap` are those of x.
  void proximity(TaskArena& arena, std::span<const Vector3> x, std::vector<SurfaceContact>& contacts);
  /// Pairs that cross on the straight way from x0 to x1 and are not in `known` (ascending by key): normals
  /// and weights at the time of impact, `gap` with them at x0. Ascending by key.
  void crossings(TaskArena& arena, std::span<const Vector3> x0, std::span<const Vector3> x1,
                 std::span<const PairKey> known, std::vector<SurfaceContact>& contacts);

  const FinderSettings& settings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The contact's geometry at other positions with its own weights: gap := n · Σ w x, position.
void update_gap(SurfaceContact& contact, std::span<const Vector3> x);
/// The unit normal of the pair's features at x on the side of the contact's present normal, and the weights
/// of their closest points (not clamped). Nothing for degenerate features (T22). Verschoor and Jalba 2019,
/// eq. 21.
struct PairGeometry {
  Vector3 normal;
  std::array<double, 4> weight;
  double gap = 0.0;  ///< m
};
std::optional<PairGeometry> pair_geometry(const SurfaceContact& contact, std::span<const Vector3> x);

/// Any edge of one body that passes through a triangle of another body, or of the same deformable one without
/// a common vertex: first by (edge, triangle) number, or nothing. Independent of the finder's candidates and
/// of continuous detection.
std::optional<Intersection> find_intersection(const SurfaceModel& surface, std::span<const Vector3> x);
/// Any vertex of a closed body that lies inside another closed body (start-up check beside
/// `find_intersection`).
std::optional<Intersection> find_containment(const SurfaceModel& surface, std::span<const Vector3> x);

}  // namespace signorini
