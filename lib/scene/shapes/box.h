#pragma once

#include "geometry/box_surface.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Box {
  static constexpr std::string_view kName = "box";
  static constexpr std::string_view kSummary = "box of two triangles per face";
  struct Options {
    Vector3 size_m{0.2, 0.2, 0.2};

    void visit(auto& v) { v("size_m", size_m, Range::positive, "edges along x, y, z"); }
  };
  static double vertices(const Options&) { return 8.0; }
  static TriangleMesh build(const Options& o) { return box_surface(o.size_m); }
};

struct BoxObstacle {
  static constexpr std::string_view kName = "box";
  static constexpr std::string_view kSummary = "box of two triangles per face";
  struct Options {
    Vector3 size_m{1.0, 1.0, 0.5};

    void visit(auto& v) { v("size_m", size_m, Range::positive, "edges along x, y, z around the origin"); }
  };
  static TriangleMesh build(const Options& o) { return box_surface(o.size_m); }
};

}  // namespace signorini::shapes
