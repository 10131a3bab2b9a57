#include "geometry/bucket.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace signorini {

TriangleMesh bucket(const BucketShape& shape) {
  const int n = shape.segments;
  if (n < 3) throw_usage("bucket: {} segments, at least 3 are needed", n);
  if (!(shape.floor_radius > 0.0) || !(shape.rim_radius > 0.0) || !(shape.height > 0.0)) {
    throw_usage("bucket: floor radius {}, rim radius {} and height {} must be positive", shape.floor_radius,
                shape.rim_radius, shape.height);
  }
  TriangleMesh mesh;
  const auto ring = [&](double radius, double z) {
    for (int s = 0; s < n; ++s) {
      const double angle = 2.0 * std::numbers::pi * s / n;
      mesh.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
  };
  ring(shape.floor_radius, 0.0);         // vertices 0 … n−1
  ring(shape.rim_radius, shape.height);  // vertices n … 2n−1
  mesh.vertices.emplace_back(0.0, 0.0, 0.0);
  for (Index s = 0; s < n; ++s) {
    const Index next = (s + 1) % n;
    mesh.triangles.push_back({2 * n, s, next});
    mesh.triangles.push_back({s, n + s, next});
    mesh.triangles.push_back({next, n + s, n + next});
  }
  return mesh;
}

TriangleMesh ground(double extent) {
  if (!(extent > 0.0)) throw_usage("ground: extent {} m is not positive", extent);
  return {{{-extent, -extent, 0.0}, {extent, -extent, 0.0}, {extent, extent, 0.0}, {-extent, extent, 0.0}},
          {{0, 1, 2}, {0, 2, 3}}};
}

}  // namespace signorini
