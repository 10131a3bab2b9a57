#pragma once

#include "geometry/flared_tube.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Tube {
  static constexpr std::string_view kName = "tube";
  static constexpr std::string_view kSummary = "open tube that widens downwards: a layer of a dress";
  struct Options {
    int columns = 20, rows = 20;
    double top_radius_m = 0.15, bottom_radius_m = 0.4;
    double length_m = 0.2;
    double flare = 2.0;
    int folds = 0;
    double fold_depth_m = 0.0;

    void visit(auto& v) {
      v("columns", columns, Between{2, kMaxCount}, "vertices around; at least 3");
      v("rows", rows, Between{2, kMaxCount}, "vertices along z; at least 2");
      v("top_radius_m", top_radius_m, Range::positive, "at the top, where z = 0");
      v("bottom_radius_m", bottom_radius_m, Range::positive, "at the hem");
      v("length_m", length_m, Range::positive, "along z");
      v("flare", flare, Range::positive, "exponent of the widening along z: 1 is a cone, more a bell");
      v("folds", folds, Range::non_negative, "waves around the hem");
      v("fold_depth_m", fold_depth_m, Range::non_negative, "their amplitude");
    }
  };
  static constexpr std::string_view kCounts = "columns";
  static double vertices(const Options& o) { return 1.0 * o.columns * o.rows; }
  static TriangleMesh build(const Options& o) {
    return flared_tube(
        {o.top_radius_m, o.bottom_radius_m, o.length_m, o.columns, o.rows, o.flare, o.folds, o.fold_depth_m});
  }
};

}  // namespace signorini::shapes
