#pragma once

#include "geometry/groove.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Groove {
  static constexpr std::string_view kName = "groove";
  static constexpr std::string_view kSummary = "track of a ball bearing, faces the inside of its tube";
  struct Options {
    double track_radius_m = 0.2, radius_m = 0.1;
    double from_deg = -60.0, to_deg = 60.0;
    int segments = 24;
    int bands = 12;

    void visit(auto& v) {
      v("track_radius_m", track_radius_m, Range::positive, "of the circle along the middle of the section");
      v("radius_m", radius_m, Range::positive, "of the section");
      v("from_deg", from_deg, Range::any, "arc of the section: 0 is outward, 90 up …");
      v("to_deg", to_deg, Range::any, "… up to here");
      v("segments", segments, Between{3, kMaxCount}, "around the axis; at least 3");
      v("bands", bands, Between{1, 10000}, "across the arc");
    }
  };
  static TriangleMesh build(const Options& o) {
    return groove({o.track_radius_m, o.radius_m, o.from_deg, o.to_deg, o.segments, o.bands});
  }
};

}  // namespace signorini::shapes
