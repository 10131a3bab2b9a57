#include "geometry/plate.h"

#include <cmath>

#include "base/check.h"

namespace signorini {

TriangleMesh plate(double width, double depth, Index columns, Index rows) {
  if (!(width > 0.0) || !(depth > 0.0) || !std::isfinite(width) || !std::isfinite(depth)) {
    throw_usage("plate: width {} m and depth {} m must be positive", width, depth);
  }
  if (columns < 1 || rows < 1 || columns > 10000 || rows > 10000) {
    throw_usage("plate: {} x {} cells; both must be in [1, 10000]", columns, rows);
  }
  TriangleMesh mesh;
  for (Index j = 0; j <= rows; ++j) {
    for (Index i = 0; i <= columns; ++i) {
      mesh.vertices.emplace_back(width * (static_cast<double>(i) / columns - 0.5),
                                 depth * (static_cast<double>(j) / rows - 0.5), 0.0);
    }
  }
  for (Index j = 0; j < rows; ++j) {
    for (Index i = 0; i < columns; ++i) {
      const Index low = i + (columns + 1) * j, right = low + 1;
      const Index left = low + columns + 1, high = left + 1;
      if ((i + j) % 2 == 0) {
        mesh.triangles.push_back({low, right, high});
        mesh.triangles.push_back({low, high, left});
      } else {
        mesh.triangles.push_back({low, right, left});
        mesh.triangles.push_back({right, high, left});
      }
    }
  }
  return mesh;
}

}  // namespace signorini
