#pragma once

#include "geometry/lathe.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Cylinder {
  static constexpr std::string_view kName = "cylinder";
  static constexpr std::string_view kSummary = "cylinder with flat ends";
  struct Options {
    double radius_m = 0.1;
    double length_m = 0.2;
    int segments = 18;

    void visit(auto& v) {
      v("radius_m", radius_m, Range::positive, "of the circle through the vertices");
      v("length_m", length_m, Range::positive, "along z");
      v("segments", segments, Between{3, kMaxCount}, "around the axis; at least 3");
    }
  };
  static constexpr std::string_view kCounts = "segments";
  static double vertices(const Options& o) { return 2.0 * o.segments; }
  static TriangleMesh build(const Options& o) { return cylinder_surface(o.radius_m, o.length_m, o.segments); }
};

struct CylinderObstacle {
  static constexpr std::string_view kName = "cylinder";
  static constexpr std::string_view kSummary = "cylinder with flat ends";
  struct Options {
    double radius_m = 0.1;
    double length_m = 0.5;
    int segments = 24;

    void visit(auto& v) {
      v("radius_m", radius_m, Range::positive, "of the circle through the vertices");
      v("length_m", length_m, Range::positive, "along z, without the caps of a capsule");
      v("segments", segments, Between{3, kMaxCount}, "around the axis; at least 3");
    }
  };
  static TriangleMesh build(const Options& o) { return cylinder_surface(o.radius_m, o.length_m, o.segments); }
};

}  // namespace signorini::shapes
