#pragma once

#include "geometry/mannequin.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Mannequin {
  static constexpr std::string_view kName = "mannequin";
  static constexpr std::string_view kSummary = "standing figure of revolution, without arms, for clothes";
  struct Options {
    double height_m = 1.7;
    int segments = 24;

    void visit(auto& v) {
      v("height_m", height_m, Range::positive, "from the floor to the top of the head");
      v("segments", segments, Between{3, kMaxCount}, "around the axis; at least 3");
    }
  };
  static TriangleMesh build(const Options& o) { return mannequin_surface(o.height_m, o.segments); }
};

}  // namespace signorini::shapes
