#pragma once

#include "scene/material_config.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Sheet {
  static constexpr std::string_view kName = "sheet";
  static constexpr std::string_view kSummary = "rectangle of a grid";
  struct Options {
    int columns = 20, rows = 20;
    double width_m = 1.0, depth_m = 1.0;

    void visit(auto& v) {
      v("columns", columns, Between{2, kMaxCount}, "vertices along x; at least 2");
      v("rows", rows, Between{2, kMaxCount}, "vertices along y; at least 2");
      v("width_m", width_m, Range::positive, "along x");
      v("depth_m", depth_m, Range::positive, "along y");
    }
  };
  static constexpr std::string_view kCounts = "columns";
  static double vertices(const Options& o) { return 1.0 * o.columns * o.rows; }
  static SpringNetwork build(const Options& o, const ShapeContext& context) {
    return grid_cloth(o.columns, o.rows, o.width_m, o.depth_m, context.material->cloth());
  }
};

}  // namespace signorini::shapes
