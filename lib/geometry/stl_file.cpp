#include <unordered_map>

#include "geometry/mesh_scanner.h"

/// STL, ASCII and binary (little endian). Vertices with equal coordinates become one.
namespace signorini {

namespace {

struct PointHash {
  std::size_t operator()(const std::array<std::uint64_t, 3>& bits) const {
    std::uint64_t h = 0;
    for (const std::uint64_t b : bits) h = (h ^ b) * 0x9e3779b97f4a7c15ULL ^ (h >> 29U);
    return h ^ (h >> 32U);
  }
};

/// Numbers points in the order in which they first occur.
class PointMerger {
 public:
  explicit PointMerger(std::vector<Vector3>& vertices) : vertices_(vertices) {}

  Index vertex(const Vector3& x) {
    std::array<std::uint64_t, 3> bits;
    for (std::size_t d = 0; d < 3; ++d) {
      bits[d] = std::bit_cast<std::uint64_t>(x[d] + 0.0);  // −0 becomes +0
    }
    const auto [entry, added] = number_.try_emplace(bits, count(vertices_));
    if (added) vertices_.push_back(x);
    return entry->second;
  }

 private:
  std::vector<Vector3>& vertices_;
  std::unordered_map<std::array<std::uint64_t, 3>, Index, PointHash> number_;
};

void add(RawTriangles& mesh, const std::array<Index, 3>& triangle) {
  mesh.elements.push_back(triangle);
  mesh.number.push_back(count(mesh.elements));
}

constexpr std::size_t kHeader = 80, kFacet = 50;

RawTriangles parse_binary(MeshScanner& file) {
  file.begin_binary();
  file.skip(kHeader, "the header");
  const auto n = file.binary<std::uint32_t>("the number of triangles", std::endian::little);
  file.check_size(n, "triangles");
  RawTriangles mesh;
  PointMerger merger(mesh.vertices);
  for (std::uint32_t t = 0; t < n; ++t) {
    file.skip(12, "a normal");
    std::array<Index, 3> triangle;
    for (Index& corner : triangle) {
      Vector3 x;
      for (Index d = 0; d < 3; ++d) {
        x[d] = file.checked(static_cast<double>(file.binary<float>("a coordinate", std::endian::little)),
                            "coordinate");
      }
      corner = merger.vertex(x);
    }
    file.skip(2, "an attribute");
    add(mesh, triangle);
  }
  return mesh;
}

RawTriangles parse_ascii(MeshScanner& file) {
  RawTriangles mesh;
  PointMerger merger(mesh.vertices);
  while (file.skip_space()) {
    file.expect("solid", "an STL file");
    file.rest_of_line();  // its name
    while (equal_words(file.peek(), "facet")) {
      file.expect("facet", "a facet");
      file.expect("normal", "a facet");
      for (int d = 0; d < 3; ++d) file.token("a normal");
      file.expect("outer", "a facet");
      file.expect("loop", "a facet");
      std::array<Index, 3> triangle;
      for (Index& corner : triangle) {
        file.expect("vertex", "a facet");
        corner = merger.vertex(file.point());
      }
      file.expect("endloop", "a facet");
      file.expect("endfacet", "a facet");
      add(mesh, triangle);
      file.check_size(mesh.elements.size(), "triangles");
    }
    file.expect("endsolid", "a solid");
    file.rest_of_line();
  }
  return mesh;
}

}  // namespace

RawTriangles parse_stl(MeshScanner& file) {
  // A binary file may begin with "solid" too; its size gives it away.
  if (file.remaining() >= kHeader + 4) {
    MeshScanner probe(file);
    probe.skip(kHeader, "the header");
    const auto n = probe.binary<std::uint32_t>("the number of triangles", std::endian::little);
    if (probe.remaining() == kFacet * n) return parse_binary(file);
    if (!equal_words(file.peek(), "solid")) {
      file.fail(
          "neither an ASCII STL file ('solid' …) nor a binary one: {} triangles need {} bytes, there are {}",
          n, kHeader + 4 + kFacet * n, file.remaining());
    }
  }
  return parse_ascii(file);
}

}  // namespace signorini
