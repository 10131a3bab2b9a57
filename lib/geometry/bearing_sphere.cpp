#include "geometry/bearing_sphere.h"

#include "geometry/ball.h"
#include "geometry/local_splits.h"

namespace signorini {

TetMesh bearing_sphere(double radius) {
  TetMesh mesh = tet_ball(4, radius);
  split_locally(mesh, {.interior_edges = 232, .centres = 1});
  return mesh;
}

}  // namespace signorini
