#pragma once

#include <array>
#include <vector>

#include "geometry/triangle_mesh.h"

/// Tetrahedral volumes. A tetrahedron (0, 1, 2, 3) is positive: det(x_1 − x_0, x_2 − x_0, x_3 − x_0) > 0.
namespace signorini {

using Tetrahedron = std::array<Index, 4>;

struct TetMesh {
  std::vector<Vector3> vertices;  ///< m
  std::vector<Tetrahedron> tets;  ///< indices into `vertices`
};

/// det(x_1 − x_0, x_2 − x_0, x_3 − x_0) / 6; m³.
double tet_volume(const Vector3& x_0, const Vector3& x_1, const Vector3& x_2, const Vector3& x_3);
double tet_volume(const TetMesh& mesh, const Tetrahedron& tet);
double total_volume(const TetMesh& mesh);
/// Shortest of the four altitudes 3V/A, the length that bounds an explicit time step; m. Negative when
/// inverted.
double smallest_altitude(const TetMesh& mesh, const Tetrahedron& tet);
/// Shape quality 12 (3V)^(2/3) / Σ ℓ² (Liu and Joe 1994): 1 for the regular tetrahedron, ≤ 0 for flat or
/// inverted ones.
double tet_quality(const TetMesh& mesh, const Tetrahedron& tet);

struct MeshQuality {
  double smallest = 0.0;  ///< of `tet_quality`
  double mean = 0.0;
  Index worst = -1;  ///< tetrahedron with the smallest, of equal ones the first; −1 for an empty mesh
};
MeshQuality mesh_quality(const TetMesh& mesh);

/// Faces that belong to one tetrahedron only, oriented outward, on the indices of `mesh`. Sorted by their
/// vertex numbers.
std::vector<Triangle> boundary_triangles(const TetMesh& mesh);
/// The boundary as a mesh of its own. `vertex_of[i]`: the volume's vertex behind surface vertex i, ascending.
TriangleMesh boundary_surface(const TetMesh& mesh, std::vector<Index>& vertex_of);

}  // namespace signorini
