#pragma once

#include "geometry/bucket.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Bucket {
  static constexpr std::string_view kName = "bucket";
  static constexpr std::string_view kSummary = "open frustum with a floor";
  struct Options {
    double floor_radius_m = 0.3, rim_radius_m = 0.4;
    double height_m = 0.5;
    int segments = 24;

    void visit(auto& v) {
      v("floor_radius_m", floor_radius_m, Range::positive, "of the floor's corners");
      v("rim_radius_m", rim_radius_m, Range::positive, "of the rim's corners");
      v("height_m", height_m, Range::positive, "of the rim above the floor");
      v("segments", segments, Between{3, kMaxCount}, "flat panels around the axis; at least 3");
    }
  };
  static TriangleMesh build(const Options& o) {
    return bucket({o.floor_radius_m, o.rim_radius_m, o.height_m, o.segments});
  }
};

}  // namespace signorini::shapes
