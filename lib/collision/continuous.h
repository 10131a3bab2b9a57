#pragma once

#include <array>
#include <optional>

#include "linalg/types.h"

/// Continuous detection: when do four points that move on straight lines, x_i(t) = x_i + t d_i for t in [0,
/// 1], touch as vertex and face, or as edge and edge?
///
/// Four points are coplanar where the cubic (x_1 − x_0, x_2 − x_0, x_3 − x_0)(t) = 0 (Provot 1997). All roots
/// in [0, 1] are found, bracketed between the extrema of the cubic so that an even number of crossings is not
/// missed, refined by TOMS 748 (Verschoor and Jalba 2019, section 5.2: Brent–Dekker), and tested in ascending
/// order: barycentric weights within [−ε, 1 + ε], edge parameters likewise, ε = 1e-9. Motion in one plane
/// (the cubic vanishes) is handled by its own lower dimensional tests: a vertex that crosses an edge of the
/// triangle, edges that meet end on. The first time is returned; touching without crossing (a double root)
/// counts.
namespace signorini {

struct Impact {
  double time = 0.0;               ///< in [0, 1]
  std::array<double, 4> weight{};  ///< signed weights as in SurfaceContact
  Vector3 normal =
      Vector3::Zero();  ///< unit, at the time of impact, on the side where feature a was at t = 0
};

/// x[0], d[0] the vertex; x[1..3] the face.
std::optional<Impact> vertex_face_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d);
/// x[0], x[1] edge a; x[2], x[3] edge b. Edges with |e_a × e_b| < 1e-3 |e_a| |e_b| at the time are left to
/// the vertices.
std::optional<Impact> edge_edge_impact(const std::array<Vector3, 4>& x, const std::array<Vector3, 4>& d);

/// Pairs at rest. Closest points of the vertex and the face's plane when they lie inside the face, of the
/// lines of two edges when they lie inside both; nothing otherwise. `normal` is on the side of feature a;
/// `gap` ≥ 0.
struct Proximity {
  std::array<double, 4> weight{};
  Vector3 normal = Vector3::Zero();
  double gap = 0.0;  ///< m
};
std::optional<Proximity> vertex_face_proximity(const std::array<Vector3, 4>& x);
std::optional<Proximity> edge_edge_proximity(const std::array<Vector3, 4>& x);

/// Real roots of c_0 + c_1 t + c_2 t² + c_3 t³ in [0, 1], ascending, double roots once; returns their number.
/// A polynomial that is zero throughout (relative to `scale`, the size of its terms) returns −1.
int cubic_roots(const std::array<double, 4>& c, double scale, std::array<double, 3>& roots);

}  // namespace signorini
