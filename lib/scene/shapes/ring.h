#pragma once

#include "geometry/ring.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Ring {
  static constexpr std::string_view kName = "ring";
  static constexpr std::string_view kSummary = "torus of straight segments with square section";
  struct Options {
    int segments = 18;
    double radius_m = 0.1;
    double thickness_m = 0.02;

    void visit(auto& v) {
      v("segments", segments, Between{3, kMaxCount}, "around the axis, 6 tetrahedra each; at least 3");
      v("radius_m", radius_m, Range::positive, "of the circle through the middle of the section");
      v("thickness_m", thickness_m, Range::positive, "edge of the square section");
    }
  };
  static constexpr std::string_view kCounts = "segments";
  static double vertices(const Options& o) { return 4.0 * o.segments; }
  static TetMesh build(const Options& o) { return ring({o.radius_m, o.thickness_m, o.segments}); }
};

}  // namespace signorini::shapes
