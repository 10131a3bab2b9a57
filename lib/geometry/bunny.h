#pragma once

#include "geometry/tet_mesh.h"

namespace signorini {

/// Stand-in for the bunnies of Verschoor and Jalba 2019: a body with a head, two ears and a tail, with the
/// counts of the paper:
///
///     tets  1,270,   boundary triangles  738,   vertices  410 (371 of them on the boundary),   genus 0
///
/// (410 from the dimension 147,600 = 120 · 410 · 3 of their matrix.) Made in the unit ball: 371 Fibonacci
/// points on the sphere, drawn towards the ears, shells of 34 and 4 and a centre inside, their Delaunay
/// tetrahedra (some 1,170), a smooth radial warp, then as many 2–3 flips as are missing, where they cost
/// least quality, with smoothing in between and after, in which surface vertices slide on the surface.
/// Smallest quality 0.40, mean 0.64; without the smoothing it is below 0.1.
///
/// Surface vertices come first. Head towards +x, ears up (+z); `length` is the largest extent, m; the origin
/// is the centre of the ball. Takes some 0.1 s. Throws `UsageError` for a length ≤ 0.
TetMesh bunny(double length = 0.15);

}  // namespace signorini
