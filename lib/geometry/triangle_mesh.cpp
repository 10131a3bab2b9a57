#include "geometry/triangle_mesh.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace signorini {

namespace {

const Vector3& vertex(const TriangleMesh& mesh, Index i) { return mesh.vertices[i]; }

/// Directed edge → the triangles that run through it in that direction.
std::map<std::pair<Index, Index>, std::vector<std::size_t>> directed_edges(const TriangleMesh& mesh) {
  std::map<std::pair<Index, Index>, std::vector<std::size_t>> edges;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Triangle& triangle = mesh.triangles[t];
    for (std::size_t e = 0; e < 3; ++e) edges[{triangle[e], triangle[(e + 1) % 3]}].push_back(t);
  }
  return edges;
}

}  // namespace

Vector3 area_vector(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k) {
  return (x_j - x_i).cross(x_k - x_i);
}

double enclosed_volume(const TriangleMesh& mesh) {
  double volume = 0.0;
  for (const Triangle& t : mesh.triangles) {
    volume += vertex(mesh, t[0]).dot(vertex(mesh, t[1]).cross(vertex(mesh, t[2]))) / 6.0;
  }
  return volume;
}

double surface_area(const TriangleMesh& mesh) {
  double area = 0.0;
  for (const Triangle& t : mesh.triangles) {
    area += 0.5 * area_vector(vertex(mesh, t[0]), vertex(mesh, t[1]), vertex(mesh, t[2])).norm();
  }
  return area;
}

double mean_edge_length(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) return 0.0;
  double sum = 0.0;
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t e = 0; e < 3; ++e) sum += (vertex(mesh, t[(e + 1) % 3]) - vertex(mesh, t[e])).norm();
  }
  return sum / static_cast<double>(3 * mesh.triangles.size());
}

bool is_closed_and_oriented(const TriangleMesh& mesh) {
  const auto edges = directed_edges(mesh);
  return std::all_of(edges.begin(), edges.end(), [&edges](const auto& entry) {
    const auto opposite = edges.find({entry.first.second, entry.first.first});
    return entry.second.size() == 1 && opposite != edges.end() && opposite->second.size() == 1;
  });
}

Index euler_characteristic(const TriangleMesh& mesh) {
  std::set<Index> used;
  std::set<std::pair<Index, Index>> edges;
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t e = 0; e < 3; ++e) {
      used.insert(t[e]);
      edges.insert(std::minmax(t[e], t[(e + 1) % 3]));
    }
  }
  return count(used) - count(edges) + count(mesh.triangles);
}

std::vector<Index> exposed_vertices(const TriangleMesh& mesh) {
  // Sine of the smallest fold that counts as convex: flatter edges are tessellation, not shape.
  constexpr double kFold = 1e-6;
  const auto edges = directed_edges(mesh);
  std::set<Index> exposed;
  for (const auto& [edge, owners] : edges) {
    const auto opposite = edges.find({edge.second, edge.first});
    bool convex = opposite == edges.end();
    if (!convex) {
      const Triangle& mine = mesh.triangles[owners.front()];
      const Triangle& other = mesh.triangles[opposite->second.front()];
      const Vector3 normal = area_vector(vertex(mesh, mine[0]), vertex(mesh, mine[1]), vertex(mesh, mine[2]));
      const Index apex = *std::find_if(other.begin(), other.end(),
                                       [e = edge](Index i) { return i != e.first && i != e.second; });
      const Vector3 fold = vertex(mesh, apex) - vertex(mesh, edge.first);
      // The neighbour falls away below my plane.
      convex = normal.dot(fold) < -kFold * normal.norm() * fold.norm();
    }
    if (convex) exposed.insert({edge.first, edge.second});
  }
  return {exposed.begin(), exposed.end()};
}

void append(TriangleMesh& mesh, const TriangleMesh& part) {
  const Index shift = count(mesh.vertices);
  mesh.vertices.insert(mesh.vertices.end(), part.vertices.begin(), part.vertices.end());
  for (const Triangle& t : part.triangles)
    mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
}

}  // namespace signorini
