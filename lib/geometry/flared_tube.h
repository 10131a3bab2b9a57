#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

struct FlaredTube {
  double top_radius = 0.15;    ///< m
  double bottom_radius = 0.4;  ///< m
  double length = 0.7;         ///< along z, m
  Index columns = 70;          ///< vertices around, ≥ 3
  Index rows = 40;             ///< vertices from top to bottom, ≥ 2
  double flare = 2.0;          ///< exponent of the widening: 1 is a cone, more a bell
  Index folds = 0;             ///< waves around the hem
  double fold_depth = 0.0;     ///< their amplitude at the hem, m
};

/// Open tube around the z axis, outward, z = 0 at the top and −length at the hem: one layer of a dress. With
/// t = −z / length, the radius is
///
///     r(t, θ) = top + (bottom − top) t^flare + fold_depth t² cos(folds θ)
///
///     vertices  columns · rows,   triangles  2 columns (rows − 1)
///
/// The default has 2,800 vertices; six of them are the 16,800 of the dress of Otaduy et al. 2009 (Fig. 1).
/// Row by row from the top; diagonals alternate. Throws `UsageError` for sizes that are not positive, folds
/// that reach the axis or pass the number of columns / 4, and counts outside their range or above 10,000.
TriangleMesh flared_tube(const FlaredTube& shape);

}  // namespace signorini
