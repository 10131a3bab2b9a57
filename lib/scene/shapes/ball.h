#pragma once

#include <cmath>

#include "geometry/ball.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Ball {
  static constexpr std::string_view kName = "ball";
  static constexpr std::string_view kSummary = "solid ball of nested icosphere shells";
  struct Options {
    int level = 1;
    double radius_m = 0.1;

    void visit(auto& v) {
      v("level", level, Between{0, kMaxBallLevel}, "subdivisions: 1 has 42 surface vertices, 2 has 162");
      v("radius_m", radius_m, Range::positive, "of the sphere through the surface vertices");
    }
  };
  static constexpr std::string_view kCounts = "level";
  static double vertices(const Options& o) { return 10.0 / 3.0 * (std::pow(4.0, o.level + 1) - 1.0); }
  static TetMesh build(const Options& o) { return tet_ball(o.level, o.radius_m); }
};

}  // namespace signorini::shapes
