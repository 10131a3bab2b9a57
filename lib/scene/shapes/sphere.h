#pragma once

#include "geometry/ball.h"
#include "scene/shapes/ball.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Sphere {
  static constexpr std::string_view kName = "sphere";
  static constexpr std::string_view kSummary = "surface of a ball";
  using Options = Ball::Options;
  static constexpr std::string_view kCounts = "level";
  static double vertices(const Options& o) { return 10.0 * std::pow(4.0, o.level); }
  static TriangleMesh build(const Options& o) { return icosphere(o.level, o.radius_m); }
};

struct SphereObstacle {
  static constexpr std::string_view kName = "sphere";
  static constexpr std::string_view kSummary = "surface of a ball";
  struct Options {
    int level = 3;
    double radius_m = 0.1;

    void visit(auto& v) {
      v("level", level, Between{0, kMaxBallLevel}, "subdivisions of the icosahedron");
      v("radius_m", radius_m, Range::positive, "of the sphere through the vertices");
    }
  };
  static TriangleMesh build(const Options& o) { return icosphere(o.level, o.radius_m); }
};

}  // namespace signorini::shapes
