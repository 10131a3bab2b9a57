#pragma once

#include "geometry/skittle.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Skittle {
  static constexpr std::string_view kName = "skittle";
  static constexpr std::string_view kSummary = "turned body with neck and head (Lazarevych et al. 2010)";
  struct Options {
    double length_m = 0.2;
    double radius_m = 0.1;
    int segments = 18;
    int rings = 10;

    void visit(auto& v) {
      v("length_m", length_m, Range::positive, "along z");
      v("radius_m", radius_m, Range::positive, "of the belly");
      v("segments", segments, Between{3, kMaxCount}, "around the axis; at least 3");
      v("rings", rings, Range::positive, "of vertices from foot to head; at least 4");
    }
  };
  static constexpr std::string_view kCounts = "segments";
  static double vertices(const Options& o) { return 1.0 * o.segments * o.rings; }
  static TetMesh build(const Options& o) { return skittle({o.length_m, o.radius_m, o.segments, o.rings}); }
};

}  // namespace signorini::shapes
