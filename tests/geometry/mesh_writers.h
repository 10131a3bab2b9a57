#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/text.h"
#include "geometry/tet_mesh.h"

/// Mesh files as other programs write them, for the tests of their readers.
namespace signorini::test {

template <class T>
void put(std::string& bytes, T value, std::endian order) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (order != std::endian::native) std::reverse(raw, raw + sizeof(T));
  bytes.append(raw, sizeof(T));
}

inline std::string line_of(const Vector3& x) {
  return fmt::format("{} {} {}", exact_text(x[0]), exact_text(x[1]), exact_text(x[2]));
}

/// Gmsh 2.2 with a triangle among the elements and node tags that begin at `first`.
inline std::string msh_2(const TetMesh& mesh, long long first = 1) {
  std::string s =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n";
  s += fmt::format("$Nodes\n{}\n", mesh.vertices.size());
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    s += fmt::format("{} {}\n", first + static_cast<long long>(v), line_of(mesh.vertices[v]));
  }
  s += fmt::format("$EndNodes\n$Elements\n{}\n1 2 2 0 1 {} {} {}\n", mesh.tets.size() + 1, first, first + 1,
                   first + 2);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& [a, b, c, d] = mesh.tets[t];
    s += fmt::format("{} 4 2 1 1 {} {} {} {}\n", t + 2, first + a, first + b, first + c, first + d);
  }
  return s + "$EndElements\n";
}

/// Gmsh 4.1: nodes in two blocks, the first parametric; a block of triangles, then the tetrahedra.
inline std::string msh_4(const TetMesh& mesh) {
  const std::size_t n = mesh.vertices.size();
  const std::size_t half = n / 2;
  std::string s =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n";
  s += fmt::format("$Nodes\n2 {} 1 {}\n2 1 1 {}\n", n, n, half);
  for (std::size_t v = 0; v < half; ++v) s += fmt::format("{}\n", v + 1);
  for (std::size_t v = 0; v < half; ++v) s += line_of(mesh.vertices[v]) + " 0.25 0.75\n";
  s += fmt::format("3 1 0 {}\n", n - half);
  for (std::size_t v = half; v < n; ++v) s += fmt::format("{}\n", v + 1);
  for (std::size_t v = half; v < n; ++v) s += line_of(mesh.vertices[v]) + "\n";
  s += fmt::format("$EndNodes\n$Elements\n2 {} 1 {}\n2 1 2 1\n1 1 2 3\n3 1 4 {}\n", mesh.tets.size() + 1,
                   mesh.tets.size() + 1, mesh.tets.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& [a, b, c, d] = mesh.tets[t];
    s += fmt::format("{} {} {} {} {}\n", t + 2, a + 1, b + 1, c + 1, d + 1);
  }
  return s + "$EndElements\n";
}

/// VTK legacy, version 3 (counted cells) or 5 (offsets), with a field before the points, a line cell and cell
/// data behind.
inline std::string vtk(const TetMesh& mesh, int version, bool binary) {
  constexpr std::endian kBig = std::endian::big;
  std::string s = fmt::format("# vtk DataFile Version {}\na mesh\n{}\nDATASET UNSTRUCTURED_GRID\n",
                              version == 5 ? "5.1" : "3.0", binary ? "BINARY" : "ASCII");
  s += "FIELD FieldData 1\ntime 1 2 double\n";
  if (binary) {
    put(s, 0.5, kBig);
    put(s, 1.5, kBig);
    s += "\n";
  } else {
    s += "0.5 1.5\n";
  }
  s += fmt::format("POINTS {} double\n", mesh.vertices.size());
  for (const Vector3& x : mesh.vertices) {
    if (binary) {
      for (const double c : x) put(s, c, kBig);
    } else {
      s += line_of(x) + "\n";
    }
  }
  if (version == 5) s += "\nMETADATA\nINFORMATION 0\n\n";
  std::vector<std::vector<std::int64_t>> cells{{0, 1}};
  for (const Tetrahedron& t : mesh.tets) cells.emplace_back(t.begin(), t.end());
  const auto number = [&](std::int64_t value, bool wide) {
    if (!binary) {
      s += fmt::format("{} ", value);
    } else if (wide) {
      put(s, value, kBig);
    } else {
      put(s, static_cast<std::int32_t>(value), kBig);
    }
  };
  if (version == 5) {
    s += fmt::format("\nCELLS {} {}\nOFFSETS vtktypeint64\n", cells.size() + 1, 2 + 4 * mesh.tets.size());
    std::int64_t offset = 0;
    number(offset, true);
    for (const auto& cell : cells) number(offset += static_cast<std::int64_t>(cell.size()), true);
    s += "\nCONNECTIVITY vtktypeint64\n";
    for (const auto& cell : cells) {
      for (const std::int64_t v : cell) number(v, true);
    }
  } else {
    s += fmt::format("\nCELLS {} {}\n", cells.size(), 3 + 5 * mesh.tets.size());
    for (const auto& cell : cells) {
      number(static_cast<std::int64_t>(cell.size()), false);
      for (const std::int64_t v : cell) number(v, false);
    }
  }
  s += fmt::format("\nCELL_TYPES {}\n", cells.size());
  for (const auto& cell : cells) number(cell.size() == 2 ? 3 : 10, false);
  return s + fmt::format("\nCELL_DATA {}\nSCALARS region int 1\nLOOKUP_TABLE default\n", cells.size());
}

