#include "geometry/tet_mesh.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/roots.h"

namespace signorini {

namespace {

/// Outward faces of a positive tetrahedron; face i is opposite to corner i.
constexpr std::array<std::array<std::size_t, 3>, 4> kFaces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

const Vector3& corner(const TetMesh& mesh, const Tetrahedron& tet, std::size_t i) {
  return mesh.vertices[tet[i]];
}

}  // namespace

double tet_volume(const Vector3& x_0, const Vector3& x_1, const Vector3& x_2, const Vector3& x_3) {
  return (x_1 - x_0).cross(x_2 - x_0).dot(x_3 - x_0) / 6.0;
}

double tet_volume(const TetMesh& mesh, const Tetrahedron& tet) {
  return tet_volume(corner(mesh, tet, 0), corner(mesh, tet, 1), corner(mesh, tet, 2), corner(mesh, tet, 3));
}

double total_volume(const TetMesh& mesh) {
  double volume = 0.0;
  for (const Tetrahedron& tet : mesh.tets) volume += tet_volume(mesh, tet);
  return volume;
}

double smallest_altitude(const TetMesh& mesh, const Tetrahedron& tet) {
  double largest = 0.0;  // twice the area of the largest face
  for (const auto& face : kFaces) {
    largest = std::max(largest, area_vector(corner(mesh, tet, face[0]), corner(mesh, tet, face[1]),
                                            corner(mesh, tet, face[2]))
                                    .norm());
  }
  return largest > 0.0 ? 6.0 * tet_volume(mesh, tet) / largest : 0.0;
}

double tet_quality(const TetMesh& mesh, const Tetrahedron& tet) {
  double squares = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j)
      squares += (corner(mesh, tet, i) - corner(mesh, tet, j)).squaredNorm();
  }
  const double volume = tet_volume(mesh, tet);
  return squares > 0.0 ? std::copysign(12.0 * cube_root(9.0 * volume * volume) / squares, volume) : 0.0;
}

MeshQuality mesh_quality(const TetMesh& mesh) {
  MeshQuality result;
  double sum = 0.0;
  for (Index t = 0; t < count(mesh.tets); ++t) {
    const double quality = tet_quality(mesh, mesh.tets[t]);
    sum += quality;
    if (t == 0 || quality < result.smallest) {
      result.smallest = quality;
      result.worst = t;
    }
  }
  if (!mesh.tets.empty()) result.mean = sum / static_cast<double>(mesh.tets.size());
  return result;
}

std::vector<Triangle> boundary_triangles(const TetMesh& mesh) {
  struct Face {
    Triangle key;  // ascending
    Triangle outward;
  };
  // Counting sort by the lowest vertex, then each vertex's few faces by the others.
  std::vector<std::size_t> begin(mesh.vertices.size() + 1, 0);
  const auto for_faces = [&](auto&& work) {
    for (const Tetrahedron& tet : mesh.tets) {
      for (const auto& f : kFaces) work(Triangle{tet[f[0]], tet[f[1]], tet[f[2]]});
    }
  };
  for_faces([&](const Triangle& f) { ++begin[std::min({f[0], f[1], f[2]}) + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Face> faces(4 * mesh.tets.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for_faces([&](const Triangle& outward) {
    Triangle key = outward;
    std::sort(key.begin(), key.end());
    faces[next[key[0]]++] = {key, outward};
  });
  std::vector<Triangle> boundary;
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    std::sort(faces.begin() + begin[v], faces.begin() + begin[v + 1],
              [](const Face& a, const Face& b) { return a.key < b.key; });
    for (std::size_t i = begin[v]; i < begin[v + 1];) {
      std::size_t end = i + 1;
      while (end < begin[v + 1] && faces[end].key == faces[i].key) ++end;
      if (end == i + 1) boundary.push_back(faces[i].outward);
      i = end;
    }
  }
  return boundary;
}

TriangleMesh boundary_surface(const TetMesh& mesh, std::vector<Index>& vertex_of) {
  TriangleMesh surface{{}, boundary_triangles(mesh)};
  std::vector<Index> number(mesh.vertices.size(), -1);
  for (const Triangle& t : surface.triangles) {
    for (const Index i : t) number[i] = 0;
  }
  vertex_of.clear();
  for (Index i = 0; i < count(number); ++i) {
    if (number[i] < 0) continue;
    number[i] = count(vertex_of);
    vertex_of.push_back(i);
    surface.vertices.push_back(mesh.vertices[i]);
  }
  for (Triangle& t : surface.triangles) {
    for (Index& i : t) i = number[i];
  }
  return surface;
}

}  // namespace signorini
