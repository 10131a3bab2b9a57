#pragma once

#include "geometry/pyramid_object.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct PyramidObject {
  static constexpr std::string_view kName = "pyramid_object";
  static constexpr std::string_view kSummary =
      "frame with three windows on four feet (Verschoor and Jalba 2019, Pyramid)";
  struct Options {
    double width_m = 1.0;
    double height_m = 0.6;

    void visit(auto& v) {
      v("width_m", width_m, Range::positive, "along x and y");
      v("height_m", height_m, Range::positive, "along z; the frame has a third of it, the feet the rest");
    }
  };
  static TetMesh build(const Options& o) { return pyramid_object(o.width_m, o.height_m); }
};

}  // namespace signorini::shapes
