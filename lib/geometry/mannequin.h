#pragma once

#include "geometry/triangle_mesh.h"

namespace signorini {

/// Standing figure of revolution around the z axis, without arms and with one leg: what a dressmaker's dummy is. From
/// the floor at z = 0 to the top of the head at z = height; closed, outward. Radii as shares of the height (at the
/// shares of it in brackets): knees 0.05 (0.27), hips 0.088 (0.50), waist 0.059 (0.615), chest 0.082 (0.72), neck
/// 0.03 (0.85), head 0.053 (0.93). Throws `UsageError` as `lathe_surface` does.
TriangleMesh mannequin_surface(double height, Index segments = 24);

}  // namespace signorini