/// OBJ with textures, groups and the last face by negative indices.
inline std::string obj(const TriangleMesh& mesh) {
  std::string s = "# a surface\nmtllib none.mtl\no thing\n";
  for (const Vector3& x : mesh.vertices) s += "v " + line_of(x) + "\n";
  s += "vt 0 0\nvn 0 0 1\ng part\n";
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [i, j, k] = mesh.triangles[t];
    if (t + 1 == mesh.triangles.size()) {
      const Index n = count(mesh.vertices);
      s += fmt::format("f {} {} {}\n", i - n, j - n, k - n);
    } else if (t % 2 == 0) {
      s += fmt::format("f {}/1/1 {}/1/1 {}/1/1\n", i + 1, j + 1, k + 1);
    } else {
      s += fmt::format("f {}//1 {}//1 {}//1\r\n", i + 1, j + 1, k + 1);
    }
  }
  return s;
}

/// PLY with a normal component per vertex, an attribute per face and an element of its own at the end.
inline std::string ply(const TriangleMesh& mesh, const char* format) {
  std::string s = fmt::format(
      "ply\nformat {} 1.0\ncomment made by a test\nelement vertex {}\nproperty double x\nproperty double y\n"
      "property double z\nproperty float nx\nelement face {}\nproperty list uchar int vertex_indices\n"
      "property uchar quality\nelement edge 1\nproperty int vertex1\nend_header\n",
      format, mesh.vertices.size(), mesh.triangles.size());
  const bool ascii = std::string_view(format) == "ascii";
  const std::endian order =
      std::string_view(format) == "binary_big_endian" ? std::endian::big : std::endian::little;
  for (const Vector3& x : mesh.vertices) {
    if (ascii) {
      s += line_of(x) + " 0.5\n";
    } else {
      for (const double c : x) put(s, c, order);
      put(s, 0.5F, order);
    }
  }
  for (const Triangle& t : mesh.triangles) {
    if (ascii) {
      s += fmt::format("3 {} {} {} 7\n", t[0], t[1], t[2]);
    } else {
      put(s, std::uint8_t{3}, order);
      for (const Index v : t) put(s, v, order);
      put(s, std::uint8_t{7}, order);
    }
  }
  if (ascii) {
    s += "0\n";
  } else {
    put(s, std::int32_t{0}, order);
  }
  return s;
}

inline std::string stl(const TriangleMesh& mesh, bool binary) {
  std::string s = binary ? std::string("solid but binary all the same") : std::string("solid a thing\n");
  if (binary) {
    s.resize(80, ' ');
    put(s, static_cast<std::uint32_t>(mesh.triangles.size()), std::endian::little);
  }
  for (const Triangle& t : mesh.triangles) {
    if (binary) {
      for (int d = 0; d < 3; ++d) put(s, 0.0F, std::endian::little);
    } else {
      s += "  facet normal 0 0 0\n    outer loop\n";
    }
    for (const Index v : t) {
      const Vector3& x = mesh.vertices[v];
      if (binary) {
        for (const double c : x) put(s, static_cast<float>(c), std::endian::little);
      } else {
        s += "      vertex " + line_of(x) + "\n";
      }
    }
    if (binary) {
      put(s, std::uint16_t{0}, std::endian::little);
    } else {
      s += "    endloop\n  endfacet\n";
    }
  }
  return binary ? s : s + "endsolid a thing\n";
}

}  // namespace signorini::test
