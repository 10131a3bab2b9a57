#pragma once

#include "geometry/bucket.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Ground {
  static constexpr std::string_view kName = "ground";
  static constexpr std::string_view kSummary = "square that faces +z";
  struct Options {
    double extent_m = 1.0;

    void visit(auto& v) { v("extent_m", extent_m, Range::positive, "half the edge of the square"); }
  };
  static TriangleMesh build(const Options& o) { return ground(o.extent_m); }
};

}  // namespace signorini::shapes
