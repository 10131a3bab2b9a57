#pragma once

#include "geometry/bin.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Bin {
  static constexpr std::string_view kName = "bin";
  static constexpr std::string_view kSummary = "box without a lid, faces inside";
  struct Options {
    Vector3 size_m{1.0, 1.0, 0.5};

    void visit(auto& v) {
      v("size_m", size_m, Range::positive,
        "inside, along x, y, z; open at the top, origin in the floor's middle");
    }
  };
  static TriangleMesh build(const Options& o) { return bin(o.size_m); }
};

}  // namespace signorini::shapes
