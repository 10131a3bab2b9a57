#pragma once

#include "scene/file_config.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Mesh {
  static constexpr std::string_view kName = "mesh";
  static constexpr std::string_view kSummary = "tetrahedra of a file (.msh, .vtk)";
  struct Options {
    FileConfig mesh;

    void visit(auto& v) { mesh.visit(v, "mesh"); }
    void validate() const { mesh.validate("mesh"); }
  };
  static TetMesh build(const Options& o, const ShapeContext& context) {
    return o.mesh.read_tets(context.folder);
  }
};

}  // namespace signorini::shapes
