#include "geometry/mesh_file.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/input_file.h"
#include "geometry/mesh_scanner.h"

namespace signorini {

namespace {

namespace fs = std::filesystem;

/// A determinant of the differences of coordinates carries a rounding of some ε of their products.
constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();

template <std::size_t corners>
double longest_edge(const std::vector<Vector3>& x, const std::array<Index, corners>& element) {
  double squared = 0.0;
  for (std::size_t i = 0; i < corners; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      squared = std::max(squared, (x[element[i]] - x[element[j]]).squaredNorm());
    }
  }
  return std::sqrt(squared);
}

template <std::size_t corners>
void check_distinct(const RawMesh<corners>& raw, const char* kind, const std::string& name) {
  for (std::size_t e = 0; e < raw.elements.size(); ++e) {
    std::array<Index, corners> sorted = raw.elements[e];
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      throw_input("{}: {} {} has the same vertex twice; remove degenerate elements from the mesh", name, kind,
                  raw.number[e]);
    }
  }
}

/// Exchanges two vertices where the volume is negative; refuses flat ones.
void orient(RawTets& raw, const std::string& name) {
  for (std::size_t e = 0; e < raw.elements.size(); ++e) {
    auto& tet = raw.elements[e];
    const auto x = [&](std::size_t i) -> const Vector3& { return raw.vertices[tet[i]]; };
    const double determinant = 6.0 * tet_volume(x(0), x(1), x(2), x(3));
    if (!(std::abs(determinant) > kRounding * std::pow(longest_edge(raw.vertices, tet), 3))) {
      throw_input("{}: tetrahedron {} is flat (volume {:.3g}); remove degenerate elements from the mesh",
                  name, raw.number[e], determinant / 6.0);
    }
    if (determinant < 0.0) std::swap(tet[2], tet[3]);
  }
}

/// A face has one tetrahedron on either side.
void check_faces(const RawTets& raw, const std::string& name) {
  struct Face {
    Triangle key;
    bool even = false;  // the outward order is an even permutation of the key
    Index number = 0;   // of the tetrahedron
  };
  constexpr std::array<std::array<std::size_t, 3>, 4> kFaces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
  std::vector<Face> faces;
  faces.reserve(4 * raw.elements.size());
  for (std::size_t e = 0; e < raw.elements.size(); ++e) {
    for (const auto& f : kFaces) {
      Face face{{raw.elements[e][f[0]], raw.elements[e][f[1]], raw.elements[e][f[2]]}, true, raw.number[e]};
      Triangle& k = face.key;
      const auto exchange = [&face](Index& a, Index& b) {
        if (a > b) {
          std::swap(a, b);
          face.even = !face.even;
        }
      };
      exchange(k[0], k[1]);
      exchange(k[1], k[2]);
      exchange(k[0], k[1]);
      faces.push_back(face);
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    return a.key != b.key ? a.key < b.key : a.number < b.number;
  });
  for (std::size_t i = 1; i < faces.size(); ++i) {
    if (faces[i].key != faces[i - 1].key) continue;
    if (i >= 2 && faces[i].key == faces[i - 2].key) {
      throw_input("{}: tetrahedra {}, {} and {} share one face; elements of the mesh overlap", name,
                  faces[i - 2].number, faces[i - 1].number, faces[i].number);
    }
    if (faces[i].even == faces[i - 1].even) {
      throw_input(
          "{}: tetrahedra {} and {} lie on the same side of a common face; elements of the mesh overlap",
          name, faces[i - 1].number, faces[i].number);
    }
  }
}

void check_areas(const RawTriangles& raw, const std::string& name) {
  for (std::size_t e = 0; e < raw.elements.size(); ++e) {
    const auto& [i, j, k] = raw.elements[e];
    const double area = area_vector(raw.vertices[i], raw.vertices[j], raw.vertices[k]).norm();
    if (!(area > kRounding * std::pow(longest_edge(raw.vertices, raw.elements[e]), 2))) {
      throw_input("{}: face {} has no area; remove degenerate triangles from the mesh", name, raw.number[e]);
    }
  }
}

template <std::size_t corners>
void drop_unused(RawMesh<corners>& raw) {
  std::vector<Index> number(raw.vertices.size(), -1);
  for (const auto& element : raw.elements) {
    for (const Index v : element) number[v] = 0;
  }
  Index used = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    raw.vertices[used] = raw.vertices[v];
    number[v] = used++;
  }
  raw.vertices.resize(used);
  for (auto& element : raw.elements) {
    for (Index& v : element) v = number[v];
  }
}

std::string file_bytes(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) throw_input("{}: no such file", path.string());
  if (status.type() != fs::file_type::regular) {
    throw_input("{}: {}, not a mesh file", path.string(),
                status.type() == fs::file_type::directory ? "a directory" : "not a regular file");
  }
  const std::uintmax_t size = fs::file_size(path, error);
  ByteReader file(path);
  if (error || !file.is_open()) throw_input("{}: cannot be read; check its permissions", path.string());
  if (size == 0) throw_input("{}: the file is empty", path.string());
  std::string bytes(size, '\0');
  if (file.read(bytes.data(), size) != size) throw_input("{}: cannot be read", path.string());
  return bytes;
}

bool has_extension(const fs::path& path, std::string_view extension) {
  return equal_words(path.extension().string(), extension);
}

}  // namespace

TetMesh parse_tet_mesh(std::string_view bytes, TetFormat format, const std::string& name) {
  MeshScanner scanner(bytes, name);
  RawTets raw = format == TetFormat::msh ? parse_msh(scanner) : parse_vtk(scanner);
  if (raw.elements.empty()) {
    throw_input("{}: no tetrahedra, only {} elements of lower dimension; mesh the volume", name,
                raw.passed_over);
  }
  check_distinct(raw, "tetrahedron", name);
  orient(raw, name);
  check_faces(raw, name);
  drop_unused(raw);
  return {std::move(raw.vertices), std::move(raw.elements)};
}

TriangleMesh parse_surface(std::string_view bytes, SurfaceFormat format, const std::string& name) {
  MeshScanner scanner(bytes, name);
  RawTriangles raw = format == SurfaceFormat::obj   ? parse_obj(scanner)
                     : format == SurfaceFormat::ply ? parse_ply(scanner)
                                                    : parse_stl(scanner);
  if (raw.elements.empty()) throw_input("{}: the file has no faces", name);
  check_distinct(raw, "face", name);
  check_areas(raw, name);
  drop_unused(raw);
  return {std::move(raw.vertices), std::move(raw.elements)};
}

TetMesh read_tet_mesh(const fs::path& path) {
  if (has_extension(path, ".msh")) return parse_tet_mesh(file_bytes(path), TetFormat::msh, path.string());
  if (has_extension(path, ".vtk")) return parse_tet_mesh(file_bytes(path), TetFormat::vtk, path.string());
  throw_usage("{}: tetrahedra are read from .msh (Gmsh) and .vtk (legacy) files", path.string());
}

TriangleMesh read_surface(const fs::path& path) {
  if (has_extension(path, ".obj")) return parse_surface(file_bytes(path), SurfaceFormat::obj, path.string());
  if (has_extension(path, ".ply")) return parse_surface(file_bytes(path), SurfaceFormat::ply, path.string());
  if (has_extension(path, ".stl")) return parse_surface(file_bytes(path), SurfaceFormat::stl, path.string());
  throw_usage("{}: surfaces are read from .obj, .ply and .stl files", path.string());
}

}  // namespace signorini
