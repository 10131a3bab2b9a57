#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

struct SkittleShape {
  double height = 0.3;   ///< m
  double radius = 0.05;  ///< of the belly, m
  Index segments = 8;    ///< around, ≥ 3
  Index rings = 10;      ///< from foot to head, ≥ 4
};

/// Skittle of Lazarevych et al. 2010 (Fig. 3): a turned body around the z axis with belly, neck and head,
/// standing on a flat foot, the origin in the middle of its height. Each ring has a vertex on the axis, and
/// the wedges between two rings, prisms over a triangle, are cut into 3 tets that fit their neighbours (every
/// square along the diagonal at its lowest vertex number).
///
///     vertices  rings (segments + 1),   tets  3 segments (rings − 1),   boundary triangles  2 segments rings
///
/// Ring by ring from the foot, the axis first. The default has 90 vertices, 216 tets, smallest quality 0.3.
/// Throws `UsageError` for sizes ≤ 0 and counts outside their range or above 1,000.
TetMesh skittle(const SkittleShape& shape);

}  // namespace signorini
