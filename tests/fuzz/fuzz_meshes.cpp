// libFuzzer target of the readers of meshes. The first byte chooses the format, the rest is the file: refused with one line, or
// a mesh whose elements are what geometry/mesh_file.h promises.
#include <string_view>

#include "fuzz_check.h"
#include "geometry/mesh_file.h"

namespace {

using namespace signorini;

void check_tets(std::string_view bytes, TetFormat format) {
  const TetMesh mesh = parse_tet_mesh(bytes, format, "FILE");
  require(!mesh.tets.empty(), "a mesh has tetrahedra");
  for (const Tetrahedron& tet : mesh.tets) {
    for (const Index v : tet)
      require(v >= 0 && std::cmp_less(v, mesh.vertices.size()), "a corner is a vertex");
    require(tet_volume(mesh, tet) > 0.0, "a tetrahedron has a volume");
  }
}

void check_surface(std::string_view bytes, SurfaceFormat format) {
  const TriangleMesh mesh = parse_surface(bytes, format, "FILE");
  require(!mesh.triangles.empty(), "a surface has triangles");
  for (const Triangle& triangle : mesh.triangles) {
    for (const Index v : triangle)
      require(v >= 0 && std::cmp_less(v, mesh.vertices.size()), "a corner is a vertex");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  decode_or_refuse([&] {
    switch (data[0] % 5) {
      case 0:
        return check_tets(bytes, TetFormat::msh);
      case 1:
        return check_tets(bytes, TetFormat::vtk);
      case 2:
        return check_surface(bytes, SurfaceFormat::obj);
      case 3:
        return check_surface(bytes, SurfaceFormat::ply);
      default:
        return check_surface(bytes, SurfaceFormat::stl);
    }
  });
  return 0;
}
