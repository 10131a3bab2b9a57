#include "scene/file_config.h"

#include "geometry/mesh_file.h"

namespace signorini {

namespace {

template <class Mesh>
Mesh scaled(Mesh mesh, double scale) {
  for (Vector3& x : mesh.vertices) x *= scale;
  return mesh;
}

}  // namespace

TriangleMesh FileConfig::read_surface(const std::filesystem::path& folder) const {
  return scaled(signorini::read_surface(folder / path), scale);
}

TetMesh FileConfig::read_tets(const std::filesystem::path& folder) const {
  return scaled(read_tet_mesh(folder / path), scale);
}

}  // namespace signorini
