#pragma once

#include "geometry/lathe.h"
#include "scene/shapes/cylinder.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Capsule {
  static constexpr std::string_view kName = "capsule";
  static constexpr std::string_view kSummary = "cylinder with half spheres at both ends";
  using Options = CylinderObstacle::Options;
  static TriangleMesh build(const Options& o) { return capsule_surface(o.radius_m, o.length_m, o.segments); }
};

}  // namespace signorini::shapes
