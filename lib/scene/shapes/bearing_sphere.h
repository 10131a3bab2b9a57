#pragma once

#include "geometry/bearing_sphere.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct BearingSphere {
  static constexpr std::string_view kName = "bearing_sphere";
  static constexpr std::string_view kSummary = "ball of the bearing of Verschoor and Jalba 2019";
  struct Options {
    double radius_m = 0.1;

    void visit(auto& v) {
      v("radius_m", radius_m, Range::positive, "of the sphere through the surface vertices");
    }
  };
  static TetMesh build(const Options& o) { return bearing_sphere(o.radius_m); }
};

}  // namespace signorini::shapes
