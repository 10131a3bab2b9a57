#pragma once

#include "geometry/table.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Table {
  static constexpr std::string_view kName = "table";
  static constexpr std::string_view kSummary = "top on four legs (Lazarevych et al. 2010, Table)";
  struct Options {
    double cell_m = 0.02;

    void visit(auto& v) { v("cell_m", cell_m, Range::positive, "edge of a cell; the body has 10 x 6 x 7"); }
  };
  static TetMesh build(const Options& o) { return table(o.cell_m); }
};

}  // namespace signorini::shapes
