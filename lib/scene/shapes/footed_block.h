#pragma once

#include "geometry/table.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct FootedBlock {
  static constexpr std::string_view kName = "footed_block";
  static constexpr std::string_view kSummary = "block on 1, 2 or 4 feet (Lazarevych et al. 2010, Incline)";
  struct Options {
    int feet = 4;
    double cell_m = 0.02;

    void visit(auto& v) {
      v("feet", feet, Range::positive, "1, 2 or 4");
      v("cell_m", cell_m, Range::positive, "edge of a cell; the body has 7 x 5 x 4");
    }
  };
  static TetMesh build(const Options& o) { return footed_block(o.feet, o.cell_m); }
};

}  // namespace signorini::shapes
