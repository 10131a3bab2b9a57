#pragma once

#include "geometry/small_cube.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct SmallCube {
  static constexpr std::string_view kName = "small_cube";
  static constexpr std::string_view kSummary = "cube of 44 tetrahedra (Verschoor and Jalba 2019)";
  struct Options {
    double width_m = 1.0;

    void visit(auto& v) { v("width_m", width_m, Range::positive, "along x"); }
  };
  static TetMesh build(const Options& o) { return small_cube(o.width_m); }
};

}  // namespace signorini::shapes
