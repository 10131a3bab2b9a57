#include "geometry/lathe.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace signorini {

namespace {

void check_size(const char* what, const char* name, double value) {
  if (!(value > 0.0) || !std::isfinite(value)) throw_usage("{}: {} {} m is not positive", what, name, value);
}

void check_count(const char* what, const char* name, Index value, Index least) {
  constexpr Index kMost = 10000;
  if (value < least || value > kMost) {
    throw_usage("{}: {} {}, [{}, {}] are possible", what, value, name, least, kMost);
  }
}

}  // namespace

TriangleMesh lathe_surface(const std::vector<std::pair<double, double>>& profile, double bottom, double top,
                           Index segments, const char* what) {
  check_count(what, "segments", segments, 3);
  TriangleMesh mesh;
  for (const auto& [radius, z] : profile) {
    check_size(what, "radius", radius);
    if (!std::isfinite(z)) throw_usage("{}: height {} m is not finite", what, z);
    for (Index s = 0; s < segments; ++s) {
      const double angle = 2.0 * std::numbers::pi * s / segments;
      mesh.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
  }
  const Index points = count(profile);
  const auto number = [segments](Index point, Index s) { return segments * point + s % segments; };
  for (Index p = 0; p + 1 < points; ++p) {
    for (Index s = 0; s < segments; ++s) {
      const Index low = number(p, s), low_next = number(p, s + 1);
      const Index high = number(p + 1, s), high_next = number(p + 1, s + 1);
      mesh.triangles.push_back({low, low_next, high_next});
      mesh.triangles.push_back({low, high_next, high});
    }
  }
  const Index below = count(mesh.vertices);
  mesh.vertices.emplace_back(0.0, 0.0, bottom);
  mesh.vertices.emplace_back(0.0, 0.0, top);
  for (Index s = 0; s < segments; ++s) {
    mesh.triangles.push_back({below, number(0, s + 1), number(0, s)});
    mesh.triangles.push_back({below + 1, number(points - 1, s), number(points - 1, s + 1)});
  }
  return mesh;
}

TriangleMesh cylinder_surface(double radius, double height, Index segments, Index rings) {
  check_size("cylinder", "radius", radius);
  check_size("cylinder", "height", height);
  check_count("cylinder", "rings", rings, 1);
  std::vector<std::pair<double, double>> profile;
  for (Index r = 0; r <= rings; ++r) {
    profile.emplace_back(radius, height * (static_cast<double>(r) / rings - 0.5));
  }
  return lathe_surface(profile, -0.5 * height, 0.5 * height, segments, "cylinder");
}

TriangleMesh capsule_surface(double radius, double length, Index segments, Index rings) {
  check_size("capsule", "radius", radius);
  check_size("capsule", "length", length);
  check_count("capsule", "rings", rings, 1);
  std::vector<std::pair<double, double>> profile;
  const auto latitude = [rings](Index r) { return 0.5 * std::numbers::pi * r / rings; };
  for (Index r = rings - 1; r >= 0; --r) {
    profile.emplace_back(radius * std::cos(latitude(r)), -0.5 * length - radius * std::sin(latitude(r)));
  }
  for (Index r = 0; r < rings; ++r) {
    profile.emplace_back(radius * std::cos(latitude(r)), 0.5 * length + radius * std::sin(latitude(r)));
  }
  const double pole = 0.5 * length + radius;
  return lathe_surface(profile, -pole, pole, segments, "capsule");
}

}  // namespace signorini
