#pragma once

#include "geometry/pyramid_object.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct PyramidObject {
  static constexpr std::string_view kName = "pyramid_object";
  static constexpr std::string_view kSummary = "plate with three windows (Verschoor and Jalba 2019, Pyramid)";
  struct Options {
    double width_m = 1.0;

    void visit(auto& v) { v("width_m", width_m, Range::positive, "along x"); }
  };
  static TetMesh build(const Options& o) { return pyramid_object(o.width_m); }
};

}  // namespace signorini::shapes
