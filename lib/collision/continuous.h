#pragma once

#include <array>
#include <optional>

#include "linalg/types.h"

/// Continuous detection: when do four points that move on straight lines, x_i(t) = x_i + t d_i for t in [0,
/// 1], touch as vertex and face, or as edge and edge?
///
/// Four points are coplanar where f(t) = q · (u × v)(t) = 0, a cubic (Provot 1997; q, u, v as in
/// collision/closest_features.h, relative coordinates, so a common translation costs no digits). A pair that
/// does not touch is recognised by separating directions and by the signs of the Bernstein coefficients of f.
/// Otherwise the times with |f| ≤ τ, τ the rounding error of f, form up to three bands
/// (collision/cubic_roots.h); every true time of contact lies in one. Ascending,
///
///   - in a band so short that no vertex moves by ε/2, the features touch if their distance at the root is
///     ≤ ε;
///   - in a long band (motion within one plane, grazing, parallel edges, features without area or length)
///     the first time at which their distance is ≤ ε is found by halving; an interval is left when a plane
///     separates the pair at both of its ends, hence within, or the moving line of an edge does as seen
///     along one direction, or f with the rounding of that interval alone has no zero.
///
/// So there is no missed impact (of coordinates that are numbers below 1e100), and what is reported comes
/// closer than
///
///     ε = 1e-9 · longest edge + 1e-13 · (largest relative coordinate at t = 0 and t = 1).
///
/// The only exception: a pair in a long band for which halving has not decided after 20 000 distances counts.
/// It keeps at a distance of less than about 1e-4 of its motion.
///
/// The interval is closed: touching at t = 1 counts, touching without crossing (a double root) counts.
///
/// Pairs that touch at t = 0 (closer than 64 · 2⁻⁵² of their extent) count with time 0, at rest too, unless
/// they separate: a vertex that starts in the plane of its face (f(0) is rounding) and leaves it towards the
/// outside, the side of the counter-clockwise normal; or two edges that leave each other towards `outside`
/// (see there). Pairs that are apart at t = 0, however little, count only when they come into contact: those
/// closer than ε when they halve their distance.
///
/// Near-parallel edges. Within 1e-3 rad the normal of two edges turns with their slightest rotation, and a
/// proximity contact is left to the vertices. An impact is not: edges of length l that cross at an angle α
/// have passed through each other by up to l α / 2 before the vertices meet the neighbouring faces.
namespace signorini {

struct Impact {
  double time = 0.0;               ///< in [0, 1]
  std::array<double, 4> weight{};  ///< signed as in SurfaceContact; convex on each side
  /// Unit, at the time of impact, on the side where feature a was just before, so that n · Σ w x ≥ 0 at t = 0
  /// and n · Σ w d ≤ 0 up to rounding. The face's normal, or u × v of two edges. Where that side does not
  /// exist because all four points were in one plane from the start: the face's outer side; for edges
  /// `outside`, else the direction from b to a within the plane. Features without a normal (edges
  /// within 1e-6 rad, a triangle without area): the direction from b to a just before.
  Vector3 normal = Vector3::Zero();
};

/// x[0], d[0] the vertex; x[1..3] the face. m.
std::optional<Impact> vertex_face_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d);
/// x[0], x[1] edge a; x[2], x[3] edge b. m. `outside`: any vector that points from b towards the side where a
/// belongs, for instance the outward normals of b's faces minus those of a's; zero if unknown. Only edges
/// that touch at t = 0 need it.
std::optional<Impact> edge_edge_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d,
                                       const Vector3& outside = Vector3::Zero());

/// Edges whose sine is below this are parallel to `edge_edge_proximity` (docs/theory.md, T22).
inline constexpr double kParallelSine = 1e-3;

/// Pairs at rest. Closest points of the vertex and the face's plane when they lie inside the face, of the
/// lines of two edges when they lie inside both (weights within [−1e-9, 1 + 1e-9]); nothing otherwise, nor
/// for a face whose height is below 1e-6 of its longest edge or for parallel edges. `normal` is on the side
/// of feature a. With a gap of zero (|f| ≤ τ) it is the face's outer one; for edges that of `outside`, and
/// without that u × v: an arbitrary choice.
struct Proximity {
  std::array<double, 4> weight{};    ///< signed as in SurfaceContact
  Vector3 normal = Vector3::Zero();  ///< unit
  double gap = 0.0;                  ///< m, ≥ 0
};
std::optional<Proximity> vertex_face_proximity(const std::array<Vector3, 4>& x);
std::optional<Proximity> edge_edge_proximity(const std::array<Vector3, 4>& x,
                                             const Vector3& outside = Vector3::Zero());

}  // namespace signorini
