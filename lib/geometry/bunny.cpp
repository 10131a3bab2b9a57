#include "geometry/bunny.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "geometry/delaunay.h"
#include "geometry/smooth.h"
#include "geometry/tet_flips.h"

namespace signorini {

namespace {

constexpr Index kSurface = 371;
constexpr Index kTets = 1270;

/// Points of equal spacing along a spiral on a sphere.
void add_fibonacci(std::vector<Vector3>& points, Index count, double radius, double phase) {
  const double golden = std::numbers::pi * (3.0 - std::sqrt(5.0));
  for (Index i = 0; i < count; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / count;
    const double r = std::sqrt(1.0 - z * z);
    const double angle = golden * i + phase;
    points.emplace_back(radius * r * std::cos(angle), radius * r * std::sin(angle), radius * z);
  }
}

struct Bump {
  Vector3 direction;
  double height, width;
};

const std::array<Bump, 5>& bumps() {
  static const std::array<Bump, 5> kBumps{{{Vector3(0.80, 0.0, 0.45).normalized(), 0.45, 0.50},
                                           {Vector3(0.35, 0.38, 0.855).normalized(), 0.95, 0.30},
                                           {Vector3(0.35, -0.38, 0.855).normalized(), 0.95, 0.30},
                                           {Vector3(-0.95, 0.0, -0.30).normalized(), 0.25, 0.30},
                                           {Vector3(0.75, 0.0, -0.66).normalized(), 0.20, 0.40}}};
  return kBumps;
}

/// Draws points of the sphere towards the ears, whose triangles the warp stretches most.
Vector3 gathered(const Vector3& u) {
  Vector3 sum = u;
  for (const Bump& bump : {bumps()[1], bumps()[2]}) {
    const Vector3 away = u - bump.direction;
    sum -= 0.55 * std::exp(-away.squaredNorm() / (0.55 * 0.55)) * away;
  }
  return sum.normalized();
}

/// Ball → bunny: moves every point along its radius, the more the farther out.
Vector3 warped(const Vector3& u) {
  const double radius = u.norm();
  if (radius == 0.0) return u;
  double growth = 0.0;
  for (const Bump& bump : bumps()) {
    const double distance = (u / radius - bump.direction).norm() / bump.width;
    growth += bump.height * std::exp(-distance * distance);
  }
  return (1.0 + radius * radius * growth) * u;
}

}  // namespace

TetMesh bunny(double length) {
  if (!(length > 0.0) || !std::isfinite(length)) throw_usage("bunny: length {} m is not positive", length);
  std::vector<Vector3> points;
  add_fibonacci(points, kSurface, 1.0, 0.0);
  for (Vector3& x : points) x = gathered(x);
  add_fibonacci(points, 34, 0.65, 0.3);
  add_fibonacci(points, 4, 0.35, 0.7);
  points.emplace_back(0.003, 0.003, 0.003);
  TetMesh mesh = delaunay(points);

  const auto place = [](Index vertex, Vector3& u) {
    if (vertex < kSurface) u.normalize();
    return warped(u);
  };
  std::vector<Vector3> parameters = mesh.vertices;
  for (Index i = 0; i < count(parameters); ++i) mesh.vertices[i] = place(i, parameters[i]);
  Rng rng(20191);
  while (count(mesh.tets) < kTets) {
    smooth(mesh, parameters, place, {.sweeps = 1}, rng);
    constexpr Index kAtOnce = 8;
    flip_faces(mesh, std::min(kAtOnce, kTets - count(mesh.tets)));
  }
  for (double step = 0.03; step > 0.003; step *= 0.8)
    smooth(mesh, parameters, place, {.step = step, .sweeps = 4}, rng);

  Vector3 low = mesh.vertices[0], high = low;
  for (const Vector3& x : mesh.vertices) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  const double scale = length / (high - low).maxCoeff();
  for (Vector3& x : mesh.vertices) x *= scale;
  return mesh;
}

}  // namespace signorini
