#pragma once

#include "geometry/block.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Block {
  static constexpr std::string_view kName = "block";
  static constexpr std::string_view kSummary = "box of cells, each cut into Kuhn tetrahedra";
  struct Options {
    std::array<int, 3> cells{2, 2, 2};
    Vector3 size_m{0.2, 0.2, 0.2};

    void visit(auto& v) {
      v("cells", cells, Range::positive, "cells along x, y, z; 6 tetrahedra each");
      v("size_m", size_m, Range::positive, "edges along x, y, z");
    }
  };
  static constexpr std::string_view kCounts = "cells";
  static double vertices(const Options& o) {
    return (o.cells[0] + 1.0) * (o.cells[1] + 1.0) * (o.cells[2] + 1.0);
  }
  static TetMesh build(const Options& o) {
    TetMesh mesh = kuhn_block({o.cells[0], o.cells[1], o.cells[2]}, o.size_m);
    for (Vector3& x : mesh.vertices) x -= 0.5 * o.size_m;
    return mesh;
  }
};

}  // namespace signorini::shapes
