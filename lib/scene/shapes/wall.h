#pragma once

#include "geometry/plate.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Wall {
  static constexpr std::string_view kName = "wall";
  static constexpr std::string_view kSummary = "upright rectangle that faces +x";
  struct Options {
    double width_m = 1.0, height_m = 0.5;

    void visit(auto& v) {
      v("width_m", width_m, Range::positive, "along y; the wall faces +x");
      v("height_m", height_m, Range::positive, "along z");
    }
  };
  static TriangleMesh build(const Options& o) {
    TriangleMesh mesh = plate(o.height_m, o.width_m);
    for (Vector3& x : mesh.vertices) x = Vector3(x[2], x[1], -x[0]);  // +z → +x
    return mesh;
  }
};

}  // namespace signorini::shapes
