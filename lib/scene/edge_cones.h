#pragma once

#include <span>
#include <vector>

#include "bodies/surface_model.h"
#include "collision/surface_contact.h"

/// In which directions an edge of a surface can be touched.
///
/// Two edges have a common normal wherever they are, but only some of these normals belong to a place where
/// the surfaces are closest: beside an edge, in a direction that leans over one of its faces, that face is
/// nearer than the edge. With m_i the unit vector in face i, orthogonal to the edge, pointing into the face,
/// the directions d that belong to the edge are
///
///     d · m_i ≤ 0   for each of its faces                                     (here ≤ kConeTolerance)
///
/// For the inner edges of a flat floor only the floor's normal remains. Without this, a box that slides over
/// a floor of many triangles stumbles over edges that are not there: the inclined edges of its sides meet
/// each of them with a tilted normal.
namespace signorini {

inline constexpr double kConeTolerance = 0.01;

class EdgeCones {
 public:
  explicit EdgeCones(const SurfaceModel& surface);
  /// Whether the contact's normal belongs to both edges at positions x; always true for vertex–face.
  bool contain(const SurfaceContact& contact, std::span<const Vector3> x) const;
  bool contain(const SurfaceContact& contact, const Vector3& normal, std::span<const Vector3> x) const;
  /// For an impact on the way from x0 to x1: the nearest normal in the cones of both edges at that time, or
  /// the contact's own where there is none. An edge that is hit at its end imposes nothing: there its vertex
  /// is hit.
  Vector3 clamped_normal(const SurfaceContact& contact, std::span<const Vector3> x0,
                         std::span<const Vector3> x1) const;

 private:
  struct Side {
    Edge edge{-1, -1};
    Index opposite = -1;
  };
  std::span<const Side> sides(Index i, Index j) const;
  /// The largest d · m_i over the faces of edge (i, j); `steepest` is that m_i. −1 for an edge without faces.
  template <class Position>
  double overhang(Index i, Index j, const Vector3& d, const Position& x, Vector3& steepest) const;

  std::vector<Side> sides_;  // ascending by edge
};

}  // namespace signorini
