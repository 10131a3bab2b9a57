#include "geometry/bin.h"

#include "base/check.h"

namespace signorini {

TriangleMesh bin(const Vector3& size) {
  if (!(size.minCoeff() > 0.0) || !size.allFinite())
    throw_usage("bin: size {} × {} × {} m must be positive", size[0], size[1], size[2]);
  const double x = 0.5 * size[0], y = 0.5 * size[1];
  TriangleMesh mesh;
  for (const double z : {0.0, size[2]}) {
    mesh.vertices.insert(mesh.vertices.end(), {{-x, -y, z}, {x, -y, z}, {x, y, z}, {-x, y, z}});
  }
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  for (Index i = 0; i < 4; ++i) {
    const Index j = (i + 1) % 4;
    mesh.triangles.push_back({i, i + 4, j});
    mesh.triangles.push_back({j, i + 4, j + 4});
  }
  return mesh;
}

}  // namespace signorini
