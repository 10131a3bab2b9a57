#include "geometry/box_surface.h"

#include <cmath>
#include <map>

#include "base/check.h"

namespace signorini {

namespace {

using GridPoint = std::array<Index, 3>;

/// Hands out vertex numbers to the grid points on the surface in the order in which they are met.
class SurfaceGrid {
 public:
  SurfaceGrid(TriangleMesh& mesh, const Vector3& size, const std::array<Index, 3>& cells)
      : mesh_(mesh), size_(size), cells_(cells) {}

  Index vertex(const GridPoint& at) {
    const auto [entry, added] = number_.try_emplace(at, count(mesh_.vertices));
    if (added) {
      Vector3 x;
      for (Index d = 0; d < 3; ++d) {
        x[d] = size_[d] * (static_cast<double>(at[d]) / cells_[d] - 0.5);
      }
      mesh_.vertices.push_back(x);
    }
    return entry->second;
  }

 private:
  TriangleMesh& mesh_;
  Vector3 size_;
  std::array<Index, 3> cells_;
  std::map<GridPoint, Index> number_;
};

}  // namespace

TriangleMesh box_surface(const Vector3& size, const std::array<Index, 3>& cells) {
  for (std::size_t d = 0; d < 3; ++d) {
    const double s = size[d];
    if (!(s > 0.0) || !std::isfinite(s)) throw_usage("box: size {} m along axis {} is not positive", s, d);
    if (cells[d] < 1 || cells[d] > 10000) {
      throw_usage("box: {} cells along axis {}, [1, 10000] are possible", cells[d], d);
    }
  }
  TriangleMesh mesh;
  SurfaceGrid grid(mesh, size, cells);
  for (std::size_t normal = 0; normal < 3; ++normal) {
    const std::size_t u = (normal + 1) % 3;  // u × v = normal
    const std::size_t v = (normal + 2) % 3;
    for (const bool high : {false, true}) {
      for (Index j = 0; j < cells[v]; ++j) {
        for (Index i = 0; i < cells[u]; ++i) {
          // Counter-clockwise around the outward normal.
          std::array<GridPoint, 4> quad;
          const std::array<std::array<Index, 2>, 4> corners{{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}};
          for (std::size_t c = 0; c < 4; ++c) {
            GridPoint& at = quad[high ? c : 3 - c];
            at[normal] = high ? cells[normal] : 0;
            at[u] = corners[c][0];
            at[v] = corners[c][1];
          }
          const bool even = (quad[0][0] + quad[0][1] + quad[0][2]) % 2 == 0;
          std::array<Index, 4> q;
          for (std::size_t c = 0; c < 4; ++c) q[c] = grid.vertex(quad[(c + (even ? 0 : 1)) % 4]);
          mesh.triangles.push_back({q[0], q[1], q[2]});
          mesh.triangles.push_back({q[0], q[2], q[3]});
        }
      }
    }
  }
  return mesh;
}

}  // namespace signorini
