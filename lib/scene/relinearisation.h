#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bodies/surface_model.h"
#include "collision/contact_finder.h"

/// How the linearisation of a contact follows the motion (Verschoor and Jalba 2019, section 3.3, eq. 21 as
/// corrected in docs/theory.md, C43).
namespace signorini {

/// Weights of a contact may leave [0, 1] by this much before it has slid off its features.
inline constexpr double kSlideMargin = 0.02;
/// Whether a barycentric weight of the face, or a parameter of an edge, lies outside [−0.02, 1.02].
bool slid_off(PairKind kind, const std::array<double, 4>& weight);

/// Angle between two unit vectors, degrees.
double angle_between(const Vector3& a, const Vector3& b);
/// The unit vector n turned towards `next` in their plane, by at most `largest_turn` degrees.
Vector3 turned_normal(const Vector3& n, const Vector3& next, double largest_turn);

/// Gap of a pair at the end of a step on whose way nothing crossed, m: that of `geometry`, whose side is that of
/// `solved`, the unit normal that the step was solved with. Where the normal has turned by more than 60° the old
/// one does not tell the side; nothing crossed, so the pair is apart, and the gap is its size.
double gap_at_end(const Vector3& solved, const PairGeometry& geometry);

/// Normal (turned by at most `largest_turn` degrees), weights, tangent and position of the contact from
/// `geometry` at the tentative positions x1; gap at the positions x0 of the start.
void relinearise(SurfaceContact& contact, const PairGeometry& geometry, double largest_turn,
                 std::span<const Vector3> x0, std::span<const Vector3> x1);

/// Faces around a vertex–face contact, to find where its vertex went.
class FaceNeighbours {
 public:
  explicit FaceNeighbours(const SurfaceModel& surface);
  /// The contact of the same vertex with the face that shares an edge or a vertex with the present one and
  /// holds the vertex best at x1 (largest smallest weight; ties: the lowest triangle), on the same side;
  /// nothing when the vertex has slid off all of them. For vertex–face contacts.
  std::optional<SurfaceContact> find(const SurfaceContact& contact, std::span<const Vector3> x0,
                                     std::span<const Vector3> x1) const;

 private:
  const SurfaceModel& surface_;
  std::vector<Index> begin_, triangle_;  // triangles around each vertex, ascending
};

}  // namespace signorini
