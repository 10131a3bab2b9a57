#pragma once

#include "geometry/armadillo.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Armadillo {
  static constexpr std::string_view kName = "armadillo";
  static constexpr std::string_view kSummary = "stand-in for the Armadillo of Verschoor and Jalba 2019";
  struct Options {
    double length_m = 0.2;
    double coarseness = 1.0;

    void visit(auto& v) {
      v("length_m", length_m, Range::positive, "along z");
      v("coarseness", coarseness, Range::positive,
        "1 = 28 x 31 x 74 cells and the paper's counts; else so many times fewer along each axis");
    }
  };
  static TetMesh build(const Options& o) { return armadillo(o.length_m, 1.0 / o.coarseness); }
};

}  // namespace signorini::shapes
