#pragma once

#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Chain {
  static constexpr std::string_view kName = "chain";
  static constexpr std::string_view kSummary = "point masses in a row with springs and hinges";
  struct Options {
    int nodes = 3;
    double length_m = 0.2;
    double bend_deg = 0.0;

    void visit(auto& v) {
      v("nodes", nodes, Between{2, kMaxCount}, "point masses in a row along x; at least 2");
      v("length_m", length_m, Range::positive, "of the springs between them");
      v("bend_deg", bend_deg, Range::any, "turn at every inner node, in the x-z plane");
    }
  };
  static constexpr std::string_view kCounts = "nodes";
  static double vertices(const Options& o) { return o.nodes; }
  /// Around the mean of the nodes.
  static SpringNetwork build(const Options& o, const ShapeContext& context);
};

}  // namespace signorini::shapes
