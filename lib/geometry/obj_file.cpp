#include <limits>

#include "geometry/mesh_scanner.h"

/// Wavefront OBJ: vertices `v x y z` and faces `f v/vt/vn …`, indices from 1 or, negative, from the end.
namespace signorini {

namespace {

/// The vertex of one corner of a face; texture and normal are passed over.
Index corner(MeshScanner& line, std::size_t vertices) {
  const std::string_view text = line.token("a corner of the face");
  MeshScanner number = line.sub_scanner(text.substr(0, text.find('/')));
  const auto n = static_cast<long long>(vertices);
  const long long i = number.integer("vertex of the face", -n, n);
  if (i == 0) line.fail("vertex 0 in a face: OBJ counts from 1");
  return static_cast<Index>(i > 0 ? i - 1 : n + i);
}

}  // namespace

RawTriangles parse_obj(MeshScanner& file) {
  RawTriangles mesh;
  Index faces = 0;
  std::vector<Index> polygon;
  while (file.skip_space()) {
    MeshScanner line = file.line_scanner();
    const std::string_view keyword = line.token("a keyword");
    if (keyword == "v") {
      mesh.vertices.push_back(line.point());
      line.check_size(mesh.vertices.size(), "vertices");
    } else if (keyword == "f") {
      polygon.clear();
      while (line.skip_space()) polygon.push_back(corner(line, mesh.vertices.size()));
      ++faces;
      add_polygon(line, polygon, faces, mesh);
    }
  }
  return mesh;
}

}  // namespace signorini
