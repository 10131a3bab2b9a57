#pragma once

#include "geometry/bunny.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Bunny {
  static constexpr std::string_view kName = "bunny";
  static constexpr std::string_view kSummary = "stand-in for the bunnies of Verschoor and Jalba 2019";
  struct Options {
    double length_m = 0.2;

    void visit(auto& v) { v("length_m", length_m, Range::positive, "largest extent"); }
  };
  static TetMesh build(const Options& o) { return bunny(o.length_m); }
};

}  // namespace signorini::shapes
