#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "geometry/tet_mesh.h"

/// What every generated mesh must be.
namespace signorini {

/// Every face belongs to one or two tetrahedra.
inline bool is_conforming(const TetMesh& mesh) {
  std::vector<Triangle> faces;
  for (const Tetrahedron& tet : mesh.tets) {
    for (std::size_t skip = 0; skip < 4; ++skip) {
      Triangle face{tet[(skip + 1) % 4], tet[(skip + 2) % 4], tet[(skip + 3) % 4]};
      std::sort(face.begin(), face.end());
      faces.push_back(face);
    }
  }
  std::sort(faces.begin(), faces.end());
  for (std::size_t i = 0; i + 2 < faces.size(); ++i) {
    if (faces[i] == faces[i + 2]) return false;
  }
  return true;
}

struct Counts {
  std::size_t tets, triangles, vertices, surface_vertices;
  Index euler_characteristic;  ///< of the boundary
  bool operator==(const Counts&) const = default;
};

/// Counts of a mesh after the checks that all share: no inverted or flat element, conforming, no vertex
/// without element, boundary closed and oriented, and the elements fill what it encloses.
inline Counts checked_counts(const TetMesh& mesh) {
  for (const Tetrahedron& tet : mesh.tets) EXPECT_GT(tet_volume(mesh, tet), 0.0);
  EXPECT_TRUE(is_conforming(mesh));
  std::vector<char> used(mesh.vertices.size(), 0);
  for (const Tetrahedron& tet : mesh.tets) {
    for (const Index i : tet) used[i] = 1;
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0);
  std::vector<Index> vertex_of;
  const TriangleMesh surface = boundary_surface(mesh, vertex_of);
  EXPECT_TRUE(is_closed_and_oriented(surface));
  // Two sums of as many terms, each exact to some ε of the volume of a cone from the origin.
  const double rounding = 2.22e-16 * static_cast<double>(mesh.tets.size() + 100);
  EXPECT_NEAR(total_volume(mesh) / enclosed_volume(surface), 1.0, rounding);
  return {mesh.tets.size(), surface.triangles.size(), mesh.vertices.size(), surface.vertices.size(),
          euler_characteristic(surface)};
}

inline void PrintTo(const Counts& c, std::ostream* out) {
  *out << c.tets << " tets, " << c.triangles << " boundary triangles, " << c.vertices << " vertices ("
       << c.surface_vertices << " on the boundary), Euler characteristic " << c.euler_characteristic;
}

/// The same bits.
inline bool same(const TetMesh& a, const TetMesh& b) { return a.vertices == b.vertices && a.tets == b.tets; }

/// Edges of the smallest box along the axes.
inline Vector3 extent(const TetMesh& mesh) {
  Vector3 low = mesh.vertices[0], high = low;
  for (const Vector3& x : mesh.vertices) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  return high - low;
}

}  // namespace signorini
