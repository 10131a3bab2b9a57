#pragma once

#include <array>
#include <vector>

#include "linalg/types.h"

/// Triangle surfaces. A triangle (i, j, k) is counter-clockwise seen from the free side: its normal
/// n = (x_j − x_i) × (x_k − x_i) / ‖…‖ points away from the material.
namespace signorini {

using Triangle = std::array<Index, 3>;

struct TriangleMesh {
  std::vector<Vector3> vertices;    ///< m
  std::vector<Triangle> triangles;  ///< indices into `vertices`
};

/// (x_j − x_i) × (x_k − x_i): twice the area along the normal; m².
Vector3 area_vector(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k);
/// Sum over triangles of x_i · (x_j × x_k) / 6, the enclosed volume of a closed outward surface; m³.
double enclosed_volume(const TriangleMesh& mesh);
double surface_area(const TriangleMesh& mesh);
/// Mean length of the edges, every edge of every triangle counted once per triangle; m. Zero for an empty
/// mesh.
double mean_edge_length(const TriangleMesh& mesh);
/// True when every edge belongs to exactly two triangles that run through it in opposite directions.
bool is_closed_and_oriented(const TriangleMesh& mesh);
/// V − E + F over the vertices that triangles use: 2 for a sphere, 1 for a disc.
Index euler_characteristic(const TriangleMesh& mesh);
/// Vertices that something touching the free side can hit: those on an open border or on a convex edge,
/// ascending. The vertices of a flat floor or at the bottom of a groove are not among them.
std::vector<Index> exposed_vertices(const TriangleMesh& mesh);
/// Appends `part` to `mesh` with shifted indices.
void append(TriangleMesh& mesh, const TriangleMesh& part);

}  // namespace signorini
