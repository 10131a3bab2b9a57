#pragma once

#include "geometry/tetrahedralise.h"
#include "scene/file_config.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Surface {
  static constexpr std::string_view kName = "surface";
  static constexpr std::string_view kSummary = "surface of a file (.obj, .ply, .stl); rigid: closed";
  struct Options {
    FileConfig surface;

    void visit(auto& v) { surface.visit(v, "surface"); }
    void validate() const { surface.validate("surface"); }
  };
  static TriangleMesh build(const Options& o, const ShapeContext& context) {
    return o.surface.read_surface(context.folder);
  }
};

struct FilledSurface {
  static constexpr std::string_view kName = "surface";
  static constexpr std::string_view kSummary = "closed surface of a file, filled with tetrahedra by TetGen";
  struct Options {
    FileConfig surface;
    double largest_tet_m3 = 0.0;

    void visit(auto& v) {
      surface.visit(v, "surface");
      v("largest_tet_m3", largest_tet_m3, Range::non_negative,
        "bound of the volume of the tetrahedra that fill it; 0 = none");
    }
    void validate() const { surface.validate("surface"); }
  };
  static TetMesh build(const Options& o, const ShapeContext& context) {
    return tetrahedralise(o.surface.read_surface(context.folder), {.largest_volume = o.largest_tet_m3},
                          context.name);
  }
};

}  // namespace signorini::shapes
